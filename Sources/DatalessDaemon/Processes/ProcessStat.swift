/// What `dataless` uses of /proc/ID/stat, which describes one thread (the process' first one for a process id).
struct ProcessStat: Equatable {
  /// Where the command name stands in the text: at most 15 bytes, not necessarily UTF-8.
  var comm: Range<Int>
  var parent: Int32
  /// When the thread started, in clock ticks (100 a second) since boot. With the id it names a thread for good.
  var startTicks: UInt64
  var isKernelThread: Bool
  /// A letter: `R`, `S`, `T` and so on.
  var state: UInt8
  /// Whether the thread has ended, or is about to.
  var isExiting: Bool

  /// By a signal or a debugger.
  var isStopped: Bool { state == UInt8(ascii: "T") || state == UInt8(ascii: "t") }
  var isUninterruptible: Bool { state == UInt8(ascii: "D") }

  /// nil when the text is not a stat line.
  init?(_ text: UnsafeBufferPointer<UInt8>) {
    // The name stands in parentheses and may itself contain some, and spaces: the last one ends it.
    guard let open = text.firstIndex(of: UInt8(ascii: "(")), let close = text.lastIndex(of: UInt8(ascii: ")")),
      open < close
    else { return nil }
    comm = (open + 1)..<close
    // Fields are numbered from 1 in proc(5): pid, comm, state ... The state is the first after the name.
    var field = 2
    var position = close + 1
    var state: UInt8 = 0
    var parent: UInt64?
    var flags: UInt64?
    while position < text.count {
      if text[position] == UInt8(ascii: " ") {
        field += 1
        position += 1
        continue
      }
      switch field {
      case 3:
        state = text[position]
        position += 1
      case 4, 9:
        // A number moves on; what is none would stand still here.
        guard let value = Self.number(text, &position) else { return nil }
        if field == 4 { parent = value } else { flags = value }
      case 22:
        guard let start = Self.number(text, &position), let parent, let flags, parent <= UInt64(Int32.max) else {
          return nil
        }
        startTicks = start
        self.parent = Int32(parent)
        isKernelThread = flags & 0x0020_0000 != 0  // PF_KTHREAD
        self.state = state
        isExiting =
          flags & 0x4 != 0  // PF_EXITING
          || state == UInt8(ascii: "Z") || state == UInt8(ascii: "X")
        return
      default: position += 1
      }
    }
    return nil
  }

  private static func number(_ text: UnsafeBufferPointer<UInt8>, _ position: inout Int) -> UInt64? {
    var value: UInt64 = 0
    let start = position
    while position < text.count, case let digit = text[position] &- 48, digit < 10 {
      value = value &* 10 &+ UInt64(digit)
      position += 1
    }
    return position > start ? value : nil
  }
}

/// A process as it was at one moment: what tells it from others, and what it can change while it keeps its process id.
struct ProcessSnapshot {
  var pid: Int32
  var parent: Int32
  var startTicks: UInt64
  var comm: [UInt8]
  var executable: ProcessExecutable
  /// A thread that goes on, where the first one has ended: what else /proc tells of the process, it tells by this one.
  var livingThread: Int32?
}

extension ProcessSnapshot {
  /// Reads /proc/PID/stat and exe (of a thread that goes on, if the first one has ended); safe on a request thread. nil
  /// when there is no such process (or thread).
  init?(_ pid: Int32) {
    self.pid = pid
    let read = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 1024) { buffer -> (ProcessStat, [UInt8])? in
      let count = ProcReader.readStat(pid, into: buffer)
      let text = UnsafeBufferPointer(rebasing: buffer[..<max(count, 0)])
      return ProcessStat(text).map { ($0, Array(text[$0.comm])) }
    }
    guard let (stat, comm) = read else { return nil }
    parent = stat.parent
    startTicks = stat.startTicks
    self.comm = comm
    livingThread = stat.isExiting ? LivingThread.besideFirst(of: pid) : nil
    let thread = livingThread ?? pid
    executable = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 4096) { buffer in
      let count = ProcReader.readExecutable(thread, into: buffer)
      return ProcessExecutable(count: count, buffer: buffer, isKernelThread: stat.isKernelThread)
    }
  }
}
