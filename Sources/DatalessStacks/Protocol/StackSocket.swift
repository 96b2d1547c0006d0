internal import CDatalessLinux
internal import Glibc

/// One end of the stream between two of the processes. One thread sends, and one receives.
///
/// Whoever sends something that is no message has gone wrong, and counts as gone.
public final class StackSocket: Sendable {
  public struct Gone: Error {}

  public let descriptor: Int32

  /// - Parameter descriptor: Of a connected stream socket; it is closed with this.
  public init(descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  /// Both ends, close-on-exec; nil when there are no descriptors left.
  public static func pair() -> (StackSocket, StackSocket)? {
    var ends: [Int32] = [0, 0]
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { return nil }
    return (StackSocket(descriptor: ends[0]), StackSocket(descriptor: ends[1]))
  }

  /// Waits until all of it is taken.
  ///
  /// - Parameter descriptors: At most 128; they stay the caller's.
  public func send(_ message: StackMessage, descriptors: [Int32] = []) throws(Gone) {
    guard message.content.count <= StackMessage.contentMax else { throw Gone() }
    var list = clinux_descriptor_list()
    list.count = UInt32(min(descriptors.count, Int(CLINUX_DESCRIPTORS_MAX)))
    withUnsafeMutableBytes(of: &list.numbers) { numbers in
      for index in 0..<Int(list.count) {
        numbers.storeBytes(of: descriptors[index], toByteOffset: index * 4, as: Int32.self)
      }
    }
    let bytes = message.head + message.content
    var done = 0
    while done < bytes.count {
      let count = bytes[done...].withUnsafeBytes {
        clinux_send_descriptors(descriptor, $0.baseAddress, $0.count, &list)
      }
      if count == -Int(EINTR) { continue }
      guard count > 0 else { throw Gone() }
      done += Int(count)
      list.count = 0
    }
  }

  /// Waits for a message.
  ///
  /// - Returns: It, and the descriptors that came with it, which are the caller's to close.
  public func receive() throws(Gone) -> (message: StackMessage, descriptors: [Int32]) {
    var descriptors: [Int32] = []
    do throws(Gone) {
      let head = try bytes(StackMessage.headBytes, &descriptors)
      guard let parsed = StackMessage.parse(head: head) else { throw Gone() }
      let content = try bytes(parsed.length, &descriptors)
      return (StackMessage(parsed.kind, number: parsed.number, content: content), descriptors)
    } catch {
      for descriptor in descriptors { close(descriptor) }
      throw error
    }
  }

  private func bytes(_ wanted: Int, _ descriptors: inout [Int32]) throws(Gone) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: wanted)
    var done = 0
    while done < wanted {
      var list = clinux_descriptor_list()
      let count = bytes[done...].withUnsafeMutableBytes {
        clinux_receive_descriptors(descriptor, $0.baseAddress, $0.count, &list)
      }
      if count == -Int(EINTR) { continue }
      guard count > 0 else { throw Gone() }
      withUnsafeBytes(of: list.numbers) { numbers in
        for index in 0..<Int(list.count) {
          descriptors.append(numbers.load(fromByteOffset: index * 4, as: Int32.self))
        }
      }
      guard descriptors.count <= Int(CLINUX_DESCRIPTORS_MAX) else { throw Gone() }
      done += Int(count)
    }
    return bytes
  }

  /// Whether something can be received from one of them, or has gone; waits at most so long.
  ///
  /// - Parameter milliseconds: nil: without end.
  /// - Returns: For each descriptor whether it is ready.
  public static func wait(_ descriptors: [Int32], milliseconds: Int32?) -> [Bool] {
    var entries = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    let count = poll(&entries, UInt(entries.count), milliseconds ?? -1)
    return entries.map { count > 0 && $0.revents != 0 }
  }
}
