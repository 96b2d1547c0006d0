import DatalessCore
import Synchronization
import SystemPackage
import TestSupport
import Testing

/// Random operations against what must always hold, whatever their order.
@Suite struct EngineRandomTests {
  private struct Model {
    var open: [(node: NodeID, handle: UInt64)] = []
    var answers: [Answer] = []
    var waiters: [WaiterID] = []
    var evictions = 0
  }

  @Test(arguments: 0..<40, StoreKind.allCases) func invariantsHoldUnderRandomOperations(round: Int, kind: StoreKind) {
    let seed = TestSeed.one
    var random = SeededGenerator(seed: seed)
    var configuration = EngineConfiguration()
    configuration.fixedLatency = round % 3 == 0 ? 0 : 5_000_000
    configuration.concurrency = round % 4 == 0 ? 2 : nil
    configuration.bandwidthBytesPerSecond = round % 5 == 0 ? 1_000_000 : nil
    let files = Dictionary(uniqueKeysWithValues: (0..<12).map { ("d\($0 % 3)/f\($0)", 1 + $0 * 700) })
    let fixture = EngineFixture(ScriptedStore(files), configuration, kind: kind)
    let paths = files.keys.sorted()
    let nodes = paths.map { fixture.node($0) }
    let counter = Counter()
    var model = Model()
    for _ in 0..<300 {
      step(fixture, nodes, paths, &model, counter, &random)
      check(fixture, nodes, seed)
    }
    settle(fixture, &model)
    let unanswered = model.answers.filter { $0.count != 1 }.count
    #expect(unanswered == 0, "seed \(seed)")
    #expect(counter.value == model.evictions, "seed \(seed)")
    #expect(fixture.content.openWriters == 0, "seed \(seed)")
    #expect(fixture.content.items == fixture.engine.counts.filesResident, "seed \(seed)")
    checkEvents(fixture, seed)
  }

  private func step(
    _ fixture: EngineFixture, _ nodes: [NodeID], _ paths: [String], _ model: inout Model, _ evicted: Counter,
    _ random: inout SeededGenerator
  ) {
    let index = Int.random(in: 0..<nodes.count, using: &random)
    let node = nodes[index]
    switch Int.random(in: 0..<10, using: &random) {
    case 0, 1:
      if case .dataless(let handle) = fixture.engine.open(node, process: .unknown, openFlags: 0) {
        model.open.append((node, handle))
      } else {
        model.open.append((node, 0))
      }
    case 2:
      guard !model.open.isEmpty else { return }
      let (open, handle) = model.open.remove(at: Int.random(in: 0..<model.open.count, using: &random))
      fixture.engine.release(open, handle: handle)
    case 3, 4, 5:
      let waiter = fixture.makeWaiter()
      model.answers.append(fixture.trigger(node, waiter: waiter))
      model.waiters.append(waiter)
    case 6:
      guard let waiter = model.waiters.randomElement(using: &random) else { return }
      fixture.engine.leave(waiter, FSError(.interrupted, "random"))
    case 7:
      model.evictions += 1
      fixture.engine.evict(node, by: "command") { _ in evicted.add() }
    case 8:
      let fails = Bool.random(using: &random)
      fixture.store.edit(paths[index]) { $0.failure = fails ? FSError(.ioError, "random") : nil }
    default:
      fixture.timer.advance(milliseconds: Int64.random(in: 0..<8, using: &random))
      if Bool.random(using: &random) { fixture.lane.runAll() } else { fixture.lane.runOne() }
    }
  }

  private func settle(_ fixture: EngineFixture, _ model: inout Model) {
    for (node, handle) in model.open { fixture.engine.release(node, handle: handle) }
    for _ in 0..<20 {
      fixture.lane.runAll()
      fixture.timer.advance(milliseconds: 500) { fixture.lane.runAll() }
    }
  }

  /// What must hold between any two operations.
  private func check(_ fixture: EngineFixture, _ nodes: [NodeID], _ seed: UInt64) {
    let counts = fixture.engine.counts
    #expect(
      counts.filesDataless + counts.filesMaterializing + counts.filesPartial + counts.filesResident + counts.filesEmpty
        == counts.files,
      "seed \(seed)")
    let attempts = fixture.engine.attemptsInFlight()
    #expect(attempts.filter { $0.kind == .file }.count == counts.filesMaterializing, "seed \(seed)")
    #expect(attempts.allSatisfy { $0.waiterCount > 0 }, "seed \(seed)")
  }

  /// Every attempt starts and finishes once; every wait too.
  private func checkEvents(_ fixture: EngineFixture, _ seed: UInt64) {
    let started = fixture.events.started.map(\.attempt)
    let finished = fixture.events.finished.map(\.attempt)
    #expect(started == Array(Set(started)).sorted(), "seed \(seed)")
    #expect(started == finished.sorted(), "seed \(seed)")
    let kinds = fixture.events.kinds
    #expect(kinds.filter { $0 == "wait" }.count == kinds.filter { $0 == "waited" }.count, "seed \(seed)")
  }
}

/// Counts from escaping closures.
final class Counter: Sendable {
  private let count = Atomic<Int>(0)
  func add() { count.add(1, ordering: .relaxed) }
  var value: Int { count.load(ordering: .relaxed) }
}
