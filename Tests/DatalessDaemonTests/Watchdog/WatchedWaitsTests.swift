import DatalessCore
import SystemPackage
import TestSupport
import Testing

@testable import DatalessDaemon

extension WatchedWaits {
  fileprivate mutating func begin(
    attempt: UInt64, caller: Caller, trigger: Trigger, at now: MonotonicTime
  ) -> MonotonicTime? {
    begin(.attempt(attempt, trigger), caller: caller, at: now)
  }

  @discardableResult
  fileprivate mutating func end(
    attempt: UInt64, threadID: Int32, outcome: Outcome = .ok, at now: MonotonicTime = MonotonicTime(nanoseconds: 0)
  ) -> Step? {
    end(.attempt(attempt, .read), threadID: threadID, outcome: outcome, at: now)
  }
}

extension WatchedWaits.Wait {
  fileprivate var attempt: UInt64 {
    switch cause {
    case .attempt(let number, _), .access(let number, _): number
    }
  }
}

/// Which main threads have waited for too long, and what follows, by a clock of the test's.
@Suite struct WatchedWaitsTests {
  private static func caller(_ pid: Int32, thread: Int32? = nil, isMain: Bool = true) -> Caller {
    Caller(
      process: ProcessID(rawValue: UInt32(pid)), threadID: thread ?? pid, pid: pid, isMainThread: isMain, uid: 0, gid: 0
    )
  }

  private static func at(_ milliseconds: Int64) -> MonotonicTime {
    MonotonicTime(nanoseconds: milliseconds * 1_000_000)
  }

  private static func policy(_ milliseconds: Int64, _ action: WatchdogPolicy.Action = .abort) -> WatchdogPolicy {
    WatchdogPolicy(mainThread: .milliseconds(milliseconds), action: action)
  }

  private static func key(_ attempt: UInt64, _ thread: Int32) -> WatchedWaits.Key {
    WatchedWaits.Key(cause: .attempt(attempt, .read), threadID: thread)
  }

  /// What each step is, and of whose wait.
  private static func names(_ steps: [WatchedWaits.Step]) -> [String] {
    steps.map { step in
      switch step {
      case .expired(let wait): "expired \(wait.attempt)"
      case .signal(let wait): "signal \(wait.attempt)"
      case .spared(let wait): "spared \(wait.attempt)"
      case .survived(let wait): "survived \(wait.attempt)"
      }
    }
  }

  @Test func aWaitIsToldWhenItsTimePassesAndOnlyOnce() {
    var waits = WatchedWaits(policy: Self.policy(1_000))
    waits.beginAttempt(7, path: Array("a".utf8))
    let planned = waits.begin(attempt: 7, caller: Self.caller(10), trigger: .read, at: Self.at(0))
    #expect(planned == Self.at(1_000))
    let (steps, next) = waits.look(planned: Self.at(1_000), at: Self.at(1_000))
    #expect(Self.names(steps) == ["expired 7"] && next == nil)
    guard case .expired(let wait)? = steps.first else { return }
    #expect(wait.path == Array("a".utf8) && wait.since == Self.at(0))
    #expect(waits.isBlocked(wait.key))
    #expect(waits.look(planned: Self.at(1_000), at: Self.at(9_000)).steps == [])
  }

  @Test func aWaitThatEndsInTimeIsNeverToldOf() {
    var waits = WatchedWaits(policy: Self.policy(1_000))
    _ = waits.begin(attempt: 1, caller: Self.caller(10), trigger: .read, at: Self.at(0))
    waits.end(attempt: 1, threadID: 10)
    #expect(!waits.isBlocked(Self.key(1, 10)))
    #expect(waits.look(planned: Self.at(1_000), at: Self.at(2_000)).steps == [])
  }

