@testable import DatalessCore
import SystemPackage
import TestSupport
import Testing

/// Random reads, writes, pins, removals and evictions on a volume with a quota, against what must always hold: local
/// content is what the content store has, never more than the quota once all is settled; and what is open, pinned or
/// dirty is never evicted for room.
@Suite struct RoomRandomTests {
  private struct Model {
    var open: [(path: String, node: NodeID, handle: UInt64)] = []
    /// What was written, by path.
    var dirty: Set<String> = []
    var pinned: Set<String> = []
    var answers: [Answer] = []
    var quota = 12
  }

  private static let page = EngineFixture.page

  @Test(arguments: 0..<30) func theQuotaHolds(round: Int) {
    let seed = TestSeed.one
    var random = SeededGenerator(seed: seed)
    let files = Dictionary(
      uniqueKeysWithValues: (0..<16).map { ("d\($0 % 3)/f\($0)", (1 + $0 % 3) * Self.page - $0 % 2) })
    let fixture = EngineFixture.limited(12 * Self.page, files, writing: round % 2 == 0 ? .scratch : .readOnly)
    if round % 3 == 0 {
      var simulation = fixture.engine.simulation
      simulation.hydration = round % 2 == 0 ? .partial : .progressive
      fixture.engine.apply(simulation, restartsClock: false)
    }
    let paths = files.keys.sorted()
    var model = Model()
    for _ in 0..<150 {
      fixture.events.clear()
      step(fixture, paths, &model, &random, isWritable: round % 2 == 0)
      checkEvictions(fixture, model, seed)
      #expect(fixture.content.allocatedBytes <= 12 * Int64(Self.page), "seed \(seed)")
    }
    for open in model.open { fixture.engine.release(open.node, handle: open.handle) }
    for answer in model.answers { fixture.settle(answer) }
    fixture.timer.advance(milliseconds: 60_000) { fixture.lane.runAll() }
    let status = fixture.engine.roomStatus
    #expect(model.answers.filter { $0.count != 1 }.isEmpty, "seed \(seed)")
    #expect(status.pending == 0 && status.waiting == 0 && status.removing == 0, "seed \(seed)")
    #expect(status.used == fixture.content.allocatedBytes, "seed \(seed)")
    checkSum(fixture, paths, seed)
    fixture.setQuota(Self.page)
    fixture.timer.advance(milliseconds: 1_000) { fixture.lane.runAll() }
    let kept = paths.filter { fixture.isResident($0) }
    for path in kept where !model.dirty.contains(path) {
      let isKept = fixture.engine.policy(of: fixture.node(path))?.inForce == .eager
      #expect(isKept || fixture.content.allocatedBytes <= Int64(Self.page), "\(path) could go, seed \(seed)")
    }
  }

  private func step(
    _ fixture: EngineFixture, _ paths: [String], _ model: inout Model, _ random: inout SeededGenerator,
    isWritable: Bool
  ) {
    guard let path = paths.randomElement(using: &random) else { return }
    let node = fixture.node(path)
    switch Int.random(in: 0..<10, using: &random) {
    case 0...3:
      let handle = fixture.open(node)
      let request = TriggerRequest(trigger: .read, caller: EngineFixture.caller(), offset: 0, length: 100)
      model.answers.append(fixture.trigger(node, request))
      if Bool.random(using: &random) { fixture.lane.runAll() }
      if handle != 0 { model.open.append((path, node, handle)) }
    case 4...6:
      guard let place = model.open.indices.randomElement(using: &random) else { return }
      let open = model.open.remove(at: place)
      fixture.engine.release(open.node, handle: open.handle)
    case 7:
      let pins = Bool.random(using: &random)
      let directory = String(path.prefix(2))
      if pins, model.pinned.isEmpty, !model.dirty.contains(path) {
        model.pinned.insert(path)
        _ = fixture.engine.setPolicy(.eager, of: node)
      } else {
        model.pinned.remove(path)
        _ = fixture.engine.unpin(node)
        _ = fixture.engine.unpin(fixture.node(directory))
      }
    case 8:
      // Read first: the fixture's writers wait for room, and not for content.
      guard isWritable, model.dirty.count < 2, fixture.read(path) == nil else { return }
      let (handle, errno) = fixture.openForWriting(node)
      guard errno == nil else { return }
      let bytes = [UInt8](repeating: 1, count: Int.random(in: 1...Self.page, using: &random))
      if fixture.write(bytes, to: node, handle, at: 0).count > 0 { model.dirty.insert(path) }
      fixture.engine.release(node, handle: handle)
    default:
      _ = fixture.press(Self.page)
      fixture.timer.advance(milliseconds: 100) { fixture.lane.runAll() }
    }
    fixture.lane.runAll()
  }

  /// What went for room was neither open nor pinned nor dirty.
  private func checkEvictions(_ fixture: EngineFixture, _ model: Model, _ seed: UInt64) {
    for event in fixture.events.all {
      guard case .evictionFinished(let record) = event else { continue }
      let path = String(decoding: record.path, as: UTF8.self)
      #expect(record.by == "quota" || record.by == "pressure")
      #expect(!model.dirty.contains(path), "\(path) was dirty, seed \(seed)")
      #expect(!model.pinned.contains(path), "\(path) was pinned, seed \(seed)")
      #expect(!model.open.contains { $0.path == path }, "\(path) was open, seed \(seed)")
    }
  }

  /// Each content that the store has belongs to a file.
  private func checkSum(_ fixture: EngineFixture, _ paths: [String], _ seed: UInt64) {
    let held: Int = fixture.engine.state.withLock { state in
      var count = 0
      _ = state.namespace.visitNodes(from: .root, limit: 1 << 20) { node, record in
        if record.kind == .file, state.contents.parts(of: node) != nil || record.residentContent != nil { count += 1 }
      }
      return count
    }
    #expect(held == fixture.content.items, "seed \(seed)")
  }
}
