import CDatalessLinux
import DatalessCore

/// What a blocked caller is doing, as far as the kernel tells without touching its memory.
enum BlockedCall {
  /// What a thread waits in whose READ comes from the page cache: the first word of /proc/TID/syscall is the number of its
  /// system call, or -1 for a page fault outside of any.
  ///
  /// Safe while the caller is blocked (docs/ARCHITECTURE.md, R7). `fault` when it cannot be told: nearly all such READs are.
  ///
  /// - Parameter readsThroughCache: Whether read(2) of the file goes through the page cache, too. If not, a read(2) that waits
  ///   for a page reads something else into memory that is a mapping of the file.
  static func pageWait(threadID: Int32, readsThroughCache: Bool) -> PageWait {
    guard threadID > 0 else { return .fault }
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 256) { buffer in
      let count = ProcReader.read(threadID, "syscall", into: buffer)
      guard count > 0 else { return .fault }
      return pageWait(UnsafeBufferPointer(rebasing: buffer[..<count]), readsThroughCache: readsThroughCache)
    }
  }

  /// - Parameter line: Of /proc/TID/syscall.
  static func pageWait(_ line: UnsafeBufferPointer<UInt8>, readsThroughCache: Bool) -> PageWait {
    var number = 0
    for digit in line {
      guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= digit, number < 100_000 else { break }
      number = number * 10 + Int(digit - UInt8(ascii: "0"))
    }
    // "-1 0x...", or "running".
    guard let first = line.first, UInt8(ascii: "0")...UInt8(ascii: "9") ~= first else { return .fault }
    switch Int(clinux_call_kind(number)) {
    case CLINUX_CALL_MOVES: return .call
    case CLINUX_CALL_READS: return readsThroughCache ? .call : .faultInCall
    case CLINUX_CALL_PATH: return .faultInPath
    default: return .faultInCall
    }
  }
}
