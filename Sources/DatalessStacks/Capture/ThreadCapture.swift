internal import Glibc

/// What has to be read of a thread while it waits: 0.1 ms. Everything else comes later, and needs only this and files.
public struct ThreadCapture: Sendable, Equatable {
  public let registers: ThreadRegisters
  public let mappings: MappingTable
  public let copy: StackCopy

  public enum Failure: Error, Sendable, Equatable {
    /// The thread runs, ran meanwhile, or has gone.
    case threadRan
    /// Not ours to look at: another user's, undumpable, or of a process with more capabilities (S18).
    case permission
    /// A thread of the process maps a file on a volume right now, and memory cannot be read until that has its reply
    /// (S14).
    case memoryLocked
    /// /proc/PID/maps or the stack could not be read.
    case unreadable
  }

  /// Looks at a blocked thread. Only in the capture process: it can wait for ever.
  ///
  /// - Parameters:
  ///   - walk: What has to be walked while the thread waits: the frames of an interpreter. It is given the copy of the
  ///     stack, if that could be read. What it returns holds only if this returns.
  public static func take<Walked>(
    processID: Int32, threadID: Int32, volumes: Set<DeviceNumber>,
    walk: (MappingTable, ProcessMemory, StackCopy?) -> Walked
  ) -> Result<(capture: ThreadCapture, walked: Walked), Failure> {
    let thread = ThreadFiles(processID: processID, threadID: threadID)
    switch thread.look() {
    case .failure(let failure): return .failure(failure)
    case .success(let before):
      guard let text = ProcessFile.bytes("\(processID)/maps", limit: MappingTable.bytesMax),
        let mappings = MappingTable(text, volumes: volumes)
      else { return .failure(.unreadable) }
      if MappingWait.isLikely(processID) { return .failure(.memoryLocked) }
      let memory = ProcessMemory(processID: processID, mappings: mappings)
      let copy = memory.stack(from: before.registers.stackPointer)
      let walked = walk(mappings, memory, copy)
      // Also before an error is told: what could not be read of a thread that went on says nothing.
      guard case .success(let after) = thread.look(), after == before else { return .failure(.threadRan) }
      guard let copy else { return .failure(.unreadable) }
      let capture = ThreadCapture(registers: before.registers, mappings: mappings, copy: copy)
      return .success((capture: capture, walked: walked))
    }
  }
}

/// The two files by which it is seen that a thread stood still.
struct ThreadFiles {
  struct Look: Equatable {
    let registers: ThreadRegisters
    let runs: RunCount
  }

  let processID: Int32
  let threadID: Int32

  func look() -> Result<Look, ThreadCapture.Failure> {
    // The count first, then the registers; at the second look a thread that ran in between has another count.
    guard let counts = ProcessFile.bytes("\(processID)/task/\(threadID)/schedstat", limit: 256),
      let runs = RunCount(counts)
    else { return .failure(.threadRan) }
    var failure: Int32 = 0
    guard let text = ProcessFile.bytes("\(processID)/task/\(threadID)/syscall", limit: 512, failure: &failure) else {
      return .failure(failure == EPERM || failure == EACCES ? .permission : .threadRan)
    }
    guard let registers = ThreadRegisters(text) else { return .failure(.threadRan) }
    return .success(Look(registers: registers, runs: runs))
  }
}

/// Whether a thread maps a file that waits for its content. Such a call holds the lock that reading memory takes.
enum MappingWait {
  // LIMIT: threads that are looked at; beyond, the capture process may hang, and is abandoned then.
  static let threadsMax = 1024
  // Numbers of x86-64: mmap, mprotect, munmap, brk, mremap, mlock, mlockall; madvise takes part of them.
  static let calls: Set<Int> = [9, 10, 11, 12, 25, 149, 151, 28]

  static func isLikely(_ processID: Int32) -> Bool {
    ProcessFile.threads(of: processID, limit: threadsMax).contains { thread in
      guard let text = ProcessFile.bytes("\(processID)/task/\(thread)/syscall", limit: 512),
        let call = ThreadRegisters(text)?.call, calls.contains(call),
        let place = ProcessFile.bytes("\(processID)/task/\(thread)/wchan", limit: 128)
      else { return false }
      return isPageWait(place)
    }
  }

  static func isPageWait(_ place: [UInt8]) -> Bool {
    ["__folio_lock", "folio_wait_bit_common", "__folio_lock_killable"].contains {
      place.prefix { $0 != UInt8(ascii: "\n") }.elementsEqual($0.utf8)
    }
  }
}

/// Small files of /proc.
enum ProcessFile {
  static func bytes(_ name: String, limit: Int) -> [UInt8]? {
    var failure: Int32 = 0
    return bytes(name, limit: limit, failure: &failure)
  }

  /// What is there up to `limit`; nil on any failure, with the errno in `failure`.
  static func bytes(_ name: String, limit: Int, failure: inout Int32) -> [UInt8]? {
    let descriptor = open("/proc/" + name, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      failure = errno
      return nil
    }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var isAtEnd = false
    while !isAtEnd, bytes.count < limit {
      let wanted = min(limit - bytes.count, 64 << 10)
      var count = 0
      let part = [UInt8](unsafeUninitializedCapacity: wanted) { buffer, initialized in
        count = read(descriptor, buffer.baseAddress, wanted)
        initialized = max(count, 0)
      }
      if count < 0 {
        failure = errno
        return nil
      }
      bytes += part
      isAtEnd = count == 0
    }
    return bytes
  }

  /// The ids of a process' threads, the first `limit` of them; empty on any failure.
  static func threads(of processID: Int32, limit: Int) -> [Int32] {
    guard let directory = opendir("/proc/\(processID)/task") else { return [] }
    defer { closedir(directory) }
    var threads: [Int32] = []
    while threads.count < limit, let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if let thread = Int32(name) { threads.append(thread) }
    }
    return threads
  }
}
