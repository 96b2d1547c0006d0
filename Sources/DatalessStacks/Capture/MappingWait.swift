internal import CDatalessLinux

/// Whether a thread maps a file that waits for its content. Such a call holds the lock that reading memory takes.
enum MappingWait {
  // LIMIT: threads that are looked at; beyond, the capture process may hang, and is abandoned then.
  static let threadsMax = 1024
  // Numbers of x86-64: mmap, mprotect, munmap, brk, mremap, mlock, mlockall; madvise takes part of them.
  static let calls: Set<Int> = [9, 10, 11, 12, 25, 149, 151, 28]

  /// - Parameters:
  ///   - threadID: A thread whose call is known already.
  ///   - call: Its number; nil in a page fault.
  static func isLikely(_ processID: Int32, beside threadID: Int32, in call: Int?) -> Bool {
    if isWaiting(processID, threadID, in: call) { return true }
    guard ProcessFile.threadCount(of: processID) != 1 else { return false }
    return ProcessFile.threads(of: processID, limit: threadsMax).contains { thread in
      guard thread != threadID, let text = ProcessFile.bytes("\(processID)/task/\(thread)/syscall", limit: 512) else {
        return false
      }
      return isWaiting(processID, thread, in: ThreadRegisters(text)?.call)
    }
  }

  /// Whether a thread is in a call that waits for no file, and does not wait for a page in it: the kernel fetches
  /// something for it, as of readahead(2), and it has gone on.
  static func isElsewhere(_ processID: Int32, _ threadID: Int32, in call: Int?) -> Bool {
    guard let call, clinux_waits_elsewhere(call) != 0 else { return false }
    return !(ProcessFile.bytes("\(processID)/task/\(threadID)/wchan", limit: 128).map(isPageWait) ?? false)
  }

  private static func isWaiting(_ processID: Int32, _ threadID: Int32, in call: Int?) -> Bool {
    guard let call, calls.contains(call),
      let place = ProcessFile.bytes("\(processID)/task/\(threadID)/wchan", limit: 128)
    else { return false }
    return isPageWait(place)
  }

  static func isPageWait(_ place: [UInt8]) -> Bool {
    ["__folio_lock", "folio_wait_bit_common", "__folio_lock_killable"].contains {
      place.prefix { $0 != UInt8(ascii: "\n") }.elementsEqual($0.utf8)
    }
  }
}
