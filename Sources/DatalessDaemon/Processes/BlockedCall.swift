import CDatalessLinux
import DatalessCore

/// What a blocked caller is doing, as far as the kernel tells without touching its memory.
enum BlockedCall {
  /// What a thread waits in whose READ comes from the page cache: the first word of /proc/TID/syscall is the number of
  /// its system call, or -1 for a page fault outside of any.
  ///
  /// Safe while the caller is blocked (docs/ARCHITECTURE.md, R7). `fault` when it cannot be told: nearly all such READs
  /// are.
  ///
  /// - Parameter readsThroughCache: Whether read(2) of the file goes through the page cache, too. If not, a read(2)
  ///   that waits for a page reads something else into memory that is a mapping of the file.
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

  /// Whether a thread for which the kernel fetches something is known to wait for something else, or for nothing: of
  /// readahead(2), POSIX_FADV_WILLNEED, MADV_WILLNEED and io_uring the caller goes on at once. False where it cannot be
  /// told.
  ///
  /// As safe as `pageWait`.
  static func isElsewhere(threadID: Int32) -> Bool {
    guard threadID > 0 else { return false }
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 256) { buffer in
      let count = ProcReader.read(threadID, "syscall", into: buffer)
      return count > 0 && isElsewhere(UnsafeBufferPointer(rebasing: buffer[..<count]))
    }
  }

  /// - Parameter line: As of `pageWait`.
  static func isElsewhere(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
    if line.starts(with: "running".utf8) { return true }
    let word = line.prefix { $0 != UInt8(ascii: " ") }
    return Int(String(decoding: word, as: UTF8.self)).map { clinux_waits_elsewhere($0) != 0 } ?? false
  }

  /// The path by which the file was opened that the thread reads through a descriptor of its own; nil where that cannot
  /// be told: in a page fault, in a call by path, in one that has no descriptor first, or of a process that may not be
  /// looked at.
  ///
  /// As safe as `pageWait`: neither file takes a lock of the caller's memory, and a link of /proc is read without
  /// asking the file system that it leads to. Another thread may give the descriptor to another file meanwhile: only
  /// for the caller to believe who knows which names are possible.
  static func openPath(threadID: Int32) -> [UInt8]? {
    guard threadID > 0 else { return nil }
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 4096) { buffer in
      let count = ProcReader.read(threadID, "syscall", into: buffer)
      guard count > 0, let descriptor = descriptor(UnsafeBufferPointer(rebasing: buffer[..<count])) else { return nil }
      let length = ProcReader.readDescriptor(threadID, descriptor, into: buffer)
      return length > 0 && length < buffer.count ? Array(buffer[..<length]) : nil
    }
  }

  /// The descriptor that is the first argument of a call that reads a file: `0 0x3 0x7ffd...`.
  static func descriptor(_ text: UnsafeBufferPointer<UInt8>) -> Int32? {
    let words = text.split(separator: UInt8(ascii: " "), maxSplits: 2).map { String(decoding: $0, as: UTF8.self) }
    guard words.count >= 2, let number = Int(words[0]), clinux_reads_first_descriptor(number) != 0,
      words[1].hasPrefix("0x"), let value = UInt64(words[1].dropFirst(2), radix: 16)
    else { return nil }
    return Int32(exactly: value & 0xffff_ffff)
  }
}
