internal import Glibc

/// The two files by which it is seen that a thread stood still, kept open: to read one again costs a fraction of
/// opening it. For one thread.
final class ThreadFiles {
  struct Look: Equatable {
    let registers: ThreadRegisters
    let runs: RunCount
  }

  private let processID: Int32
  private let threadID: Int32
  /// /proc/PID/task/TID/schedstat and syscall: of this very thread, whoever has its number later.
  private var counts: Int32 = -1
  private var registers: Int32 = -1

  init(processID: Int32, threadID: Int32) {
    self.processID = processID
    self.threadID = threadID
  }

  deinit { closeBoth() }

  /// The first look of a capture.
  func look() -> Result<Look, ThreadCapture.Failure> {
    if counts >= 0 {
      let result = lookAgain()
      // Another thread may have the number of one that has gone.
      guard case .failure(.threadRan) = result, ProcessFile.part(of: counts) == nil else { return result }
      closeBoth()
    }
    let directory = "/proc/\(processID)/task/\(threadID)/"
    counts = open(directory + "schedstat", O_RDONLY | O_CLOEXEC)
    guard counts >= 0 else { return .failure(.threadRan) }
    registers = open(directory + "syscall", O_RDONLY | O_CLOEXEC)
    guard registers >= 0 else {
      let failure = errno
      closeBoth()
      return .failure(failure == EPERM || failure == EACCES ? .permission : .threadRan)
    }
    return lookAgain()
  }

  /// A further look at the thread of the first one.
  func lookAgain() -> Result<Look, ThreadCapture.Failure> {
    // The count first, then the registers; at the second look a thread that ran in between has another count.
    guard let text = ProcessFile.part(of: counts), let runs = RunCount(text) else { return .failure(.threadRan) }
    var failure: Int32 = 0
    guard let text = ProcessFile.part(of: registers, failure: &failure) else {
      return .failure(failure == EPERM || failure == EACCES ? .permission : .threadRan)
    }
    guard let registers = ThreadRegisters(text) else { return .failure(.threadRan) }
    return .success(Look(registers: registers, runs: runs))
  }

  private func closeBoth() {
    for descriptor in [counts, registers] where descriptor >= 0 { close(descriptor) }
    (counts, registers) = (-1, -1)
  }
}

extension ProcessFile {
  // LIMIT: bytes of a line of numbers.
  private static let partMax = 512

  /// The beginning of an open file, as it is now; nil on any failure.
  fileprivate static func part(of descriptor: Int32) -> [UInt8]? {
    var failure: Int32 = 0
    return part(of: descriptor, failure: &failure)
  }

  fileprivate static func part(of descriptor: Int32, failure: inout Int32) -> [UInt8]? {
    var count = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: partMax) { buffer, initialized in
      count = pread(descriptor, buffer.baseAddress, partMax, 0)
      if count < 0 { failure = errno }
      initialized = max(count, 0)
    }
    return count < 0 ? nil : bytes
  }
}
