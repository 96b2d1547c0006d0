import CDataless
import CDatalessLinux
import DatalessCore
import Glibc

/// Learns what a caller's thread and process have set with `setiopolicy_np` or `dataless exec`.
///
/// Safe on a request thread while the caller is blocked: it takes no lock of the caller's memory, waits for nothing and
/// allocates nothing. docs/POLICY.md has the carrier, the reasons for it, and what a look costs.
enum PolicyProbe {
  /// The file of our own pid namespace, on which threads in it hold record locks. -1 where the kernel has none.
  private static let namespace = open(CDATALESS_NAMESPACE_FILE, O_RDONLY | O_CLOEXEC)

  /// The policy of a thread that is blocked in a call to us.
  ///
  /// - Parameters:
  ///   - threadID: In our pid namespace; 0 (a caller from another one) is `unset`.
  ///   - startTicks: When that thread started, if the caller knows; else it is read from /proc if the thread seems to
  ///     have a policy.
  /// - Returns: `unset` also when the thread has gone, or may not be looked at.
  static func policy(threadID: Int32, startTicks: UInt64? = nil) -> CallerPolicy {
    guard threadID > 0 else { return .unset }
    return CallerPolicy(thread: thread(threadID, startTicks), process: process(threadID))
  }

  private static func process(_ threadID: Int32) -> Bool? {
    var soft: UInt64 = 0
    let result = clinux_soft_limit(threadID, CDATALESS_RLIMIT_LOCKS, &soft)
    // Another user's process, or one of another group: the text is for everybody, but takes longer.
    if result == -Int(EPERM) { return processByText(threadID) }
    return result == 0 ? meaning(of: soft) : nil
  }

  private static func processByText(_ threadID: Int32) -> Bool? {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 2048) { buffer in
      let count = ProcReader.read(threadID, "limits", into: buffer)
      guard count > 0 else { return nil }
      return softLockLimit(UnsafeBufferPointer(rebasing: buffer[..<count])).flatMap { meaning(of: $0) }
    }
  }

  private static func meaning(of softLimit: UInt64) -> Bool? {
    switch softLimit {
    case CDATALESS_PROCESS_OFF: false
    case CDATALESS_PROCESS_ON: true
    default: nil
    }
  }

  /// The first number of the line "Max file locks" in the text of /proc/PID/limits; nil when it is `unlimited`.
  static func softLockLimit(_ text: UnsafeBufferPointer<UInt8>) -> UInt64? {
    let name: StaticString = "Max file locks"
    let length = name.utf8CodeUnitCount
    var position = 0
    while position + length < text.count {
      var matched = 0
      while matched < length, text[position + matched] == name.utf8Start[matched] { matched += 1 }
      if matched == length { return number(text, after: position + length) }
      while position < text.count, text[position] != UInt8(ascii: "\n") { position += 1 }
      position += 1
    }
    return nil
  }

  private static func number(_ text: UnsafeBufferPointer<UInt8>, after start: Int) -> UInt64? {
    var position = start
    while position < text.count, text[position] == UInt8(ascii: " ") { position += 1 }
    var value: UInt64?
    while position < text.count, case let digit = text[position] &- 48, digit < 10 {
      value = (value ?? 0) &* 10 &+ UInt64(digit)
      position += 1
    }
    return value
  }

  private static func thread(_ threadID: Int32, _ startTicks: UInt64?) -> Bool? {
    guard namespace >= 0 else { return nil }
    guard let startTicks else {
      // Almost no thread has one, which is quickly seen.
      let start = cdataless_thread_start(threadID)
      guard find(start, CDATALESS_THREAD_LENGTH) != nil, let ticks = readStartTicks(threadID) else { return nil }
      return thread(threadID, ticks)
    }
    let place = cdataless_thread_place(threadID, startTicks)
    // A process speaks for its own threads only. A lock of the same place left by another process is not the thread's.
    guard let lock = find(place, CDATALESS_PLACE_LENGTH), lock.process > 0,
      clinux_is_thread_of(threadID, lock.process) != 0
    else { return nil }
    switch lock.start - place {
    case Int64(IOPOL_MATERIALIZE_DATALESS_FILES_OFF): return false
    case Int64(IOPOL_MATERIALIZE_DATALESS_FILES_ON): return true
    default: return nil
    }
  }

  private static func find(_ start: Int64, _ length: Int64) -> (start: Int64, process: Int32)? {
    var found: Int64 = 0
    var process: Int32 = 0
    return clinux_find_record_lock(namespace, start, length, &found, &process) == 1 ? (found, process) : nil
  }

  private static func readStartTicks(_ threadID: Int32) -> UInt64? {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 1024) { buffer in
      let count = ProcReader.readStat(threadID, into: buffer)
      guard count > 0 else { return nil }
      return ProcessStat(UnsafeBufferPointer(rebasing: buffer[..<count]))?.startTicks
    }
  }
}
