@testable import DatalessCore
import Synchronization
import SystemPackage
import Testing

/// Evictions and changes of the store about which those who present the items are asked first.
@Suite struct AskingFirstTests {
  private static let page = EngineFixture.page

  private static func rule(_ eviction: SystemEviction) -> Rule {
    var match = RuleMatch()
    match.paths = [PathPattern(Array("**".utf8))!]
    var effects = RuleEffects()
    effects.evict = eviction
    return Rule(name: "r", match: match, effects: effects)
  }

  private static func make(
    _ files: [String: Int], _ presenters: ScriptedPresenters, kind: StoreKind = .blocking,
    evicting: SystemEviction? = nil
  ) -> EngineFixture {
    var configuration = EngineConfiguration()
    configuration.writing = .scratch
    let clock = TestClock()
    configuration.timeOfDay = { clock.now }
    if let evicting { configuration.simulation.rules = RuleSet([rule(evicting)]) }
    let fixture = EngineFixture(ScriptedStore(files), configuration, kind: kind, presenters: presenters)
    for path in files.keys.sorted() { _ = fixture.node(path) }
    return fixture
  }

  private static func advance(_ fixture: EngineFixture, _ milliseconds: Int64) {
    fixture.timer.advance(milliseconds: milliseconds) { fixture.lane.runAll() }
  }

  private static func answer(_ presenters: ScriptedPresenters, _ fixture: EngineFixture) {
    presenters.answer()
    fixture.lane.runAll()
  }

  private static func save(_ path: String, _ fixture: EngineFixture) {
    let node = fixture.node(path)
    let handle = fixture.openForWriting(node).handle
    #expect(fixture.write([9], to: node, handle, at: 0).count == 1)
    fixture.close(node, handle)
  }

  // MARK: - Rules

