import DatalessCore
import Glibc

/// What `dataless` uses of /proc/ID/status.
struct ProcessStatus: Equatable {
  /// The process (thread group) of the thread.
  var threadGroup: Int32
  /// Effective ids.
  var uid: UInt32
  var gid: UInt32
  /// Signals waiting for the thread, and for its process: bit n-1 stands for signal n.
  var pendingThread: UInt64
  var pendingProcess: UInt64

  /// Signals that the thread blocks, ignores, or has a handler for.
  var blocked: UInt64
  var ignored: UInt64
  var caught: UInt64
  /// Capabilities in force, in the process' own user namespace: bit n stands for capability n; 0 where the text has
  /// none.
  var capabilities: UInt64

  private static func mask(_ signals: Int32...) -> UInt64 {
    signals.reduce(0) { $0 | 1 << UInt64($1 - 1) }
  }

  private static let kill = mask(SIGKILL)
  /// Signals whose default action is not to end the process.
  private static let harmless = mask(SIGCHLD, SIGCONT, SIGURG, SIGWINCH, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU)

  /// Whether the thread will be ended by a signal that waits for it.
  ///
  /// Mostly that is a pending SIGKILL, into which the kernel turns a fatal signal when it is sent. But not if another
  /// signal was pending before (measured on Linux 6.18: SIGUSR1 with a handler, then SIGTERM, leaves SIGTERM pending
  /// and no SIGKILL), so a pending signal that is neither blocked, ignored nor caught counts by its default action.
  var hasPendingFatalSignal: Bool {
    let pending = pendingThread | pendingProcess
    return pending & Self.kill != 0 || pending & ~(blocked | ignored | caught | Self.harmless) != 0
  }

  /// nil when a field is missing.
  init?(_ text: UnsafeBufferPointer<UInt8>) {
    guard let group = Self.field(text, "Tgid:", column: 0, radix: 10),
      let uid = Self.field(text, "Uid:", column: 1, radix: 10),
      let gid = Self.field(text, "Gid:", column: 1, radix: 10),
      let thread = Self.field(text, "SigPnd:", column: 0, radix: 16),
      let process = Self.field(text, "ShdPnd:", column: 0, radix: 16),
      let blocked = Self.field(text, "SigBlk:", column: 0, radix: 16),
      let ignored = Self.field(text, "SigIgn:", column: 0, radix: 16),
      let caught = Self.field(text, "SigCgt:", column: 0, radix: 16), group <= UInt64(Int32.max)
    else { return nil }
    threadGroup = Int32(group)
    self.uid = UInt32(truncatingIfNeeded: uid)
    self.gid = UInt32(truncatingIfNeeded: gid)
    pendingThread = thread
    pendingProcess = process
    self.blocked = blocked
    self.ignored = ignored
    self.caught = caught
    capabilities = Self.field(text, "CapEff:", column: 0, radix: 16) ?? 0
  }

  /// Reads the status of a thread.
  ///
  /// - Returns: nil when there is no such thread; `failure` is then the errno.
  static func read(_ id: Int32, failure: inout Int32) -> ProcessStatus? {
    let (status, count) = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 4096) { buffer in
      let count = ProcReader.read(id, "status", into: buffer)
      return (ProcessStatus(UnsafeBufferPointer(rebasing: buffer[..<max(count, 0)])), count)
    }
    failure = count < 0 ? Int32(-count) : 0
    if count < 4096 { return status }
    // A process with hundreds of supplementary groups has a longer text: 65,536 groups of up to 11 bytes.
    guard let bytes = ProcReader.bytes(id, "status", limit: 1 << 20, failure: &failure) else { return nil }
    return bytes.withUnsafeBufferPointer { ProcessStatus($0) }
  }

  private static func field(
    _ text: UnsafeBufferPointer<UInt8>, _ name: StaticString, column: Int, radix: UInt64
  ) -> UInt64? {
    guard var position = lineStart(text, name) else { return nil }
    var column = column
    while position < text.count, text[position] != UInt8(ascii: "\n") {
      guard text[position] > UInt8(ascii: " ") else {
        position += 1
        continue
      }
      var value: UInt64 = 0
      while position < text.count, let digit = digit(text[position]), digit < radix {
        value = value &* radix &+ digit
        position += 1
      }
      if column == 0 { return value }
      // Something that is not a number would stand still here.
      guard position < text.count, text[position] <= UInt8(ascii: " ") else { return nil }
      column -= 1
    }
    return nil
  }

  /// The position after `name` at the start of a line: a process' name stands in the first line and cannot start one,
  /// because the kernel escapes newlines in it.
  private static func lineStart(_ text: UnsafeBufferPointer<UInt8>, _ name: StaticString) -> Int? {
    let length = name.utf8CodeUnitCount
    var position = 0
    while position + length <= text.count {
      var matched = 0
      while matched < length, text[position + matched] == name.utf8Start[matched] { matched += 1 }
      if matched == length { return position + length }
      while position < text.count, text[position] != UInt8(ascii: "\n") { position += 1 }
      position += 1
    }
    return nil
  }

  private static func digit(_ byte: UInt8) -> UInt64? {
    switch byte {
    case 48...57: UInt64(byte - 48)
    case 97...102: UInt64(byte - 87)
    default: nil
    }
  }
}

/// The pending signals of blocked callers, from /proc/TID/status.
struct ProcSignalProbe: SignalProbe {
  func hasPendingFatalSignal(threadID: Int32) -> Bool? {
    ProcessTable.hasPendingFatalSignal(threadID: threadID)
  }
}
