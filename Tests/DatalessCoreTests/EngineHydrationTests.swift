import DatalessCore
import Synchronization
import SystemPackage
import Testing

/// Content that comes in parts: what is brought in, who is answered when, and what stays.
@Suite struct EngineHydrationTests {
  private func fixture(
    _ kind: StoreKind, _ size: Int, _ hydration: Hydration, rules: [Rule] = [],
    _ edit: (inout Simulation) -> Void = { _ in }
  ) -> EngineFixture {
    var configuration = EngineConfiguration()
    configuration.simulation.hydration = hydration
    configuration.simulation.rules = RuleSet(rules)
    edit(&configuration.simulation)
    return EngineFixture(ScriptedStore(["file": size]), configuration, kind: kind)
  }

  private func read(_ fixture: EngineFixture, _ offset: Int64, _ length: Int64, waiter: WaiterID? = nil) -> Answer {
    fixture.trigger(
      fixture.node("file"),
      TriggerRequest(trigger: .read, caller: EngineFixture.caller(), offset: offset, length: length), waiter: waiter)
  }

  private func state(_ fixture: EngineFixture) -> String? { fixture.engine.describe(fixture.node("file"))?.state }

  @Test(arguments: StoreKind.allCases) func partialBringsInOnlyWhatWasAskedFor(_ kind: StoreKind) throws {
    let fixture = fixture(kind, 20_000, .partial)
    let answer = read(fixture, 5_000, 100)
    fixture.lane.runAll()
    #expect(answer.isReady)
    #expect(state(fixture) == "partial")
    #expect(fixture.engine.attributes(of: fixture.node("file"))?.attributes.blocks == 8)
    #expect(fixture.engine.counts.filesPartial == 1)
    #expect(fixture.events.started.last?.range == 4096..<8192)
    #expect(fixture.events.finished.last?.bytes == 4096)
    #expect(fixture.bytes("file", 4_500, 2_000) == fixture.expected(4_500, 2_000))
    #expect(fixture.bytes("file", 4_000, 200) == nil, "not all of it is there")
    // What is there costs no attempt, and the file is resident with its last part.
    #expect(read(fixture, 4_096, 4_096).isReady)
    let rest = read(fixture, 0, 20_000)
    fixture.lane.runAll()
    #expect(rest.isReady)
    #expect(fixture.events.finished.map(\.bytes).suffix(2) == [4096, 20_000 - 4096])
    #expect(state(fixture) == "resident")
    #expect(fixture.bytes("file", 0, 20_000) == fixture.expected(0, 20_000))
    #expect(fixture.content.items == 1 && fixture.content.openWriters == 0)
    #expect(fixture.engine.totals.files == 1 && fixture.engine.totals.bytes == 20_000)
  }

