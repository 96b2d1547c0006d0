/// What a blocked caller is doing, as far as the kernel tells without touching its memory.
enum BlockedCall {
  /// Whether the thread waits in a page fault rather than in a system call: the first word of /proc/TID/syscall is then -1.
  ///
  /// Safe while the caller is blocked (docs/ARCHITECTURE.md, R7). False when it cannot be told.
  static func isPageFault(threadID: Int32) -> Bool {
    guard threadID > 0 else { return false }
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 256) { buffer in
      let count = ProcReader.read(threadID, "syscall", into: buffer)
      return count >= 2 && buffer[0] == UInt8(ascii: "-") && buffer[1] == UInt8(ascii: "1")
    }
  }
}
