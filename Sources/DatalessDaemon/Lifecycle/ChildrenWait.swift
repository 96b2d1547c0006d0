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
  public var left: [RemainingProcess]
  /// How many more there are, for which there was no descriptor left.
  public var notLookedAt: Int
  /// Attempts that were under way for the command, though no process of it was left.
  public var attempts: Int
  /// Processes that the command did not start and that hold the volume; what they do is theirs.
  public var outsiders: [RemainingProcess] = []

  public init(
    end: End, milliseconds: Int64 = 0, left: [RemainingProcess] = [], notLookedAt: Int = 0, attempts: Int = 0
  ) {
    (self.end, self.milliseconds, self.left) = (end, milliseconds, left)
    (self.notLookedAt, self.attempts) = (notLookedAt, attempts)
  }

  /// Whether something may have gone on materializing after the wait, so that what was counted is not all.
  public var isCutShort: Bool { end != .noneLeft }

  /// All that were left.
  public var leftCount: Int { left.count + notLookedAt }
}

extension CommandRunner {
  fileprivate static let stepMilliseconds = 100
  /// Whoever has asked `run` to end, and ended the command by that, does not wait for the rest.
  private static let askedToEndMilliseconds = 1000
  private static let noticeMilliseconds: Int64 = 1000
  private static let endMilliseconds = 1000
  /// LIMIT: a chain of processes each of which ends as soon as it has started the next one has no end.
  private static let lateLooksMax = 1000
  /// Descriptors that are for everything else.
  private static let reservedDescriptors = 64
  /// LIMIT: processes that are looked at, with a descriptor each.
  private static let lookedAtMax = 16_384

  /// Waits for the processes that the command left running and that we, as their subreaper, adopted; then for attempts
  /// that it has begun.
  ///
  /// - Parameters:
  ///   - milliseconds: For how long, at least 0.
  ///   - daemon: The volume's; when it ends, so does the wait.
  ///   - attempts: How many attempts are under way for the command. Asked when no process is left.
  ///   - notice: Called once, after a second, with those that are left.
  public func waitForChildren(
    milliseconds limit: Int, daemon: Int32, attempts: () -> Int = { 0 }, notice: (ChildrenWait) -> Void
  ) -> ChildrenWait {
    defer { state.withLock { $0.signals.waitingEnded() } }
    let descriptors = min(DescriptorLimit.raise() - Self.reservedDescriptors, Self.lookedAtMax)
    let start = Deadline.now()
    let isAsked = state.withLock { $0.signals.isAskedToEnd }
    let deadline = Deadline(milliseconds: isAsked ? min(limit, Self.askedToEndMilliseconds) : limit)
    let daemonDescriptor = LinuxProcess.openProcess(daemon)
    defer { if let daemonDescriptor { close(daemonDescriptor) } }
    var children = OwnChildren(runner: self)
    var isNoticed = false
    var lateLooks = 0
    while true {
      func wait(_ end: ChildrenWait.End, left: [pid_t] = [], underWay: Int = 0) -> ChildrenWait {
        var wait = Self.look(at: left, atMost: descriptors)
        (wait.end, wait.milliseconds, wait.attempts) = (end, Deadline.now() - start, underWay)
        return wait
      }
      guard let left = children.left() else { return wait(.unknown) }
      let underWay = left.isEmpty ? attempts() : 0
      if left.isEmpty, underWay == 0 { return wait(.noneLeft) }
      if hasReaped(daemon) { return wait(.volumeEnded, left: left, underWay: underWay) }
      if let signal = state.withLock({ $0.signals.interruption }) {
        return wait(.interrupted(signal), left: left, underWay: underWay)
      }
      if deadline.hasPassed {
        let end = wait(.timeUp, left: left, underWay: underWay)
        lateLooks += 1
        // They may have ended just now; what they leave behind is ours by now.
        if end.leftCount > 0 || left.isEmpty || lateLooks > Self.lateLooksMax { return end }
      }
      if !isNoticed, Deadline.now() - start > Self.noticeMilliseconds {
        isNoticed = true
        notice(wait(.timeUp, left: left, underWay: underWay))
      }
      let step = Deadline(milliseconds: min(Self.stepMilliseconds, Int(deadline.remaining)))
      children.pause(left, orUntilEndOf: daemonDescriptor, until: step)
    }
  }

