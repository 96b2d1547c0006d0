import DatalessCore
import Glibc

/// A thread that calls again and again, held by a descriptor of its /proc/TID/exe.
///
/// The descriptor belongs to the thread, not to its number: once the thread is gone it answers EACCES for good, also
/// when the number has a new owner. So one readlink(2), 1.5 us, tells both that the thread is the same and that its
/// process has not called exec, where a look by number takes two lookups in /proc and a line of 52 fields (9 us).
final class ThreadIdentityPin: Sendable {
  let threadID: Int32
  let record: ProcessRecord
  private let descriptor: Int32

  /// - Returns: nil if there is no such thread, or no descriptor to be had.
  init?(threadID: Int32, record: ProcessRecord) {
    descriptor = ProcReader.pinExecutable(threadID)
    self.threadID = threadID
    self.record = record
    if descriptor < 0 { return nil }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Whether the thread still lives, in the program it was seen in. Allocates nothing.
  func isSame() -> Bool {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 512) { buffer in
      let count = readlinkat(descriptor, "", buffer.baseAddress!, buffer.count)
      // A path that did not fit is left to the other way.
      guard count > 0, count < buffer.count else { return false }
      return record.executable.isContinued(count: count, buffer: buffer)
    }
  }
}
