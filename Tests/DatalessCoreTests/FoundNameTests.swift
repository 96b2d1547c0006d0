@testable import DatalessCore
import SystemPackage
import Testing

/// What the log says of lookups that had to wait for a listing.
@Suite struct FoundNameTests {
  /// Has names looked up at once in a directory that is not listed. - Returns: What the record of each wait says.
  private static func lookUp(
    _ names: [String], in directory: String, _ fixture: EngineFixture, trigger: Trigger = .lookup
  ) -> [Event.AnsweredLookup?] {
    let node = fixture.node(directory)
    fixture.events.clear()
    for name in names {
      fixture.trigger(
        node, TriggerRequest(trigger: trigger, caller: EngineFixture.caller(), name: Array(name.utf8)))
    }
    fixture.lane.runAll()
    return fixture.events.all.compactMap { event in
      if case .waitFinished(let wait) = event { wait } else { nil }
    }.map(\.lookup)
  }

  private static func answer(_ name: String, _ found: Event.FoundName) -> Event.AnsweredLookup {
    Event.AnsweredLookup(name: Array(name.utf8), found: found)
  }

  @Test func eachLookupSaysWhatItsNameIs() {
    let fixture = EngineFixture(ScriptedStore(["d/a": 10, "d/empty": 0, "d/sub/x": 1]))
    let long = String(repeating: "x", count: Namespace.nameLengthMax + 1)
    let found = Self.lookUp(["a", "empty", "sub", "none", "a", long], in: "d", fixture)
    #expect(
      found == [
        Self.answer("a", .file), Self.answer("empty", .emptyFile), Self.answer("sub", .directory),
        Self.answer("none", .absent), Self.answer("a", .file), nil,
      ])
  }

  /// More names than are made findable under one hold of the lock, and the records come before the answers all the
  /// same.
  @Test func inALargeDirectoryToo() {
    var files: [String: Int] = [:]
    for number in 0..<3_000 { files["d/f\(number)"] = 1 }
    let fixture = EngineFixture(ScriptedStore(files))
    let found = Self.lookUp(["f0", "f2999", "f3000"], in: "d", fixture)
    #expect(found == [Self.answer("f0", .file), Self.answer("f2999", .file), Self.answer("f3000", .absent)])
    #expect(fixture.events.kinds.suffix(4) == ["waited", "waited", "waited", "finished"])
  }

  @Test func ofAListingThatFailsNothingIsSaid() {
    let fixture = EngineFixture(ScriptedStore(["d/a": 10]))
    fixture.store.edit("d") { $0.failure = FSError(.ioError, "broken") }
    #expect(Self.lookUp(["a"], in: "d", fixture) == [nil])
  }

  @Test func whoListsLooksNothingUp() {
    let fixture = EngineFixture(ScriptedStore(["d/a": 10]))
    #expect(Self.lookUp(["a"], in: "d", fixture, trigger: .readdir) == [nil])
  }
}
