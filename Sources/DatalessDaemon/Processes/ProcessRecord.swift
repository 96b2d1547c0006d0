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
  /// When the daemon first saw it.
  let seen: MonotonicTime

  private let argumentState: Mutex<ProcessArguments>
  private let budgeted: Atomic<Bool>

  init(
    id: ProcessID, pid: Int32?, startTicks: UInt64?, comm: [UInt8]?, executable: ProcessExecutable, uid: UInt32?,
    gid: UInt32?, cgroup: [UInt8]?, parents: [ProcessID], arguments: ProcessArguments, isBudgeted: Bool,
    seen: MonotonicTime
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
    self.seen = seen
    argumentState = Mutex(arguments)
    budgeted = Atomic(isBudgeted)
  }

  /// The path of the executable; nil when it could not be read.
  var exe: [UInt8]? { executable.bytes }

  var arguments: ProcessArguments { argumentState.withLock { $0 } }

  /// Whether its materializations count against the budget of `dataless run`.
  var isBudgeted: Bool { budgeted.load(ordering: .relaxed) }

  func setArguments(_ arguments: ProcessArguments) { argumentState.withLock { $0 = arguments } }
  func setBudgeted(_ isBudgeted: Bool) { budgeted.store(isBudgeted, ordering: .relaxed) }
}
