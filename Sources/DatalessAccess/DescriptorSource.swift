internal import Dispatch
internal import Glibc

/// Looks at a descriptor without a thread, for a stream.
///
/// `@unchecked Sendable`: libdispatch's objects may be used on any thread, and this one is only cancelled.
final class DescriptorSource: @unchecked Sendable {
  private let source: any DispatchSourceRead

  private init(_ source: any DispatchSourceRead) { self.source = source }

  /// - Parameter look: Called whenever the descriptor is readable. False, or an error, ends the stream.
  static func watch<Element: Sendable>(
    _ descriptor: Int32, _ continuation: AsyncStream<Element>.Continuation,
    _ look: @escaping @Sendable () throws -> Bool
  ) {
    // A copy, which the source alone closes: what it looks at must not become something else under it.
    let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    guard copy >= 0 else { return continuation.finish() }
    let source = DispatchSource.makeReadSource(fileDescriptor: copy, queue: .global())
    source.setEventHandler { if (try? look()) != true { continuation.finish() } }
    source.setCancelHandler { close(copy) }
    let own = DescriptorSource(source)
    continuation.onTermination = { _ in own.source.cancel() }
    source.activate()
  }
}
