import DatalessControl
import TestSupport
import Testing

@testable import DatalessCommands

/// What `dataless top` shows, and what keys do to it.
@Suite struct TopTests {
  private static func waiter(_ pid: Int32, _ comm: String, _ blocked: Int64, main: Bool = true) -> InFlightWaiter {
    InFlightWaiter(
      pid: pid, tid: main ? pid : pid + 1, mainThread: main, comm: comm, exe: Array("/usr/bin/\(comm)".utf8),
      trigger: "read", blockedNanoseconds: blocked)
  }

  private static func status(
    at uptime: Int64, files: Int64 = 0, bytes: Int64 = 0, _ waiters: [(path: [UInt8], waiter: InFlightWaiter)]
  ) -> VolumeStatus {
    guard var status = WireSamples.all["VolumeStatus"]?.full as? VolumeStatus else { fatalError("no sample") }
    status.uptimeNanoseconds = uptime
    status.materialized = MaterializedCounts(files: files, directories: 0, bytes: bytes, failures: 0, refusals: 0)
    status.access = nil
    status.requestsReachingTheVolume = ["read": files &* 10]
    status.inFlight = waiters.enumerated().map { index, entry in
      InFlightAttempt(
        attempt: UInt64(index + 1), path: entry.path, kind: "file", stage: "held", ageNanoseconds: 1, waiterCount: 1,
        waiters: [entry.waiter])
    }
    return status
  }

  private static let three: [(path: [UInt8], waiter: InFlightWaiter)] = [
    (Array("b/photo.jpg".utf8), waiter(10, "viewer", 5_000_000)),
    (Array("a/\u{1b}[31mred".utf8), waiter(20, "cat", 9_000_000, main: false)),
    ([0x63, 0xff], waiter(30, "zsh", 1_000_000)),
  ]

  @Test func threadsHaveTheirNames() throws {
    var waiters = Self.three
    waiters[1].waiter.threadName = "thumb\u{1b}[2J"
    var view = TopView(order: .blocked, filter: "cat")
    view.show(TopSample(Self.status(at: 1_000_000_000, waiters), stacks: nil, before: nil))
    let row = try #require(view.lines(width: 0, height: 0).first { $0.contains("cat[20]") })
    #expect(row.contains(#" 21 thumb\x1b[2J "#), "\(row)")
  }

  private static func view(_ order: TopView.Order = .blocked, filter: String = "") -> TopView {
    var view = TopView(order: order, filter: filter)
    view.show(TopSample(status(at: 1_000_000_000, three), stacks: nil, before: nil))
    return view
  }

  private static func pids(_ view: TopView) -> [Int32] { view.callers.map(\.waiter.pid) }

  private static func press(_ keys: String, _ view: inout TopView) -> [TopView.Effect] {
    keys.utf8.map { view.key($0) }
  }

  @Test func callersAreSortedAndFilteredByKeys() {
    var view = Self.view()
    #expect(Self.pids(view) == [20, 10, 30])
    _ = Self.press("r", &view)
    #expect(Self.pids(view) == [30, 10, 20])
    _ = Self.press("rp", &view)
    #expect(Self.pids(view) == [20, 10, 30])
    _ = Self.press("f", &view)
    #expect(Self.pids(view) == [20, 10, 30])
    _ = Self.press("s", &view)
    #expect(view.order == .blocked)
    #expect(Self.press("/JPX", &view).allSatisfy { $0 == .redraw })
    #expect(Self.pids(view) == [20, 10, 30], "not before it is entered")
    _ = Self.press("\u{7f}G\r", &view)
    #expect(view.filter == "JPG" && Self.pids(view) == [10])
    _ = Self.press("/q\u{1b}", &view)
    #expect(view.filter == "JPG", "given up")
    #expect(Self.press("q", &view) == [.quit])
  }

  @Test func otherKeysScrollPauseAndAskForStacks() {
    var view = Self.view()
    #expect(Self.press("\u{1b}[B\u{1b}[6~", &view).last == .redraw && view.offset == 11)
    _ = Self.press("\u{1b}[5~k", &view)
    #expect(view.offset == 0)
    #expect(Self.press("t", &view) == [.refresh] && view.showsStacks)
    #expect(Self.press("  ", &view) == [.redraw, .refresh] && !view.isPaused)
  }

