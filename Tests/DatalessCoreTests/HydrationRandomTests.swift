import DatalessCore
import Synchronization
import SystemPackage
import TestSupport
import Testing

/// Random operations on content that comes in parts: every byte that can be read is the source's, and nothing is left
/// over.
@Suite struct HydrationRandomTests {
  @Test(arguments: 0..<12, StoreKind.allCases) func everyByteThatCanBeReadIsTheSources(round: Int, kind: StoreKind) {
    let seed = TestSeed.one
    var random = SeededGenerator(seed: seed)
    var configuration = EngineConfiguration()
    configuration.simulation.hydration = Hydration.allCases[round % 3]
    configuration.simulation.bandwidth = round % 2 == 0 ? 5_000_000 : nil
    configuration.simulation.giveUpAfter = round % 5 == 0 ? 15_000_000 : nil
    let files = Dictionary(uniqueKeysWithValues: (0..<6).map { ("f\($0)", 1 + $0 * 250_000) })
    let fixture = EngineFixture(ScriptedStore(files), configuration, kind: kind)
    let paths = files.keys.sorted()
    let evicted = Counter()
    var (answers, waiters, evictions): ([Answer], [WaiterID], Int) = ([], [], 0)
    for _ in 0..<150 {
      let path = paths.randomElement(using: &random) ?? "f0"
      let size = Int64(files[path] ?? 1)
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<4:
        let waiter = fixture.makeWaiter()
        let offset = Int64.random(in: 0...size, using: &random)
        let length = Int64.random(in: 1...(Bool.random(using: &random) ? 5_000 : size + 1), using: &random)
        let request = TriggerRequest(
          trigger: .read, caller: EngineFixture.caller(budgeted: Bool.random(using: &random)), offset: offset,
          length: length)
        answers.append(fixture.trigger(fixture.node(path), request, waiter: waiter))
        waiters.append(waiter)
      case 4:
        if let waiter = waiters.randomElement(using: &random) {
          fixture.engine.leave(waiter, FSError(.interrupted, "random"))
        }
      case 5:
        evictions += 1
        fixture.engine.evict(fixture.node(path), by: "command") { _ in evicted.add() }
      case 6:
        let fails = Bool.random(using: &random)
        fixture.store.edit(path) { $0.failure = fails ? FSError(.ioError, "random") : nil }
      case 7:
        var simulation = fixture.engine.simulation
        simulation.hydration = Hydration.allCases.randomElement(using: &random) ?? .full
        fixture.engine.apply(simulation, restartsClock: false)
      default:
        fixture.timer.advance(milliseconds: Int64.random(in: 0..<30, using: &random))
        for _ in 0..<Int.random(in: 0..<4, using: &random) { _ = fixture.lane.runOne() }
      }
      check(fixture, path, size, &random, seed)
    }
    for _ in 0..<60 {
      fixture.lane.runAll()
      fixture.timer.advance(milliseconds: 50) { fixture.lane.runAll() }
    }
    #expect(answers.allSatisfy { $0.count == 1 }, "seed \(seed)")
    #expect(evicted.value == evictions, "seed \(seed)")
    #expect(fixture.content.openWriters == 0, "seed \(seed)")
    let counts = fixture.engine.counts
    #expect(fixture.content.items == counts.filesResident + counts.filesPartial, "seed \(seed)")
    for path in paths { check(fixture, path, Int64(files[path] ?? 1), &random, seed) }
    let (totals, inFlight) = fixture.engine.budgetUse
    let brought = fixture.events.finished.reduce(0) { $0 + $1.bytes }
    #expect(totals.bytes == brought && totals.budgetedBytes <= brought && inFlight == 0, "seed \(seed)")
    #expect(totals.files <= totals.evictions + Int64(counts.filesResident + counts.filesPartial), "seed \(seed)")
    #expect(totals.budgetedFiles <= totals.files, "seed \(seed)")
  }

  private func check(
    _ fixture: EngineFixture, _ path: String, _ size: Int64, _ random: inout SeededGenerator, _ seed: UInt64
  ) {
    let offset = Int64.random(in: 0..<size, using: &random)
    let length = min(Int64.random(in: 1...20_000, using: &random), size - offset)
    guard let bytes = fixture.bytes(path, offset, length) else { return }
    #expect(bytes == fixture.expected(offset, length), "seed \(seed)")
  }
}
