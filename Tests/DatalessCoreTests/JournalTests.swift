@testable import DatalessCore
import Synchronization
import SystemPackage
import TestSupport
import Testing

/// The journal has all that is to outlive the daemon, in the order in which it happened, and before anybody is told of
/// it.
@Suite struct JournalTests {
  /// What a caller was told, and how many changes there were by then.
  private struct Told {
    let node: NodeID
    let isResident: Bool
    let number: Int
  }

  private final class Callers: Sendable {
    let told = Mutex<[Told]>([])
  }

  private func make(_ files: [String: Int], _ journal: RecordingJournal) -> EngineFixture {
    var configuration = EngineConfiguration()
    configuration.journal = journal
    return EngineFixture(ScriptedStore(files), configuration)
  }

  /// As the engine has it, told as the journal tells it. Items without a name are left out: nobody would find them
  /// again.
  private static func state(of fixture: EngineFixture, _ replay: JournalReplay) -> JournalReplay {
    var found = JournalReplay([])
    fixture.engine.state.withLock { state in
      _ = state.namespace.visitNodes(from: .root, limit: 1 << 20) { node, record in
        let id = state.namespace.id(of: node)
        if let reference = record.residentContent, !record.isOrphan {
          // What the store has no more has the key that it had.
          let binding = state.namespace.isBound(node) ? state.namespace.binding(of: node) : replay.contents[id]?.binding
          found.contents[id] = JournalReplay.Content(reference: reference, binding: binding)
        }
        if replay.modes[id] != nil { found.modes[id] = UInt32(record.mode) }
        guard record.kind == .directory else { return }
        var name = record.firstChild
        while name != .end {
          let entry = state.namespace.record(of: name)
          let key = JournalReplay.Name(directory: id, text: Array(state.namespace.text(of: name)))
          if entry.isLocal, entry.isPresent { found.names[key] = state.namespace.id(of: entry.node) }
          if entry.standing == .removed { found.hidden[key] = state.namespace.id(of: entry.node) }
          name = entry.nextSibling
        }
      }
    }
    return found
  }

  private static func isKnown(_ node: NodeID, _ fixture: EngineFixture) -> Bool {
    fixture.engine.state.withLock { state in
      state.namespace.index(of: node).map { !state.namespace[$0].isOrphan } ?? false
    }
  }

  @Test(arguments: TestSeed.seeds) func everyChangeIsInItBeforeAnybodyIsToldOfIt(seed: UInt64) {
    var random = TestRandom(seed: seed)
    let journal = RecordingJournal()
    let fixture = make(["a": 3, "b": 4, "d/c": 5, "d/f": 6], journal)
    let callers = Callers()
    for name in ["a", "b", "d/c", "d/f"] { _ = fixture.node(name) }
    var inode: UInt64 = 1_000_000
    for step in 0..<600 {
      inode += 1
      self.step(fixture, callers, journal, inode: inode, &random)
      fixture.lane.runAll()
      fixture.timer.advance(milliseconds: 300) { fixture.lane.runAll() }
      let replay = JournalReplay(journal.changes)
      var expected = Self.state(of: fixture, replay)
      // Content of what has no name, until it is removed.
      for (node, content) in replay.contents where !Self.isKnown(node, fixture) { expected.contents[node] = content }
      expected.modes = expected.modes.filter { replay.modes[$0.key] != nil }
      #expect(replay.contents == expected.contents, "seed \(seed), step \(step)")
      #expect(replay.names == expected.names, "seed \(seed), step \(step)")
      #expect(replay.hidden == expected.hidden, "seed \(seed), step \(step)")
    }
    let changes = journal.changes
    #expect(changes.count > 100)
    let told = callers.told.withLock { $0 }
    #expect(told.contains { $0.isResident } && told.contains { !$0.isResident })
    // Cut after each number: what callers were told by then is in what is left.
    var cut = JournalReplay([])
    var number = 0
    for answer in told {
      if answer.number < number { Issue.record("numbers went back, seed \(seed)") }
      cut = JournalReplay(changes[..<answer.number])
      number = answer.number
      #expect((cut.contents[answer.node] != nil) == answer.isResident, "cut after \(number), seed \(seed)")
    }
  }

  private func step(
    _ fixture: EngineFixture, _ callers: Callers, _ journal: RecordingJournal, inode: UInt64, _ random: inout TestRandom
  ) {
    let names = ["a", "b", "g", "h", "d/c", "d/f", "e/c", "e/f"]
    let path = random.element(of: names)
    switch random.below(10) {
    case 0, 1, 2: read(fixture, callers, journal, path)
    case 3, 4: evict(fixture, callers, journal, path)
    case 5: fixture.store.write(random.element(of: ["a", "b", "g", "h"]), size: 1 + random.below(9))
    case 6: _ = fixture.refresh("")
    case 7:
      let (from, to) = random.element(of: [("d", "e"), ("e", "d"), ("a", "g"), ("g", "b"), ("b", "h"), ("h", "a")])
      if fixture.store.shown(from) != nil { fixture.store.move(from, to: to) }
    default: change(fixture, inode: inode, &random)
    }
  }