  @Test func aRuleAsksWhoPresentsAndEvictsOthersAtOnce() {
    let presenters = ScriptedPresenters("d")
    let fixture = Self.make(
      ["a": 10, "d/x": 10], presenters, evicting: SystemEviction(afterMaterialization: 1_000_000_000))
    for path in ["a", "d/x"] { #expect(fixture.read(path) == nil) }
    Self.advance(fixture, 6_000)
    #expect(fixture.evictions == ["a rule:r"])
    #expect(presenters.asked == ["evict d/x"] && presenters.ended == [])
    Self.answer(presenters, fixture)
    #expect(fixture.evictions == ["a rule:r", "d/x rule:r"])
    #expect(presenters.ended == [1])
  }

  @Test func whatIsSavedFirstIsNotEvicted() {
    let presenters = ScriptedPresenters("a")
    let fixture = Self.make(["a": 10], presenters, evicting: SystemEviction(afterMaterialization: 1_000_000_000))
    #expect(fixture.read("a") == nil)
    Self.advance(fixture, 1_000)
    Self.save("a", fixture)
    Self.answer(presenters, fixture)
    Self.advance(fixture, 10_000)
    #expect(fixture.evictions == [] && presenters.asked == ["evict a"] && presenters.ended == [1])
    #expect(fixture.content("a") == [9] + PatternBytes.bytes(1, 9))
  }

  /// While they are asked it is due again with each close, and is asked about once.
  @Test func whatIsUsedMeanwhileIsDueLater() {
    let presenters = ScriptedPresenters("a")
    let fixture = Self.make(["a": 10], presenters, evicting: SystemEviction(idle: 1_000_000_000))
    #expect(fixture.read("a") == nil)
    Self.advance(fixture, 2_000)
    #expect(fixture.read("a") == nil)
    Self.advance(fixture, 500)
    Self.answer(presenters, fixture)
    #expect(fixture.evictions == [] && presenters.asked.count == 1 && presenters.ended == [1])
    Self.advance(fixture, 500)
    #expect(presenters.asked.count == 2)
    Self.answer(presenters, fixture)
    #expect(fixture.evictions == ["a rule:r"] && presenters.ended == [1, 2])
  }

  @Test func rulesThatAreGoneMeanwhileEvictNothing() {
    let presenters = ScriptedPresenters("a")
    let fixture = Self.make(["a": 10], presenters, evicting: SystemEviction(afterMaterialization: 1_000_000_000))
    #expect(fixture.read("a") == nil)
    Self.advance(fixture, 1_000)
    fixture.engine.apply(Simulation(), restartsClock: false)
    Self.answer(presenters, fixture)
    #expect(fixture.evictions == [] && presenters.asked.count == 1 && presenters.ended == [1])
  }

  /// Many files that are due at once are not many questions at once, of which the last ones would have no time.
  @Test func whatBecomesDueMeanwhileIsAskedAboutTogether() {
    let presenters = ScriptedPresenters("d")
    let names = (0..<150).map { "d/f\($0)" }
    let fixture = Self.make(
      Dictionary(uniqueKeysWithValues: (names + ["a"]).map { ($0, 10) }), presenters,
      evicting: SystemEviction(afterMaterialization: 1_000_000_000))
    for path in names + ["a"] { #expect(fixture.read(path) == nil) }
    Self.advance(fixture, 2_000)
    #expect(fixture.evictions == ["a rule:r"] && presenters.asked.count == 1)
    Self.answer(presenters, fixture)
    let first = fixture.evictions.count
    #expect(first < 150 && presenters.asked.count == 2 && presenters.ended == [1])
    Self.answer(presenters, fixture)
    #expect(fixture.evictions.count == 151 && presenters.asked.count == 2 && presenters.ended == [1, 2])
    let words = presenters.asked.flatMap { $0.split(separator: " ").dropFirst().map(String.init) }
    #expect(words.sorted() == names.sorted())
  }

  /// Of what would be refused nobody is asked, again and again.
  @Test func whatCannotGoIsNotAskedAbout() {
    let presenters = ScriptedPresenters("a")
    let fixture = Self.make(["a": 10], presenters, evicting: SystemEviction(afterMaterialization: 1_000_000_000))
    #expect(fixture.read("a") == nil)
    #expect(fixture.engine.setPolicy(.eager, of: fixture.node("a")) == nil)
    fixture.lane.runAll()
    Self.advance(fixture, 10_000)
    #expect(fixture.evictions == [] && presenters.asked == [])
  }

  // MARK: - Pressure

  /// What went, when it has ended.
  private final class PressureAnswer: Sendable {
    private let value = Mutex<PressureResult?>(nil)
    var result: PressureResult? { value.withLock { $0 } }
    func set(_ result: PressureResult) { value.withLock { $0 = result } }
  }

  private static func press(_ fixture: EngineFixture, _ bytes: Int) -> PressureAnswer {
    let answer = PressureAnswer()
    fixture.engine.relieve(PressureSweep(Int64(bytes))) { answer.set($0) }
    fixture.lane.runAll()
    return answer
  }

  @Test func pressureAsksWhoPresentsAndTakesOthersAtOnce() {
    let presenters = ScriptedPresenters("a")
    let fixture = Self.make(["a": Self.page, "b": Self.page, "c": Self.page], presenters)
    for path in ["a", "b", "c"] { #expect(fixture.read(path) == nil) }
    Self.save("c", fixture)
    let pressed = Self.press(fixture, 1 << 20)
    #expect(fixture.evictions == ["b pressure"] && presenters.asked == ["evict a"] && pressed.result == nil)
    Self.answer(presenters, fixture)
    #expect(fixture.evictions == ["b pressure", "a pressure"] && presenters.ended == [1])
    #expect(pressed.result == PressureResult(files: 2, bytes: Int64(2 * Self.page)))
  }

  /// Many files and one silent program are one wait.
  @Test func pressureWaitsOnceForWhoIsSilent() {
    let presenters = ScriptedPresenters("")
    let names = (0..<70).map { "f\($0)" }
    let fixture = Self.make(Dictionary(uniqueKeysWithValues: names.map { ($0, Self.page) }), presenters)
    for path in names { #expect(fixture.read(path) == nil) }
    let start = fixture.timer.now
    let pressed = Self.press(fixture, 1 << 30)
    #expect(fixture.evictions == [] && presenters.untils == [start + ItemQuestion.answerMax])
    Self.advance(fixture, 5_000)
    Self.answer(presenters, fixture)
    #expect(fixture.evictions.count == 70 && presenters.asked.count == 1 && presenters.ended == [1])
    #expect(pressed.result?.files == 70)
  }

  // MARK: - Changes of the store

  @Test(arguments: StoreKind.allCases) func aRefreshAsksFirstAndWhatIsSavedIsAConflict(_ kind: StoreKind) {
    let presenters = ScriptedPresenters("d/x")
    let fixture = Self.make(["a": 10, "d/x": 10, "e/y": 10], presenters, kind: kind)
    #expect(fixture.content("d/x") != nil)
    for path in ["a", "d/x"] { fixture.store.write(path, size: 20) }
    let answer = fixture.startRefresh("")
    fixture.lane.runAll()
    #expect(answer.text == nil && presenters.asked == ["change d/x"])
    // Nothing is taken over yet, also of what concerns nobody.
    #expect(fixture.engine.attributes(of: fixture.node("a"))?.attributes.size == 10)
    #expect(!fixture.events.kinds.contains { $0.hasPrefix("source") })
    Self.save("d/x", fixture)
    Self.answer(presenters, fixture)
    #expect(answer.text == "1 changed, 1 kept, 3 unchanged in 3" && presenters.ended == [1])
    #expect(fixture.events.kinds.contains { $0.hasPrefix("conflict") })
    #expect(fixture.content("d/x") == [9] + PatternBytes.bytes(1, 9))
    #expect(fixture.content("a") == fixture.store.bytes("a"))
  }

  /// What has come, gone or changed in a directory concerns who presents it; what is as it was, nobody.
  @Test(arguments: StoreKind.allCases) func whoPresentsADirectoryIsAskedAboutAllInIt(_ kind: StoreKind) {
    let presenters = ScriptedPresenters("d")
    let fixture = Self.make(["d/x": 10, "d/y": 10, "d/z": 10], presenters, kind: kind)
    fixture.store.remove("d/x")
    fixture.store.write("d/y", size: 20)
    fixture.store.write("d/new", size: 5)
    let answer = fixture.startRefresh("d")
    fixture.lane.runAll()
    let words = presenters.asked.map { Set($0.split(separator: " ").map(String.init)) }
    #expect(words == [Set(["change", "d/x", "d/y", "d/new"])])
    Self.answer(presenters, fixture)
    #expect(answer.text == "1 added, 1 changed, 1 gone, 2 unchanged in 2")
    #expect(fixture.refresh("d").text == "4 unchanged in 2" && presenters.asked.count == 1)
  }

  /// What was moved on the volume is listed where the store has it, in which nobody may present anything.
  @Test(arguments: StoreKind.allCases) func whatWasMovedHereIsAskedAboutUnderItsName(_ kind: StoreKind) {
    let presenters = ScriptedPresenters("m/x", "m/e/y", "m/gone")
    let fixture = Self.make(["a/x": 10, "a/gone": 10, "c/b/e/y": 10, "m/z": 10], presenters, kind: kind)
    #expect(fixture.content("a/x") != nil)
    let (a, b, m) = (fixture.node("a"), fixture.node("c/b"), fixture.node("m"))
    #expect(fixture.rename("x", in: a, to: "x", into: m) == .ok)
    #expect(fixture.rename("gone", in: a, to: "gone", into: m) == .ok)
    #expect(fixture.rename("e", in: b, to: "e", into: m) == .ok)
    fixture.store.write("a/x", size: 20)
    fixture.store.write("c/b/e/y", size: 20)
    fixture.store.remove("a/gone")
    let answer = fixture.startRefresh("")
    fixture.lane.runAll()
    let words = presenters.asked.map { Set($0.split(separator: " ").map(String.init)) }
    #expect(answer.text == nil && words == [Set(["change", "m/x", "m/e/y", "m/gone"])])
    Self.answer(presenters, fixture)
    #expect(answer.text != nil && presenters.ended == [1])
    #expect(fixture.content("m/x") == fixture.store.bytes("a/x"))
    #expect(fixture.engine.attributes(of: fixture.node("m/e/y"))?.attributes.size == 20)
  }

  /// Directories in which nobody presents anything are not looked at before.
  @Test(arguments: StoreKind.allCases) func whatConcernsNobodyIsListedOnce(_ kind: StoreKind) {
    for (isPresented, count) in [(true, 5), (false, 3)] {
      let presenters = isPresented ? ScriptedPresenters("e/y") : ScriptedPresenters()
      let fixture = Self.make(["a": 10, "d/x": 10, "e/y": 10], presenters, kind: kind)
      let lists = fixture.store.lists.load(ordering: .relaxed)
      fixture.store.write("a", size: 20)
      #expect(fixture.refresh("").text == "1 changed, 4 unchanged in 3")
      #expect(presenters.asked == [] && presenters.ended == [])
      #expect(fixture.store.lists.load(ordering: .relaxed) == lists + count)
    }
  }

  @Test(arguments: StoreKind.allCases) func aRefreshThatIsGivenUpMeanwhileChangesNothing(_ kind: StoreKind) {
    let presenters = ScriptedPresenters("a")
    let fixture = Self.make(["a": 10], presenters, kind: kind)
    fixture.store.write("a", size: 20)
    let answer = RefreshAnswer()
    let refresh = fixture.engine.refresh([[]], by: .command) { answer.set($0) }
    fixture.lane.runAll()
    #expect(presenters.asked == ["change a"])
    refresh.cancel()
    Self.answer(presenters, fixture)
    #expect(answer.error == "EINTR" && presenters.ended == [1])
    #expect(fixture.engine.attributes(of: fixture.node("a"))?.attributes.size == 10)
  }
}