  /// A pasted file, a terminal that answers: nothing of it ends or confuses what follows.
  @Test(arguments: TestSeed.seeds) func anyBytesAreTaken(seed: UInt64) {
    var random = TestRandom(seed: seed)
    var view = Self.view()
    for _ in 0..<20_000 {
      _ = view.key(random.oneIn(4) ? 0x1b : random.byte())
      #expect(view.offset >= 0 && (view.typed?.count ?? 0) <= 256 && view.filter.utf8.count <= 1_024)
    }
    for line in view.lines(width: 80, height: 24) { #expect(!line.unicodeScalars.contains { $0.value < 0x20 }) }
  }

  @Test func everythingPrintedIsEscapedAndFits() {
    let view = Self.view(filter: "\u{1b}]0;x\u{7}")
    for line in Self.view().lines(width: 0, height: 0) + view.lines(width: 0, height: 0) {
      #expect(!line.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7f }, "\(line)")
    }
    #expect(Self.view().lines(width: 0, height: 0).contains { $0.contains(#"a/\x1b[31mred"#) })
    #expect(Self.view().lines(width: 0, height: 0).contains { $0.hasSuffix(#"c\xff"#) })
    for (width, height) in [(1, 1), (20, 4), (80, 6), (200, 60)] {
      let lines = Self.view().lines(width: width, height: height)
      #expect(lines.count <= height && lines.allSatisfy { $0.count <= width })
    }
  }

  @Test func whoIsLeftOutWaitsAllTheSame() {
    #expect(Self.view(filter: "zzz").lines(width: 0, height: 0).last == "nobody of these waits")
    var view = TopView(filter: "zzz")
    var idle = Self.status(at: 1, [])
    idle.coordination = nil
    view.show(TopSample(idle, stacks: nil, before: nil))
    #expect(view.lines(width: 0, height: 0).last == "nobody waits")
    #expect(StackCommand.nobody(of: nil, others: 0) == "nobody waits")
    #expect(StackCommand.nobody(of: 7, others: 0) == "nobody of process 7 waits, and nobody else")
    #expect(StackCommand.nobody(of: 7, others: 1) == "nobody of process 7 waits; 1 other does")
    #expect(StackCommand.nobody(of: 7, others: 4) == "nobody of process 7 waits; 4 others do")
  }

  @Test func ratesAreThoseSinceTheLookBefore() throws {
    let before = Self.status(at: 1_000_000_000, files: 10, bytes: 1_000, [])
    let sample = TopSample(
      Self.status(at: 3_000_000_000, files: 14, bytes: 5_000, Self.three), stacks: nil, before: before)
    #expect(sample.answer.perSecond == TopRates(files: 2, directories: 0, bytes: 2_000, failures: 0, requests: 20))
    #expect(sample.answer.waiting == 3 && sample.answer.attempts == 3)
    #expect(TopSample(before, stacks: nil, before: nil).answer.perSecond == nil)
    #expect(TopSample(before, stacks: nil, before: before).answer.perSecond == nil, "no time has passed")
    var other = before
    other.session = "000000000000"
    #expect(TopSample(Self.status(at: 5_000_000_000, []), stacks: nil, before: other).answer.perSecond == nil)
    // A daemon that tells anything.
    let wild = TopSample(
      Self.status(at: .max, files: .max, bytes: .max, []), stacks: nil,
      before: Self.status(at: .max - 1, files: .min, bytes: .min, []))
    #expect(!wild.head.isEmpty)
  }

  /// What an intent waits for is told once, with the intent, and not as a thread of its process.
  @Test func intentsThatWaitAreShownAndBlockNobody() {
    var waiter = Self.waiter(10, "viewer", 5_000_000)
    waiter.trigger = "coordinate"
    var status = Self.status(at: 1, [(Array("a".utf8), waiter)])
    func intent(_ number: UInt64, _ stage: String, _ path: String, waitsFor: [UInt64]? = nil) -> CoordinatedIntent {
      CoordinatedIntent(
        number: number, stage: stage, reads: 1, writes: 0, path: Array(path.utf8), ageNanoseconds: 5_000_000,
        waitsFor: waitsFor, waitsAt: waitsFor.map { _ in Array("b".utf8) },
        process: WireProcess(pid: Int32(number), comm: "viewer"))
    }
    status.coordination = CoordinationStatus(
      waiting: 1, granted: 1, presenters: 0,
      totals: CoordinationTotals(granted: 1, refused: 0, deadlocks: 0, takenAway: 0),
      intents: [
        intent(8, "granted", "b"), intent(9, "waiting", "b/\u{1b}x", waitsFor: [8]), intent(10, "preparing", "a"),
      ])
    var view = TopView()
    view.show(TopSample(status, stacks: nil, before: nil))
    let lines = view.lines(width: 0, height: 0)
    #expect(view.callers.isEmpty && view.sample?.answer.waiting == 0)
    #expect(lines[0].hasSuffix("0 callers blocked, 1 attempt at a time, 2 intents waiting"), "\(lines[0])")
    let behind = #"viewer[9] (intent 9), to read b/\x1bx, waiting for 5.0 ms, at b behind viewer[8] (intent 8)"#
    #expect(lines.contains(behind), "\(lines)")
    #expect(lines.contains { $0.hasPrefix("viewer[10] (intent 10), to read a, preparing for") })
    #expect(!lines.contains("nobody waits"))
    // The daemon lists 64 of those that it counts.
    status.coordination?.waiting = 70
    status.coordination?.preparing = 5
    #expect(TopSample(status, stacks: nil, before: nil).waitingIntents == 75)
    status.coordination?.waiting = .max
    status.coordination?.preparing = .max
    #expect(TopSample(status, stacks: nil, before: nil).waitingIntents == .max)
    _ = Self.press("/B/\r", &view)
    #expect(view.intents.map(\.intent.number) == [9])
    #expect(view.lines(width: 0, height: 0).contains("only B/: 1 of 2"))
  }

  /// `stack --pid` adds intents itself.
  @Test func whatIntentsWaitForIsNoBlockedCaller() {
    var waiter = Self.waiter(40, "viewer", 5_000_000)
    waiter.trigger = "coordinate"
    var status = Self.status(at: 1, Self.three + [(path: Array("d".utf8), waiter: waiter)])
    #expect(status.blockedCallers == 3)
    // Of those beyond the first 64 of an attempt nobody knows: they count.
    status.inFlight[3].waiterCount = 70
    #expect(status.blockedCallers == 3 + 69)
    status.inFlight[3].waiterCount = .min
    #expect(status.blockedCallers == 3)
  }

  @Test func stacksJoinTheirCallers() throws {
    let status = Self.status(at: 1, Self.three)
    let stack = CallerStack(
      isComplete: true, end: "outermost",
      frames: [
        CallerFrame(
          module: Array("/usr/bin/viewer".utf8), offset: 1, symbol: Array("draw".utf8), file: Array("v.c".utf8),
          line: 7,
          foundBy: "tables")
      ])
    let taken = BlockedCaller(
      attempt: 1, path: Self.three[0].path, kind: "file", waiter: Self.three[0].waiter, stack: stack)
    let gone = BlockedCaller(attempt: 9, path: [], kind: "file", waiter: Self.three[1].waiter, outcome: "dropped")
    var view = TopView(showsStacks: true)
    view.show(TopSample(status, stacks: [taken, gone], before: nil))
    let lines = view.lines(width: 0, height: 0)
    #expect(lines.contains { $0.contains("draw (v.c:7)") })
    #expect(lines.count { $0.contains("no stack: ") } == 2)
  }

  /// A key asks for stacks when the look that is shown has none.
  @Test func untilStacksAreThereNothingIsSaidOfThem() {
    var view = Self.view()
    #expect(Self.press("t", &view) == [.refresh])
    let before = view.lines(width: 80, height: 24)
    #expect(before.count { $0 == "           ..." } == 3 && !before.contains { $0.contains("no stack") }, "\(before)")
    view.show(TopSample(Self.status(at: 1, Self.three), stacks: [], before: nil))
    let after = view.lines(width: 80, height: 24)
    #expect(after.count { $0.contains("no stack: ") } == 3 && !after.contains("           ..."), "\(after)")
  }
}