  private func read(_ fixture: EngineFixture, _ callers: Callers, _ journal: RecordingJournal, _ path: String) {
    let node = fixture.node(path)
    guard node.rawValue != 0, fixture.engine.isDataless(node) else { return }
    let request = TriggerRequest(trigger: .read, caller: EngineFixture.caller())
    let answer = fixture.engine.materialize(node, request, waiter: fixture.makeWaiter()) { result in
      guard case .ready = result else { return }
      callers.told.withLock { $0.append(Told(node: node, isResident: true, number: journal.changes.count)) }
    }
    if case .failed(let error) = answer { Issue.record("\(error)") }
  }

  private func evict(_ fixture: EngineFixture, _ callers: Callers, _ journal: RecordingJournal, _ path: String) {
    let node = fixture.node(path)
    guard node.rawValue != 0 else { return }
    fixture.engine.evict(node, by: "command") { result in
      guard case .evicted(_, wasResident: true) = result else { return }
      callers.told.withLock { $0.append(Told(node: node, isResident: false, number: journal.changes.count)) }
    }
  }

  /// Something on the volume, in its root.
  private func change(_ fixture: EngineFixture, inode: UInt64, _ random: inout TestRandom) {
    let names = ["a", "b", "g", "h", "x", "y"]
    let (text, other, choice) = (random.element(of: names), random.element(of: names), random.below(4))
    fixture.engine.state.withLock { state in
      while !state.namespace.indexNames(of: .root) {}
      func find(_ text: String) -> NameIndex? {
        Array(text.utf8).withUnsafeBufferPointer { state.namespace.find($0, in: .root, .visible) }
      }
      guard let name = find(text) else {
        _ = Array(text.utf8).withUnsafeBufferPointer {
          state.namespace.make($0, .file(inode: inode, size: 0), in: .root)
        }
        return
      }
      switch choice {
      case 0: state.namespace.remove(name)
      case 1: _ = Array(other.utf8).withUnsafeBufferPointer { state.namespace.move(name, to: $0, in: .root) }
      case 2: if let second = find(other), second != name { _ = state.namespace.exchange(name, second) }
      default:
        let node = state.namespace.record(of: name).node
        var attributes = state.namespace.attributes(of: node)
        attributes.mode ^= 0o111
        state.namespace.setAttributes(attributes, of: node)
      }
    }
    fixture.engine.disposeOfOrphans()
  }

  /// Found with seed 1745427039342315799: of the two names the first one is given away before the second one is known.
  @Test func whatTheStoreRenamedAndReplacedHasItsNewKey() throws {
    let journal = RecordingJournal()
    let fixture = make(["a": 3, "b": 4], journal)
    let node = fixture.node("a")
    _ = fixture.content("a")
    fixture.store.move("a", to: "b")
    fixture.store.write("a", size: 5)
    _ = fixture.refresh("")
    fixture.lane.runAll()
    let content = try #require(JournalReplay(journal.changes).contents[node])
    #expect(content.binding?.key == Array("b".utf8))
  }

  @Test func whoWaitsIsAnsweredWhenAllBeforeIsDurable() {
    let journal = RecordingJournal()
    let fixture = make(["a": 3, "b": 4], journal)
    let answers = Mutex<[String]>([])
    fixture.engine.synchronize { _ in answers.withLock { $0.append("empty") } }
    #expect(answers.withLock { $0 } == ["empty"])
    _ = fixture.content("a")
    fixture.engine.synchronize { _ in answers.withLock { $0.append("a") } }
    _ = fixture.content("b")
    fixture.engine.synchronize { _ in answers.withLock { $0.append("b") } }
    #expect(journal.changes.count == 2)
    #expect(answers.withLock { $0 } == ["empty"])
    journal.makeDurable(1)
    #expect(answers.withLock { $0 } == ["empty", "a"])
    journal.makeDurable(2)
    #expect(answers.withLock { $0 } == ["empty", "a", "b"])
  }

  @Test func withoutAJournalNothingIsNumbered() {
    let fixture = EngineFixture(ScriptedStore(["a": 3]))
    _ = fixture.content("a")
    #expect(fixture.engine.state.withLock { $0.journal.last.rawValue } == 0)
    let isAnswered = Mutex(false)
    fixture.engine.synchronize { error in isAnswered.withLock { $0 = error == nil } }
    #expect(isAnswered.withLock { $0 })
  }
}
