import DatalessCore
import Synchronization
import SystemPackage
import TestSupport
import Testing

/// A source that changes at every step of listing, fetching, refreshing and evicting: whatever the order, one handle
/// never reads bytes of two versions, and never too few.
@Suite struct EngineRefreshRandomTests {
  /// One open file: what its reads have to agree with, once the first has succeeded.
  private struct Handle {
    let node: NodeID
    let number: UInt64
    var version: UInt8?
    var size: Int64?
  }

  private struct Run {
    let fixture: EngineFixture
    /// So many pieces of work are done at most between two steps. A store that waits makes one of each of its answers.
    let pieces: Int
    var random: SeededGenerator
    var handles: [Handle] = []
    var evictions = 0
    var reads = 0
    var failures = 0
    var refreshes: [RefreshAnswer] = []
  }

  private static let directories = ["", "d/", "d/e/", "g/"]

  @Test(arguments: 0..<120, StoreKind.allCases) func noHandleReadsBytesOfTwoVersions(round: Int, kind: StoreKind) {
    let seed = TestSeed.given ?? UInt64(round) &* 0x9e37_79b9_7f4a_7c15 &+ UInt64.random(in: 0...1 << 40)
    var configuration = EngineConfiguration()
    configuration.fixedLatency = round % 3 == 0 ? 2_000_000 : 0
    // So slow that a fetch takes several steps.
    configuration.bandwidthBytesPerSecond = round % 2 == 0 ? 400_000 : nil
    configuration.keepsResidentChanges = round % 5 == 0
    configuration.simulation.hydration = Hydration.allCases[round % 3]
    var files: [String: Int] = [:]
    for directory in Self.directories { for name in ["a", "b", "c"] { files[directory + name] = 1 } }
    let store = ScriptedStore(files)
    for path in files.keys { store.write(path, size: 3000) }
    // Some stores know no birth times, some no generations, some neither.
    store.hasBirths.store(round % 4 < 2, ordering: .relaxed)
    store.hasGenerations.store(round % 2 == 0, ordering: .relaxed)
    var run = Run(
      fixture: EngineFixture(store, configuration, kind: kind), pieces: kind == .blocking ? 3 : 9,
      random: SeededGenerator(seed: seed))
    for _ in 0..<800 { step(&run, seed) }
    settle(&run, seed, keeps: configuration.keepsResidentChanges)
    #expect(run.reads > 0, "seed \(seed)")
  }

  private func path(_ run: inout Run) -> String {
    Self.directories.randomElement(using: &run.random)! + ["a", "b", "c", "n"].randomElement(using: &run.random)!
  }

  private func step(_ run: inout Run, _ seed: UInt64) {
    let store = run.fixture.store
    switch Int.random(in: 0..<40, using: &run.random) {
    case 0, 1:
      let target = path(&run)
      guard isFree(target, store) else { return }
      store.write(target, size: Int.random(in: 1...9000, using: &run.random))
    case 2:
      let target = path(&run)
      guard isFree(target, store) else { return }
      let old = store.items.withLock { $0[target]?.attributes }
      store.remove(target)
      // The next file may get the number of the one that is gone, its size and its mtime.
      let other = path(&run)
      if let old, old.kind == .file, store.items.withLock({ $0[other] == nil }), isFree(other, store) {
        store.write(other, reusing: old)
      } else {
        store.write(target, size: Int.random(in: 1...9000, using: &run.random))
      }
    case 3: store.remove(path(&run))
    case 4, 5:
      let (source, target) = (path(&run), path(&run))
      guard source != target, isFree(target, store), store.items.withLock({ $0[source] != nil }) else { return }
      store.move(source, to: target)
    case 6: renameDirectory(&run)
    case 7, 8: run.refreshes.append(run.fixture.startRefresh(["", "d", "g/a"].randomElement(using: &run.random)!))
    case 9:
      run.evictions += 1
      let node = run.fixture.known(path(&run))
      run.fixture.engine.evict(node, by: "command") { _ in }
    case 10:
      let node = run.fixture.known(["d", "d/e", "g", ""].randomElement(using: &run.random)!)
      run.fixture.engine.evict(node, by: "command") { _ in }
    case 11, 12, 13, 14, 15, 16: open(&run)
    case 17:
      guard !run.handles.isEmpty else { return }
      let handle = run.handles.remove(at: Int.random(in: 0..<run.handles.count, using: &run.random))
      run.fixture.engine.release(handle.node, handle: handle.number)
    case 18, 19, 20, 21, 22:
      guard let index = run.handles.indices.randomElement(using: &run.random) else { return }
      read(&run, index, seed)
    default: advance(&run)
    }
  }

  /// Whether a file can be written under a name: no directory has it, and the directory is there.
  private func isFree(_ path: String, _ store: ScriptedStore) -> Bool {
    store.items.withLock { items in
      items[path].map { $0.attributes.kind == .file } ?? true
        && (items[ScriptedStore.split(path).0]?.attributes.kind ?? .directory) == .directory
    }
  }

