import DatalessCore
import Synchronization

/// One process in the log: one pid, one start time, one executable. Everything but the arguments and the budget is as
/// it was when the process was first seen.
final class ProcessRecord: Sendable {
  let id: ProcessID
  /// nil when the caller could not be looked at.
  let pid: Int32?
  /// When the process started, in clock ticks since boot.
  let startTicks: UInt64?
  let comm: [UInt8]?
  let executable: ProcessExecutable
  /// Effective ids of the process; those of the request when the process could not be looked at.
  let uid: UInt32?
  let gid: UInt32?
  /// The last line of /proc/PID/cgroup without its "0::", for cgroup 2: the path in the hierarchy.
  let cgroup: [UInt8]?
  /// Ancestors, nearest first, as they were when this process was first seen; at most 32.
  let parents: [ProcessID]
  /// Whether those are all up to the first process, or up to one that had been seen before.
  let hasWholeLineage: Bool
  /// When the daemon first saw it.
  let seen: MonotonicTime

  private struct Arguments {
    var value: ProcessArguments
    /// Whether those of a caller are being read: then what was read for an ancestor comes too late.
    var areExpected = false
  }

  private let argumentState: Mutex<Arguments>
  private let budgeted: Atomic<Bool>
  private let calling: Atomic<Bool>

  init(
    id: ProcessID, pid: Int32?, startTicks: UInt64?, comm: [UInt8]?, executable: ProcessExecutable, uid: UInt32?,
    gid: UInt32?, cgroup: [UInt8]?, parents: [ProcessID], hasWholeLineage: Bool = true, arguments: ProcessArguments,
    isBudgeted: Bool, isCaller: Bool = false, seen: MonotonicTime
  ) {
    self.id = id
    self.pid = pid
    self.startTicks = startTicks
    self.comm = comm
    self.executable = executable
    self.uid = uid
    self.gid = gid
    self.cgroup = cgroup
    self.parents = parents
    self.hasWholeLineage = hasWholeLineage
    self.seen = seen
    argumentState = Mutex(Arguments(value: arguments))
    budgeted = Atomic(isBudgeted)
    calling = Atomic(isCaller)
  }

  /// The path of the executable; nil when it could not be read.
  var exe: [UInt8]? { executable.bytes }

  var arguments: ProcessArguments { argumentState.withLock { $0.value } }

  /// Whether its materializations count against the budget of `dataless run`: those of whoever may descend from it.
  var isBudgeted: Bool { budgeted.load(ordering: .relaxed) }

  /// Whether it has called the volume itself; else it is known as an ancestor of one that has.
  var isCaller: Bool { calling.load(ordering: .acquiring) }

  func setCaller() { calling.store(true, ordering: .releasing) }
  /// An ancestor has called, and its arguments are to be read for that.
  func expectArguments() { argumentState.withLock { $0 = Arguments(value: .pending, areExpected: true) } }

  func setArguments(_ arguments: ProcessArguments, isCaller: Bool) {
    argumentState.withLock { state in if isCaller || !state.areExpected { state.value = arguments } }
  }

  func setBudgeted(_ isBudgeted: Bool) { budgeted.store(isBudgeted, ordering: .relaxed) }
}

/// Why something about a process could not be read. The raw value is the word in the log.
enum Unavailability: String, Sendable, Hashable {
  /// The caller lives in a pid namespace that does not contain it for us: the kernel gives thread id 0.
  case pidNamespace = "pid_namespace"
  /// The process, or the image that was asked about, had ended when it was read.
  case exited
  /// The daemon's user may not look at that process.
  case permission
  /// A thread of the kernel: it has no executable and no arguments.
  case kernelThread = "kernel_thread"
  /// The arguments did not come in time for the record.
  case late
}
