import Glibc
import SystemPackage

/// A file without a name, which goes with its last owner, however the process ends.
///
/// It is read and written by calls, and not mapped: a full disk is an errno then, and no SIGBUS.
final class SpillFile: Sendable {
  private let descriptor: CInt
  private let bytesMax: Int
  private let fail: @Sendable (Errno) -> Void

  /// - Parameters:
  ///   - descriptor: Open for reading and writing; closed with this.
  ///   - fail: Called with the errno of each read that has failed; EIO for one that found less than was asked for.
  init(descriptor: CInt, bytesMax: Int, fail: @escaping @Sendable (Errno) -> Void) {
    (self.descriptor, self.bytesMax, self.fail) = (descriptor, bytesMax, fail)
  }

  deinit { close(descriptor) }

  /// - Returns: Whether all of it is written; if not, some of it may be.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Bool {
    let (end, overflow) = offset.addingReportingOverflow(bytes.count)
    guard !overflow, end <= bytesMax else { return false }
    var done = 0
    while done < bytes.count {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
      let count = pwrite(descriptor, rest.baseAddress, rest.count, offset + done)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      done += count
    }
    return true
  }

  /// - Returns: Whether all of it is read; if not, the place that the file belongs to has a failure.
  func read(_ bytes: UnsafeMutableRawBufferPointer, at offset: Int) -> Bool {
    var done = 0
    while done < bytes.count {
      let rest = UnsafeMutableRawBufferPointer(rebasing: bytes[done...])
      let count = pread(descriptor, rest.baseAddress, rest.count, offset + done)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        fail(count < 0 ? Errno(rawValue: errno) : .ioError)
        return false
      }
      done += count
    }
    return true
  }
}