  @Test(arguments: StoreKind.allCases) func partsOfOneFileComeAtTheSameTimeAndTheSamePartOnce(_ kind: StoreKind) throws
  {
    let fixture = fixture(kind, 100_000, .partial) { $0.latency = LatencyModel(.fixed(5_000_000)) }
    let answers = [(0, 100), (50_000, 100), (50_010, 20), (99_999, 10)].map { read(fixture, $0.0, $0.1) }
    #expect(fixture.engine.attemptsInFlight().count == 3)
    fixture.timer.advance(milliseconds: 5)
    fixture.lane.runAll()
    #expect(answers.allSatisfy { $0.isReady })
    #expect(
      fixture.events.finished.filter { $0.kind == .file }.map(\.bytes).sorted() == [100_000 - 98_304, 4096, 4096])
    #expect(state(fixture) == "partial")
    #expect(fixture.content.items == 1)
  }

  /// Who opens, changes or links a file asks again until it is resident: answered by its last part, which comes before
  /// that, such a caller would ask for ever, on the thread that is to make it resident.
  @Test(arguments: [Hydration.progressive, .partial]) func whoNeedsTheWholeFileIsAnsweredWhenItIsResident(
    _ hydration: Hydration
  ) {
    let fixture = fixture(.blocking, 200_000, hydration) { $0.bandwidth = 1_000_000 }
    let node = fixture.node("file")
    let states = Mutex<[String]>([])
    @Sendable func ask(_ request: TriggerRequest, _ name: String, then: @escaping @Sendable () -> Void = {}) {
      let engine = fixture.engine
      let admission = engine.materialize(node, request, waiter: fixture.makeWaiter()) { _ in
        states.withLock { $0.append("\(name) \(engine.describe(node)?.state ?? "")") }
        then()
      }
      if case .ready = admission { states.withLock { $0.append("\(name) at once") } }
    }
    let whole = TriggerRequest(trigger: .open, caller: EngineFixture.caller())
    ask(whole, "whole")
    let last = TriggerRequest(trigger: .read, caller: EngineFixture.caller(), offset: 199_000, length: 1_000)
    ask(last, "part") { ask(whole, "then") }
    for _ in 0..<400 {
      fixture.lane.runAll()
      fixture.timer.advance(milliseconds: 1)
    }
    let seen = states.withLock { $0 }
    #expect(seen.count == 3, "\(seen)")
    #expect(
      seen.filter { !$0.hasPrefix("part") }.allSatisfy { $0.hasSuffix(" resident") || $0 == "then at once" }, "\(seen)")
    if let part = seen.firstIndex(of: "part materializing") {
      #expect(seen[part...].contains("then resident"), "\(seen)")
    }
    #expect(state(fixture) == "resident")
  }

  @Test(arguments: StoreKind.allCases) func aReadBeyondTheEndOfAPartialFileEnds(_ kind: StoreKind) throws {
    let fixture = fixture(kind, 10_000, .partial)
    let answer = read(fixture, 10_000, 100)
    fixture.lane.runAll()
    #expect(answer.isReady)
    guard
      case .resident = fixture.engine.read(
        fixture.node("file"), handle: 0, offset: 10_000, length: 100, isDirect: true, threadID: 1)
    else {
      Issue.record("such a read would start attempts for ever")
      return
    }
  }

  @Test(arguments: StoreKind.allCases) func progressiveAnswersAsTheBytesArriveAndGoesOn(_ kind: StoreKind) throws {
    let fixture = fixture(kind, 200_000, .progressive) { $0.bandwidth = 1_000_000 }
    let (first, last) = (read(fixture, 0, 4096), read(fixture, 190_000, 100))
    fixture.lane.runAll()
    fixture.timer.advance(milliseconds: 20) { fixture.lane.runAll() }
    #expect(first.isReady && last.count == 0)
    #expect(state(fixture) == "materializing")
    #expect(fixture.bytes("file", 0, 20_000) == fixture.expected(0, 20_000))
    #expect(fixture.bytes("file", 0, 30_000) == nil)
    fixture.timer.advance(milliseconds: 170) { fixture.lane.runAll() }
    #expect(last.count == 0)
    fixture.timer.advance(milliseconds: 20) { fixture.lane.runAll() }
    #expect(last.isReady)
    #expect(state(fixture) == "resident")
    #expect(fixture.events.finished.last?.bytes == 200_000)
    #expect(fixture.events.finished.last?.waiterCount == 2)
  }

  @Test(arguments: StoreKind.allCases) func progressiveStartsWhereTheFirstCallerReads(_ kind: StoreKind) throws {
    let fixture = fixture(kind, 200_000, .progressive) { $0.bandwidth = 1_000_000 }
    let answer = read(fixture, 100_000, 100)
    fixture.lane.runAll()
    fixture.timer.advance(milliseconds: 20) { fixture.lane.runAll() }
    #expect(answer.isReady)
    // Nobody waits any more; it goes on all the same, and comes round.
    #expect(fixture.engine.attemptsInFlight().count == 1)
    fixture.timer.advance(milliseconds: 200) { fixture.lane.runAll() }
    #expect(state(fixture) == "resident")
    #expect(fixture.bytes("file", 0, 200_000) == fixture.expected(0, 200_000))
  }

  @Test(arguments: StoreKind.allCases) func progressiveWithoutAnAnswerIsCancelledWithItsLastWaiter(_ kind: StoreKind)
    throws
  {
    let fixture = fixture(kind, 200_000, .progressive) { $0.bandwidth = 1_000_000 }
    let waiter = fixture.makeWaiter()
    let answer = read(fixture, 0, 4096, waiter: waiter)
    fixture.lane.runAll()
    fixture.engine.leave(waiter, FSError(.interrupted, "a signal"))
    fixture.timer.advance(milliseconds: 300) { fixture.lane.runAll() }
    #expect(answer.errno == "EINTR")
    #expect(state(fixture) == "dataless")
    #expect(fixture.content.items == 0 && fixture.content.openWriters == 0)
  }

  @Test(arguments: [Hydration.progressive, .partial], StoreKind.allCases)
  func whatCameBeforeAFailureStaysAndOnlyTheRestIsFetched(hydration: Hydration, kind: StoreKind) throws {
    var rule = Rule(name: "half", match: RuleMatch(), effects: RuleEffects())
    rule.match.attempts = 1...1
    rule.match.kind = .file
    rule.effects.fault = Fault(.errno(.ioError), after: .fraction(0.5))
    let fixture = fixture(kind, 400_000, hydration, rules: [rule]) { $0.bandwidth = 10_000_000 }
    let whole = read(fixture, 0, 400_000)
    let early = hydration == .progressive ? read(fixture, 0, 100_000) : nil
    for _ in 0..<10 {
      fixture.lane.runAll()
      fixture.timer.advance(milliseconds: 20) { fixture.lane.runAll() }
    }
    #expect(whole.errno == "EIO")
    #expect(early?.isReady ?? true, "its bytes had come")
    #expect(fixture.events.finished.last?.rule == "half" && fixture.events.finished.last?.bytes == 200_000)
    #expect(state(fixture) == "partial")
    #expect(fixture.bytes("file", 0, 200_000) == fixture.expected(0, 200_000))
    let again = read(fixture, 0, 400_000)
    fixture.lane.runAll()
    fixture.timer.advance(milliseconds: 100) { fixture.lane.runAll() }
    #expect(again.isReady)
    #expect(fixture.events.finished.last?.bytes == 200_000)
    #expect(fixture.bytes("file", 0, 400_000) == fixture.expected(0, 400_000))
  }

  @Test(arguments: StoreKind.allCases) func aChangedSourceGivesAnErrorAndNeverBytesOfTwoVersions(_ kind: StoreKind)
    throws
  {
    let fixture = fixture(kind, 200_000, .progressive) { $0.bandwidth = 1_000_000 }
    let (first, last) = (read(fixture, 0, 4096), read(fixture, 190_000, 100))
    fixture.lane.runAll()
    fixture.timer.advance(milliseconds: 60) { fixture.lane.runAll() }
    fixture.store.edit("file") { item in
      item.attributes.modificationTime = Timestamp(seconds: 1_800_000_000, nanoseconds: 1)
      item.content = [UInt8](repeating: 0, count: 200_000)
    }
    fixture.timer.advance(milliseconds: 200) { fixture.lane.runAll() }
    #expect(first.isReady)
    #expect(last.errno == "ESTALE")
    #expect(state(fixture) == "partial")
    #expect(fixture.bytes("file", 0, 60_000) == fixture.expected(0, 60_000))
    #expect(fixture.content.openWriters == 0)
  }

  @Test(arguments: StoreKind.allCases) func aPartialFileIsEvictedAndItsSpaceIsFree(_ kind: StoreKind) throws {
    let fixture = fixture(kind, 20_000, .partial)
    _ = read(fixture, 0, 100)
    fixture.lane.runAll()
    let evicted = Counter()
    fixture.engine.evict(fixture.node("file"), by: "command") { result in
      if case .evicted(bytes: 4096, wasResident: true) = result { evicted.add() }
    }
    fixture.lane.runAll()
    #expect(evicted.value == 1)
    #expect(state(fixture) == "dataless")
    #expect(fixture.content.items == 0)
    #expect(fixture.engine.attributes(of: fixture.node("file"))?.attributes.blocks == 0)
  }

  /// The space of a transfer that was given up is another file's only when the transfer has ended.
  @Test func aTransferThatWasGivenUpWritesToNothingThatIsGone() throws {
    let fixture = fixture(.blocking, 10 << 20, .partial) { $0.giveUpAfter = 1_000_000 }
    let answer = read(fixture, 0, 10 << 20)
    // One step of several: it holds its share of the content.
    fixture.lane.runOne()
    fixture.timer.advance(milliseconds: 1)
    #expect(answer.errno == "ETIMEDOUT")
    #expect(state(fixture) == "partial")
    let refused = Counter()
    fixture.engine.evict(fixture.node("file"), by: "command") { result in
      if case .refused(let error) = result, error.errno == .resourceBusy { refused.add() }
    }
    #expect(refused.value == 1)
    fixture.lane.runAll()
    fixture.engine.evict(fixture.node("file"), by: "command") { _ in }
    fixture.lane.runAll()
    #expect(fixture.content.items == 0 && fixture.content.openWriters == 0)
  }

  /// What SOURCE says of a size may be anything: no sum of an offset and a length may be more than an offset can be.
  @Test(arguments: [Hydration.partial, .progressive], [nil, 100] as [Int64?])
  func aFileThatEndsAtTheLargestOffsetFailsAndTrapsNothing(hydration: Hydration, fault: Int64?) throws {
    var rule = Rule(name: "planned", match: RuleMatch(), effects: RuleEffects())
    rule.match.kind = .file
    rule.effects.fault = fault.map { Fault(.errno(.ioError), after: .bytes($0)) }
    for kind in StoreKind.allCases {
      let fixture = fixture(kind, 10, hydration, rules: rule.effects.fault == nil ? [] : [rule])
      fixture.store.edit("file") { $0.attributes.size = .max }
      let offsets: [Int64] = [.max - 1, .max - 4096, .max - 5_000_000, 4096]
      for offset in offsets {
        let answer = read(fixture, offset, 4096)
        fixture.lane.runAll()
        #expect(answer.errno == "ESTALE", "at \(offset): the source ends before")
      }
      #expect(state(fixture) == "dataless")
      #expect(fixture.content.items == 0 && fixture.content.openWriters == 0)
    }
  }

  @Test(arguments: StoreKind.allCases) func aRuleDecidesForItsFiles(_ kind: StoreKind) throws {
    var rule = Rule(name: "whole", match: RuleMatch(), effects: RuleEffects())
    rule.match.paths = [try #require(PathPattern(Array("file".utf8)))]
    rule.effects.hydration = .full
    let fixture = fixture(kind, 20_000, .partial, rules: [rule])
    _ = read(fixture, 0, 10)
    fixture.lane.runAll()
    #expect(state(fixture) == "resident")
    #expect(fixture.events.started.last?.hydration == nil && fixture.events.started.last?.rules == ["whole"])
  }

  @Test(arguments: StoreKind.allCases) func aFileThatIsPartlyThereIsCompletedByAFullAttempt(_ kind: StoreKind) throws {
    let fixture = fixture(kind, 20_000, .partial)
    _ = read(fixture, 0, 10)
    fixture.lane.runAll()
    var simulation = fixture.engine.simulation
    simulation.hydration = .full
    fixture.engine.apply(simulation, restartsClock: false)
    let answer = read(fixture, 10_000, 10)
    fixture.lane.runAll()
    #expect(answer.isReady)
    #expect(fixture.events.finished.last?.bytes == 15_904)
    #expect(state(fixture) == "resident")
  }
}

extension EngineFixture {
  /// What a read would be answered with; nil if it had to wait.
  func bytes(_ path: String, _ offset: Int64, _ length: Int64) -> [UInt8]? {
    guard
      case .resident(let reference, _) = engine.read(
        node(path), handle: 0, offset: offset, length: length, isDirect: true, threadID: 1)
    else { return nil }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Int(length), alignment: 8)
    defer { buffer.deallocate() }
    guard let count = try? engine.readContent(reference, into: buffer, at: offset) else { return nil }
    return Array(buffer[..<count])
  }

  func expected(_ offset: Int64, _ length: Int64) -> [UInt8] {
    PatternBytes.bytes(Int(offset), Int(length))
  }
}