  /// Ends processes, with SIGTERM and a second later with SIGKILL, and notes it. One that waits for the volume may end
  /// only when that does.
  ///
  /// - Parameter all: Also those that do not hold the volume.
  public func end(_ processes: inout [RemainingProcess], all: Bool) {
    let chosen = processes.indices.filter { all || processes[$0].holds?.isEmpty == false }
    for signal in [SIGTERM, SIGKILL] {
      for index in chosen where !processes[index].hasEnded { processes[index].end(by: signal) }
      if waitForEnd(of: processes) { return }
    }
  }

  /// Waits for those that were told to end, a second at most.
  ///
  /// - Returns: Whether all of them have.
  @discardableResult
  public func waitForEnd(of processes: [RemainingProcess]) -> Bool {
    let deadline = Deadline(milliseconds: Self.endMilliseconds)
    while true {
      reapEnded()
      let waiting = processes.filter { $0.wasEnded && !$0.hasEnded }
      guard let first = waiting.first, !deadline.hasPassed else { return waiting.isEmpty }
      let step = Deadline(milliseconds: min(Self.stepMilliseconds, Int(deadline.remaining)))
      _ = DescriptorIO.waitReadable(first.descriptor.map { [$0.number] } ?? [], until: step)
    }
  }

  /// Our children and all below them. A descriptor is of the process that was found: as long as that lives nobody else
  /// has its pid, and what has that pid is looked up again below.
  private static func look(at children: [pid_t], atMost limit: Int) -> ChildrenWait {
    let own = Set(children)
    let all = ProcessTree.descendants(of: children)
    let left = all.prefix(max(limit, 0)).compactMap { pid -> RemainingProcess? in
      // Nobody waits for our own children meanwhile; the pid of others could be a stranger's by now.
      guard let process = RemainingProcess.look(pid) else { return nil }
      return (own.contains(pid) || ProcessTree.isBelowUs(pid)) && !process.hasEnded ? process : nil
    }
    return ChildrenWait(end: .timeUp, left: left, notLookedAt: max(all.count - max(limit, 0), 0))
  }
}

/// The children that the command left us.
private struct OwnChildren {
  let runner: CommandRunner
  /// Children that have ended and that we do not get to know of: a debugger does, and keeps them as long as it likes.
  /// They use nothing, and what they left behind is ours already.
  private var kept: Set<pid_t> = []
  /// Polled at once. The wait ends with the last child, so any of them will do to wait for.
  private static let polledMax = 32

  init(runner: CommandRunner) { self.runner = runner }

  /// Those that have not ended; nil when /proc cannot tell.
  mutating func left() -> [pid_t]? {
    kept.subtract(runner.reapEnded())
    guard let children = ProcessTree.ownChildren() else { return nil }
    let strangers = runner.state.withLock { $0.strangers }
    return children.filter { !strangers.contains($0) && !kept.contains($0) }
  }

  /// Waits until one of them, or the daemon, ends.
  mutating func pause(_ left: [pid_t], orUntilEndOf daemon: CInt?, until step: Deadline) {
    var opened: [CInt: pid_t] = [:]
    for pid in left.prefix(Self.polledMax) {
      if let descriptor = LinuxProcess.openProcess(pid) { opened[descriptor] = pid }
    }
    defer { for descriptor in opened.keys { close(descriptor) } }
    let ended = DescriptorIO.waitReadable(Array(opened.keys), until: Deadline(milliseconds: 0))
    guard ended.isEmpty else {
      // Whoever can be reaped is; of the others nothing more will come, and their descriptors would wake us for ever.
      let reaped = runner.reapEnded()
      kept.formUnion(ended.compactMap { opened[$0] })
      kept.subtract(reaped)
      return
    }
    // Where the kernel gives no descriptors this is a sleep.
    _ = DescriptorIO.waitReadable(Array(opened.keys) + (daemon.map { [$0] } ?? []), until: step)
  }
}