  /// Other threads, callers of other pid namespaces, and `dataless materialize` are nobody's main thread.
  @Test func onlyMainThreadsAreWatched() {
    var waits = WatchedWaits(policy: Self.policy(1_000))
    #expect(
      waits.begin(attempt: 1, caller: Self.caller(10, thread: 11, isMain: false), trigger: .read, at: Self.at(0)) == nil
    )
    #expect(waits.begin(attempt: 1, caller: Self.caller(0), trigger: .read, at: Self.at(0)) == nil)
    #expect(waits.begin(attempt: 1, caller: Self.caller(10), trigger: .command, at: Self.at(0)) == nil)
    #expect(waits.counts.waits == 0)
    waits.setPolicy(nil)
    #expect(waits.begin(attempt: 1, caller: Self.caller(10), trigger: .read, at: Self.at(0)) == nil)
  }

  /// They hang just as well, and are no attempts of the same number.
  @Test func delayedCallsAreWatched() {
    var waits = WatchedWaits(policy: Self.policy(1_000))
    waits.beginAttempt(7, path: Array("a".utf8))
    let path = Array("b".utf8)
    #expect(waits.begin(.access(7, .getattr), caller: Self.caller(10), path: path, at: Self.at(0)) == Self.at(1_000))
    waits.end(attempt: 7, threadID: 10)
    let (steps, _) = waits.look(planned: Self.at(1_000), at: Self.at(1_000))
    guard case .expired(let wait)? = steps.first else {
      Issue.record("\(steps)")
      return
    }
    #expect(wait.cause == .access(7, .getattr) && wait.path == path)
    #expect(waits.end(.access(7, .getattr), threadID: 10, outcome: .ok, at: Self.at(1_000)) == nil)
    #expect(!waits.isBlocked(wait.key) && waits.counts.waits == 0)
  }

  @Test func theSignalFollowsTheStackAndTheSurvivorIsTold() {
    var waits = WatchedWaits(policy: Self.policy(1_000))
    _ = waits.begin(attempt: 1, caller: Self.caller(10), trigger: .read, at: Self.at(0))
    _ = waits.look(planned: Self.at(1_000), at: Self.at(1_000))
    #expect(waits.awaitStack(Self.key(1, 10), at: Self.at(1_000)) == Self.at(11_000))
    #expect(waits.stackTaken(Self.key(1, 10), at: Self.at(1_050)) == Self.at(1_050))
    #expect(Self.names(waits.look(planned: Self.at(1_050), at: Self.at(1_051)).steps) == ["signal 1"])
    #expect(waits.signalled(Self.key(1, 10), at: Self.at(1_052)) == Self.at(2_052))
    #expect(Self.names(waits.look(planned: Self.at(2_052), at: Self.at(2_052)).steps) == ["survived 1"])
    for time: Int64 in [2_052, 11_000] {
      #expect(waits.look(planned: Self.at(time), at: Self.at(19_000)).steps == [], "nothing comes twice")
    }
  }

  /// Who has content after its signal has survived it, if the signal would have been noticed by then.
  @Test(
    arguments: [
      (.ok, 500, "survived 1"), (.failed(.ioError), 500, "survived 1"), (.failed(.interrupted), 500, nil),
      (.cancelled, 500, nil), (.ok, 249, nil), (.ok, 250, "survived 1"),
    ] as [(Outcome, Int64, String?)])
  func aWaitThatItsSignalDoesNotEndIsSurvived(outcome: Outcome, after: Int64, told: String?) {
    var waits = WatchedWaits(policy: Self.policy(1_000))
    _ = waits.begin(attempt: 1, caller: Self.caller(10), trigger: .read, at: Self.at(0))
    _ = waits.look(planned: Self.at(1_000), at: Self.at(1_000))
    _ = waits.awaitStack(Self.key(1, 10), at: Self.at(1_000))
    _ = waits.stackTaken(Self.key(1, 10), at: Self.at(1_050))
    _ = waits.look(planned: Self.at(1_050), at: Self.at(1_050))
    _ = waits.signalled(Self.key(1, 10), at: Self.at(1_100))
    let step = waits.end(attempt: 1, threadID: 10, outcome: outcome, at: Self.at(1_100 + after))
    #expect(step.map { Self.names([$0]) } == told.map { [$0] })
    #expect(waits.look(planned: Self.at(2_100), at: Self.at(2_100)).steps == [], "nothing comes twice")
  }

  @Test func aStackThatDoesNotComeKeepsNoSignal() {
    var waits = WatchedWaits(policy: Self.policy(1_000))
    _ = waits.begin(attempt: 1, caller: Self.caller(10), trigger: .read, at: Self.at(0))
    _ = waits.look(planned: Self.at(1_000), at: Self.at(1_000))
    _ = waits.awaitStack(Self.key(1, 10), at: Self.at(1_000))
    #expect(Self.names(waits.look(planned: Self.at(11_000), at: Self.at(11_000)).steps) == ["signal 1"])
    #expect(waits.stackTaken(Self.key(1, 10), at: Self.at(11_500)) == nil, "it comes too late to ask for another")
  }

  @Test func whoGoesOnBeforeItsSignalGetsNone() {
    var waits = WatchedWaits(policy: Self.policy(1_000))
    _ = waits.begin(attempt: 1, caller: Self.caller(10), trigger: .read, at: Self.at(0))
    _ = waits.look(planned: Self.at(1_000), at: Self.at(1_000))
    _ = waits.awaitStack(Self.key(1, 10), at: Self.at(1_000))
    let step = waits.end(attempt: 1, threadID: 10)
    #expect(step.map { Self.names([$0]) } == ["spared 1"], "the log says that there is none")
    #expect(waits.stackTaken(Self.key(1, 10), at: Self.at(1_050)) == nil)
    #expect(waits.look(planned: Self.at(11_000), at: Self.at(11_000)).steps == [])
    #expect(waits.signalled(Self.key(1, 10), at: Self.at(2_000)) == nil)
  }

  /// A shorter limit comes into force while a longer one is watched: its look comes first, and no chain of looks
  /// doubles.
  @Test func looksArePlannedOnce() {
    var waits = WatchedWaits(policy: Self.policy(10_000))
    #expect(waits.begin(attempt: 1, caller: Self.caller(10), trigger: .read, at: Self.at(0)) == Self.at(10_000))
    #expect(waits.begin(attempt: 2, caller: Self.caller(11), trigger: .read, at: Self.at(1)) == nil)
    waits.setPolicy(Self.policy(100))
    #expect(waits.begin(attempt: 3, caller: Self.caller(12), trigger: .read, at: Self.at(2)) == Self.at(102))
    let (steps, next) = waits.look(planned: Self.at(102), at: Self.at(102))
    #expect(Self.names(steps) == ["expired 3"] && next == Self.at(10_000))
    #expect(waits.look(planned: Self.at(10_000), at: Self.at(10_000)).next == Self.at(10_001))
    #expect(waits.look(planned: Self.at(10_000), at: Self.at(10_000)) == ([], nil), "the other one of 10,000")
    #expect(Self.names(waits.look(planned: Self.at(10_001), at: Self.at(10_001)).steps) == ["expired 2"])
  }

  @Test func manyThatExpireTogetherComeAPieceAtATime() {
    var waits = WatchedWaits(policy: Self.policy(1_000))
    for pid in Int32(1)...200 { _ = waits.begin(attempt: 1, caller: Self.caller(pid), trigger: .read, at: Self.at(0)) }
    var told = 0
    var next: MonotonicTime? = Self.at(1_000)
    while let time = next {
      let (steps, later) = waits.look(planned: time, at: Self.at(1_000))
      #expect(steps.count <= WatchedWaits.batch)
      told += steps.count
      next = later
    }
    #expect(told == 200)
  }

  @Test func whatEndedLeavesNoPlace() {
    var waits = WatchedWaits(policy: Self.policy(1_000_000))
    for attempt in UInt64(1)...20_000 {
      waits.beginAttempt(attempt, path: [])
      _ = waits.begin(attempt: attempt, caller: Self.caller(10), trigger: .read, at: Self.at(0))
      waits.end(attempt: attempt, threadID: 10)
      waits.endAttempt(attempt)
    }
    #expect(waits.counts.waits == 0 && waits.counts.places <= 1_100)
  }

  /// Random waits of some threads against a list: each that lasts as long as it may is told of once, and no other.
  @Test(arguments: TestSeed.seeds) func eachThatLastsIsToldOfOnce(seed: UInt64) {
    var random = TestRandom(seed: seed)
    var waits = WatchedWaits(policy: Self.policy(50, .log))
    var begun: [(attempt: UInt64, pid: Int32, since: Int64)] = []
    var (told, expected): ([UInt64], [UInt64]) = ([], [])
    var planned: Set<Int64> = []
    var attempt: UInt64 = 0
    for now in Int64(0)..<3_000 {
      for wait in begun where wait.since + 50 == now { expected.append(wait.attempt) }
      for time in planned.sorted() where time <= now * 1_000_000 {
        planned.remove(time)
        let (steps, next) = waits.look(planned: MonotonicTime(nanoseconds: time), at: Self.at(now))
        for case .expired(let wait) in steps { told.append(wait.attempt) }
        if let next { planned.insert(next.nanoseconds) }
      }
      if random.oneIn(3), begun.count < 8 {
        attempt += 1
        let pid = Int32(attempt % 1_000) + 2
        begun.append((attempt, pid, now))
        let next = waits.begin(attempt: attempt, caller: Self.caller(pid), trigger: .read, at: Self.at(now))
        if let next { planned.insert(next.nanoseconds) }
      }
      if random.oneIn(6), !begun.isEmpty {
        let wait = begun.remove(at: random.below(begun.count))
        waits.end(attempt: wait.attempt, threadID: wait.pid)
      }
    }
    #expect(told.sorted() == expected.sorted(), "seed \(seed)")
    #expect(waits.counts.waits == begun.count)
  }
}