  private func renameDirectory(_ run: inout Run) {
    let store = run.fixture.store
    let names = ["d", "g", "h"]
    let (source, target) = (names.randomElement(using: &run.random)!, names.randomElement(using: &run.random)!)
    guard source != target, store.items.withLock({ $0[source] != nil && $0[target] == nil }) else { return }
    store.move(source, to: target)
  }

  private func advance(_ run: inout Run) {
    run.fixture.timer.advance(milliseconds: Int64.random(in: 0..<8, using: &run.random))
    for _ in 0..<Int.random(in: 0...run.pieces, using: &run.random) { run.fixture.lane.runOne() }
  }

  private func open(_ run: inout Run) {
    let name = path(&run)
    // As the kernel does: a directory is listed by the first lookup in it.
    if case .insideDataless(let directory, _, _) = run.fixture.engine.resolve(Array(name.utf8)) {
      run.fixture.trigger(directory, TriggerRequest(trigger: .lookup, caller: EngineFixture.caller()))
      return
    }
    let node = run.fixture.known(name)
    guard run.fixture.engine.describe(node)?.attributes.kind == .file else { return }
    switch run.fixture.engine.open(node, process: .unknown, openFlags: 0) {
    case .dataless(let number), .resident(let number): run.handles.append(Handle(node: node, number: number))
    case .passthrough, .needsMaterialization, .isBeingEvicted, .failed: return
    }
    if Bool.random(using: &run.random) { run.fixture.trigger(node) }
  }

  /// One read of a handle, of the whole file, waiting for it only if it is there.
  private func read(_ run: inout Run, _ index: Int, _ seed: UInt64) {
    let handle = run.handles[index]
    let engine = run.fixture.engine
    switch engine.read(handle.node, handle: handle.number, offset: 0, length: 1 << 20, isDirect: true, threadID: 10) {
    case .needsMaterialization:
      // Once it has read, it has the content until it is closed.
      #expect(handle.version == nil, "seed \(seed)")
      run.fixture.trigger(handle.node)
    case .failed, .repeatedFailure: run.failures += 1
    case .resident(let reference, let count):
      let size = Int64(count)
      var bytes = [UInt8](repeating: 0, count: count)
      let read = bytes.withUnsafeMutableBytes { buffer in
        (try? engine.readContent(reference, into: buffer, at: 0)) ?? -1
      }
      #expect(read == count, "seed \(seed): short content")
      guard let first = bytes.first else { return }
      #expect(bytes.allSatisfy { $0 == first }, "seed \(seed): bytes of two versions in one read")
      #expect(
        handle.version ?? first == first && handle.size ?? size == size, "seed \(seed): two versions in one handle")
      run.handles[index].version = first
      run.handles[index].size = size
      run.reads += 1
    }
  }

  private func settle(_ run: inout Run, _ seed: UInt64, keeps: Bool) {
    let fixture = run.fixture
    func rest() {
      for _ in 0..<40 {
        fixture.lane.runAll()
        fixture.timer.advance(milliseconds: 200) { fixture.lane.runAll() }
      }
    }
    rest()
    for index in run.handles.indices { read(&run, index, seed) }
    rest()
    for handle in run.handles { fixture.engine.release(handle.node, handle: handle.number) }
    rest()
    let counts = fixture.engine.counts
    #expect(run.refreshes.allSatisfy { $0.text != nil }, "seed \(seed): a refresh without an end")
    #expect(
      fixture.content.items == counts.filesResident + counts.filesPartial, "seed \(seed): content that nobody can reach"
    )
    #expect(fixture.content.openWriters == 0, "seed \(seed)")
    _ = fixture.refresh("")
    compare(fixture, "", seed, keeps: keeps)
    #expect(fixture.refresh("").text?.contains(" changed") == false, "seed \(seed)")
  }

  /// What is listed is what the store has.
  private func compare(_ fixture: EngineFixture, _ path: String, _ seed: UInt64, keeps: Bool) {
    let node = fixture.known(path)
    guard fixture.engine.describe(node)?.state == "listed" else { return }
    let found = Set(fixture.names(path)).subtracting([".", ".."])
    #expect(found == Set(fixture.store.item(path).children), "seed \(seed): '\(path)'")
    for name in found {
      let child = path.isEmpty ? name : path + "/" + name
      let listed = fixture.store.item(child).attributes
      let shown = fixture.engine.describe(fixture.known(child))
      #expect(shown?.attributes.size == listed.size || shown?.isKept == true, "seed \(seed): '\(child)'")
      #expect(shown?.isKept == false || keeps, "seed \(seed): '\(child)'")
      if listed.kind == .directory { compare(fixture, child, seed, keeps: keeps) }
    }
  }
}

extension EngineFixture {
  /// The node of a path as far as it is known; 0 otherwise.
  func known(_ path: String) -> NodeID {
    if case .found(let node) = engine.resolve(Array(path.utf8)) { return node }
    return NodeID(rawValue: 0)
  }
}
