import DatalessCore
import Glibc

/// The file a process executes: the path of the name that it has or had, or why there is none.
enum ProcessExecutable: Sendable, Equatable {
  case path([UInt8])
  case unavailable(Unavailability)

  var bytes: [UInt8]? {
    if case .path(let bytes) = self { return bytes }
    return nil
  }

  var unavailability: Unavailability? {
    if case .unavailable(let reason) = self { return reason }
    return nil
  }

  var isKernelThread: Bool { self == .unavailable(.kernelThread) }

  /// Interprets what `ProcReader.readExecutable` returned.
  init(count: Int, buffer: UnsafeMutableBufferPointer<UInt8>, isKernelThread: Bool) {
    if count >= 0 {
      self = .path(Array(buffer[..<count]))
    } else if isKernelThread {
      self = .unavailable(.kernelThread)
    } else {
      self = .unavailable(count == -Int(EACCES) || count == -Int(EPERM) ? .permission : .exited)
    }
  }

  /// Whether a process that had this executable and has now the other one need not have called exec in between.
  func isContinued(by other: ProcessExecutable) -> Bool {
    switch (self, other) {
    case (.path(let path), .path(let otherPath)):
      path.withUnsafeBufferPointer { path in otherPath.withUnsafeBufferPointer { Self.isContinued(path, by: $0) } }
    // A process that is ending has let go of its image, but has not become another one.
    case (_, .unavailable(.exited)): true
    case (.unavailable(let reason), .unavailable(let other)): reason == other
    default: false
    }
  }

  /// As `isContinued(by:)`, for what `ProcReader.readExecutable` returned; allocates nothing.
  func isContinued(count: Int, buffer: UnsafeMutableBufferPointer<UInt8>) -> Bool {
    switch self {
    case .path(let path):
      if count < 0 { return count == -Int(ENOENT) || count == -Int(ESRCH) }
      return path.withUnsafeBufferPointer { Self.isContinued($0, by: UnsafeBufferPointer(rebasing: buffer[..<count])) }
    case .unavailable(.permission): return count == -Int(EACCES) || count == -Int(EPERM)
    case .unavailable: return count == -Int(ENOENT)
    }
  }

  /// A file that is removed, or replaced by an upgrade, gets `DeletedMark` behind the path in its link; the process
  /// goes on as it was.
  private static func isContinued(_ path: UnsafeBufferPointer<UInt8>, by other: UnsafeBufferPointer<UInt8>) -> Bool {
    guard other.count == path.count || other.count == path.count + DeletedMark.bytes.count else { return false }
    if path.count > 0, memcmp(path.baseAddress!, other.baseAddress!, path.count) != 0 { return false }
    return other.count == path.count || other[path.count...].elementsEqual(DeletedMark.bytes)
  }
}
