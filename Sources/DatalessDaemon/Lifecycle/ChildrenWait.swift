import DatalessControl
import Glibc
import Synchronization

/// How the wait for what a command left running ended.
public struct ChildrenWait: Sendable {
  public enum End: Sendable, Equatable {
    case noneLeft
    case timeUp
    /// A signal asked us to stop.
    case interrupted(Int32)
    /// The daemon is gone, and with it what they could materialize.
    case volumeEnded
    /// /proc does not tell of our children.
    case unknown
  }

  public var end: End
  /// From the command's end.
  public var milliseconds: Int64
  public var left: [LeftProcess]

  public init(end: End, milliseconds: Int64 = 0, left: [LeftProcess] = []) {
    (self.end, self.milliseconds, self.left) = (end, milliseconds, left)
  }

  /// Whether somebody may have gone on materializing after the wait, so that what was counted is not all.
  public var isCutShort: Bool { end != .noneLeft }
}

extension CommandRunner {
  private static let stepMilliseconds = 100
  /// Whoever has asked `run` to end, and ended the command by that, does not wait for the rest.
  private static let askedToEndMilliseconds = 1000
  private static let noticeMilliseconds: Int64 = 1000
  private static let endMilliseconds = 1000
  /// Polled at once. The wait ends with the last child, so any of them will do to wait for.
  private static let polledChildren = 32

  /// Waits for the processes that the command left running and that we, as their subreaper, adopted.
  ///
  /// - Parameters:
  ///   - milliseconds: For how long, at least 0.
  ///   - daemon: The volume's; when it ends, so does the wait.
  ///   - notice: Called once, after a second, with those that are left.
  public func waitForChildren(
    milliseconds limit: Int, daemon: Int32, notice: ([LeftProcess]) -> Void
  ) -> ChildrenWait {
    defer { state.withLock { $0.signals.waitingEnded() } }
    let start = Deadline.now()
    let isAsked = state.withLock { $0.signals.isAskedToEnd }
    let deadline = Deadline(milliseconds: isAsked ? min(limit, Self.askedToEndMilliseconds) : limit)
    let daemonDescriptor = LinuxProcess.openProcess(daemon)
    defer { if let daemonDescriptor { close(daemonDescriptor) } }
    var isNoticed = false
    while true {
      reapEnded()
      func wait(_ end: ChildrenWait.End, _ left: [pid_t] = []) -> ChildrenWait {
        ChildrenWait(end: end, milliseconds: Deadline.now() - start, left: Self.look(at: left))
      }
      guard let children = ProcessTree.ownChildren() else { return wait(.unknown) }
      let left = state.withLock { state in children.filter { !state.strangers.contains($0) } }
      if left.isEmpty { return wait(.noneLeft) }
      if hasReaped(daemon) { return wait(.volumeEnded, left) }
      if let signal = state.withLock({ $0.signals.interruption }) { return wait(.interrupted(signal), left) }
      if deadline.hasPassed {
        let end = wait(.timeUp, left)
        // They may have ended just now; what they leave behind is ours by now.
        if !end.left.isEmpty { return end }
        continue
      }
      if !isNoticed, Deadline.now() - start > Self.noticeMilliseconds {
        isNoticed = true
        notice(Self.look(at: left))
      }
      let step = Deadline(milliseconds: min(Self.stepMilliseconds, Int(deadline.remaining)))
      let descriptors = left.prefix(Self.polledChildren).compactMap { LinuxProcess.openProcess($0) }
      _ = DescriptorIO.waitReadable(descriptors + (daemonDescriptor.map { [$0] } ?? []), until: step)
      for descriptor in descriptors { close(descriptor) }
    }
  }

  /// Ends processes, with SIGTERM and a second later with SIGKILL, and notes it. One that waits for the volume may end only
  /// when that does: `settle` waits for it.
  ///
  /// - Parameter all: Also those that do not hold the volume.
  public func end(_ processes: inout [LeftProcess], all: Bool) {
    for index in processes.indices where all || processes[index].holds?.isEmpty == false {
      processes[index].wasEnded = true
    }
    for (signal, next) in [(SIGTERM, SIGCONT), (SIGKILL, 0)] {
      for process in processes where process.wasEnded && !process.hasEnded {
        process.send(signal)
        // A stopped process does not see it before it goes on.
        if next != 0 { process.send(next) }
      }
      if settle(processes) { return }
    }
  }

  /// Waits for those that were told to end, a second at most.
  ///
  /// - Returns: Whether all of them have.
  @discardableResult
  public func settle(_ processes: [LeftProcess]) -> Bool {
    let deadline = Deadline(milliseconds: Self.endMilliseconds)
    while true {
      reapEnded()
      let waiting = processes.filter { $0.wasEnded && !$0.hasEnded }
      guard let first = waiting.first, !deadline.hasPassed else { return waiting.isEmpty }
      let step = Deadline(milliseconds: min(Self.stepMilliseconds, Int(deadline.remaining)))
      _ = DescriptorIO.waitReadable(first.descriptor.map { [$0.number] } ?? [], until: step)
    }
  }

  /// Our children and all below them. A descriptor is of the process that was found: as long as that lives nobody else has its
  /// pid, and what has that pid is looked up again below.
  private static func look(at children: [pid_t]) -> [LeftProcess] {
    let own = Set(children)
    return ProcessTree.descendants(of: children).compactMap { pid in
      // Nobody waits for our own children meanwhile; the pid of others could be a stranger's by now.
      guard let process = LeftProcess.look(pid) else { return nil }
      return (own.contains(pid) || isBelowUs(pid)) && !process.hasEnded ? process : nil
    }
  }

  private static func isBelowUs(_ pid: pid_t) -> Bool {
    var next = pid
    // LIMIT: a chain of pids that are reused while we follow it has no end.
    for _ in 0..<10_000 {
      guard let parent = ProcessTree.parent(of: next), parent > 0 else { return false }
      if parent == getpid() { return true }
      next = parent
    }
    return false
  }
}
