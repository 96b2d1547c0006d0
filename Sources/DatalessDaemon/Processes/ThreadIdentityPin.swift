import DatalessCore
import Glibc

/// A thread that calls again and again, held by a descriptor of its /proc/TID/exe.
///
/// The descriptor belongs to the thread, not to its number: once the thread is gone it answers EACCES for good, also
/// when the number has a new owner. So one readlink(2), 1.5 us, tells both that the thread is the same and that its
/// process has not called exec, where a look by number takes two lookups in /proc and a line of 52 fields (9 us). Its
/// name, which it may change at any time, is read through another descriptor (1 us, where opening the file takes 6).
final class ThreadIdentityPin: Sendable {
  let threadID: Int32
  let record: ProcessRecord
  private let descriptor: Int32
  /// Of /proc/TID/comm; -1 for the first thread of a process, and where there was none to be had.
  private let nameDescriptor: Int32

  /// - Returns: nil if there is no such thread, or no descriptor to be had.
  init?(threadID: Int32, record: ProcessRecord) {
    descriptor = ProcReader.pinExecutable(threadID)
    self.threadID = threadID
    self.record = record
    nameDescriptor = descriptor < 0 || threadID == record.pid ? -1 : ProcReader.open(threadID, "comm")
    if descriptor < 0 { return nil }
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
    if nameDescriptor >= 0 { close(nameDescriptor) }
  }

  /// Whether the thread still lives, in the program it was seen in. Allocates nothing.
  func isSame() -> Bool {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 512) { buffer in
      let count = readlinkat(descriptor, "", buffer.baseAddress!, buffer.count)
      // A path that did not fit is left to the other way.
      guard count > 0, count < buffer.count else { return false }
      return record.executable.isContinued(count: count, buffer: buffer)
    }
  }

  /// What the thread is called now, with a line end.
  ///
  /// - Returns: The bytes read; 0 or less if the thread is gone, or there is no descriptor.
  func readName(into buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
    pread(nameDescriptor, buffer.baseAddress, buffer.count, 0)
  }
}
