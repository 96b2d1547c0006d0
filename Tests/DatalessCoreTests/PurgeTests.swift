@testable import DatalessCore
import Synchronization
import SystemPackage
import Testing

/// What goes when room is short on a volume with areas, and in which order.
@Suite struct PurgeTests {
  private static let page = EngineFixture.page

  private static func area(_ path: String, _ category: AreaCategory) -> Area {
    Area(name: path, path: Area.components(of: path.utf8), category: category)
  }

  private static let phone = Areas(
    [area("apps/maps/Library/Offline", .offline)] + Area.ios(in: Area.components(of: "apps/*".utf8)))

  private static func fixture(
    _ files: [String], quota: Int? = nil, areas: Areas = PurgeTests.phone,
    writing: EngineConfiguration.Writing = .scratch
  ) -> EngineFixture {
    let fixture = EngineFixture.limited(
      quota.map { $0 * page }, Dictionary(uniqueKeysWithValues: files.map { ($0, page) }), writing: writing)
    var simulation = fixture.engine.simulation
    simulation.areas = areas
    fixture.engine.apply(simulation, restartsClock: false)
    return fixture
  }

  /// Makes a page of its own.
  private static func make(_ name: String, in directory: String, _ fixture: EngineFixture) -> NodeID? {
    let (done, handle) = fixture.create(name, in: fixture.node(directory))
    guard let node = done.node else { return nil }
    fixture.write([UInt8](repeating: 7, count: page), to: node, handle, at: 0)
    fixture.close(node, handle)
    return node
  }

  /// What went, in its order.
  private static func gone(_ fixture: EngineFixture) -> [String] {
    fixture.events.all.compactMap { event in
      switch event {
      case .evictionFinished(let record):
        let reason = record.purge.map { " \($0.rawValue)" } ?? ""
        return "evicted \(String(decoding: record.path, as: UTF8.self))\(reason) by \(record.by)"
      case .changed(let change):
        guard case .purged(let purged) = change.change else { return nil }
        return "purged \(String(decoding: change.path, as: UTF8.self)) \(purged.reason.rawValue) by \(purged.by)"
      default: return nil
      }
    }
  }

  private static func exists(_ path: String, _ fixture: EngineFixture) -> Bool {
    fixture.node(path) != NodeID(rawValue: 0)
  }

  private static func run(_ name: String, _ fixture: EngineFixture) {
    fixture.processes.alive.withLock {
      $0 = [ProcessFacts(executable: Array("/bin/\(name)".utf8), commandName: nil, cgroup: nil, uid: nil)]
    }
  }

  /// What an earlier look has left to choose from knows neither who runs now nor what is new.
  @Test(arguments: [false, true]) func whoRunsAndWhatIsThereIsLookedAtAnew(isQuota: Bool) {
    let caches = ["apps/mail/Library/Caches/a", "apps/mail/Library/Caches/b", "apps/mail/Documents/d"]
    let fixture = Self.fixture(caches + ["apps/mail/tmp/t"], quota: isQuota ? 4 : nil)
    for path in caches + ["apps/mail/tmp/t"] { #expect(fixture.read(path) == nil) }
    fixture.events.clear()
    if isQuota { _ = Self.make("first", in: "apps/mail/tmp", fixture) } else { _ = fixture.press(Self.page) }
    #expect(Self.gone(fixture).first?.hasPrefix("purged apps/mail/tmp/t temporary") == true)
    Self.run("mail", fixture)
    fixture.timer.advance(milliseconds: 2_000)
    if isQuota {
      _ = Self.make("second", in: "apps/mail/tmp", fixture)
    } else {
      for name in ["n1", "n2"] { _ = Self.make(name, in: "apps/mail/tmp", fixture) }
      #expect(fixture.press(2 * Self.page).purgedFiles == 2)
    }
    for path in caches { #expect(Self.exists(path, fixture)) }
    #expect(Self.gone(fixture).allSatisfy { $0.contains("apps/mail/tmp/") }, "\(Self.gone(fixture))")
  }

  /// A file that was made larger takes nothing on the disk, and gives nothing back.
  @Test func whatHasNothingOnTheDiskDoesNotGo() {
    let fixture = Self.fixture(["apps/mail/tmp/t"])
    #expect(fixture.read("apps/mail/tmp/t") == nil)
    let (done, handle) = fixture.create("sparse", in: fixture.node("apps/mail/tmp"))
    guard let node = done.node else { return #expect(Bool(false), "not made") }
    #expect(fixture.truncate(node, to: 1 << 30) == nil)
    fixture.close(node, handle)
    #expect(fixture.press(Self.page).purgedFiles >= 1)
    #expect(!Self.exists("apps/mail/tmp/t", fixture), "it has what was asked for")
  }

  @Test func theOrderIsTemporaryThenCachesThenWhatCanComeAgain() {
    let files = [
      "apps/mail/Documents/d", "apps/mail/Library/Caches/a", "apps/maps/Library/Caches/b", "apps/maps/tmp/t",
      "apps/maps/Library/Offline/o", "apps/game/Library/Caches/g", "else",
    ]
    let fixture = Self.fixture(files)
    for path in ["else", "apps/maps/Library/Caches/b", "apps/mail/Library/Caches/a", "apps/mail/Documents/d"] {
      #expect(fixture.read(path) == nil)
    }
    for path in ["apps/maps/Library/Offline/o", "apps/maps/tmp/t", "apps/game/Library/Caches/g"] {
      #expect(fixture.read(path) == nil)
    }
    Self.run("game", fixture)
    fixture.events.clear()
    let result = fixture.press(1 << 30)
    #expect(
      Self.gone(fixture) == [
        "purged apps/maps/tmp/t temporary by pressure", "purged apps/mail/Library/Caches/a cache by pressure",
        "purged apps/maps/Library/Caches/b cache by pressure", "evicted else by pressure",
        "evicted apps/mail/Documents/d by pressure",
      ])
    #expect(
      result
        == PressureResult(
          files: 5, bytes: Int64(5 * Self.page), purgedFiles: 3, purgedBytes: Int64(3 * Self.page)))
    for (path, isThere) in [
      ("apps/maps/tmp/t", false), ("apps/mail/Library/Caches/a", false), ("else", true),
      ("apps/mail/Documents/d", true), ("apps/maps/Library/Offline/o", true), ("apps/game/Library/Caches/g", true),
    ] {
      #expect(Self.exists(path, fixture) == isThere, "\(path)")
    }
    #expect(fixture.resident(["apps/maps/Library/Offline/o", "apps/game/Library/Caches/g", "else"]).count == 2)
  }

  @Test func noMoreGoesThanHasTo() {
    let fixture = Self.fixture(["tmp/a", "tmp/b", "tmp/c", "else"], areas: Areas(Area.ios(in: [])))
    for path in ["else", "tmp/b", "tmp/a", "tmp/c"] { #expect(fixture.read(path) == nil) }
    #expect(fixture.press(Self.page + 1).purgedFiles == 2)
    #expect(
      Self.gone(fixture) == ["purged tmp/b temporary by pressure", "purged tmp/a temporary by pressure"])
  }

  @Test func whatIsMadeHereIsPurgedAndItsBytesAreLost() throws {
    let fixture = Self.fixture(["tmp/x", "Library/Caches/y", "Documents/z"], areas: Areas(Area.ios(in: [])))
    let made = try #require(Self.make("mine", in: "Library/Caches", fixture))
    let own = try #require(Self.make("own", in: "Documents", fixture))
    let before = fixture.content.allocatedBytes
    let page = Int64(Self.page)
    #expect(
      fixture.press(1 << 30)
        == PressureResult(files: 1, bytes: page, purgedFiles: 1, purgedBytes: page, lostBytes: page))
    fixture.lane.runAll()
    let lost = fixture.events.all.compactMap { event -> Int64? in
      guard case .changed(let change) = event, case .purged(let purged) = change.change else { return nil }
      return purged.lostBytes
    }
    #expect(lost == [Int64(Self.page)])
    #expect(!Self.exists("Library/Caches/mine", fixture) && Self.exists("Documents/own", fixture))
    #expect(fixture.content.allocatedBytes == before - Int64(Self.page))
    // Who has it from before finds no such file any more.
    #expect(fixture.open(made) == 0 && fixture.open(own) != 0)
    #expect(fixture.kernel.calls.withLock { $0 }.contains { $0.hasPrefix("directory ") })
    fixture.forget(made)
    #expect(fixture.engine.describe(made) == nil)
    // The name can be given again.
    #expect(Self.make("mine", in: "Library/Caches", fixture) != nil)
  }

  @Test func whatIsUsedStays() throws {
    let files = ["tmp/open", "tmp/pinned", "tmp/one", "tmp/dataless"]
    let fixture = EngineFixture.limited(
      nil, Dictionary(uniqueKeysWithValues: files.map { ($0, Self.page) }), links: [("tmp/two", to: "tmp/one")],
      writing: .scratch)
    var simulation = fixture.engine.simulation
    simulation.areas = Areas(Area.ios(in: []))
    fixture.engine.apply(simulation, restartsClock: false)
    for path in files.dropLast() { #expect(fixture.read(path, keepsOpen: path == "tmp/open") == nil) }
    #expect(fixture.engine.setPolicy(.eager, of: fixture.node("tmp/pinned")) == nil)
    let writer = try #require(Self.make("written", in: "tmp", fixture))
    let handle = fixture.openForWriting(writer).handle
    #expect(fixture.press(1 << 30) == PressureResult())
    for path in files + ["tmp/written", "tmp/two"] { #expect(Self.exists(path, fixture), "\(path)") }
    fixture.close(writer, handle)
    #expect(fixture.press(1 << 30).purgedFiles == 1)
    #expect(!Self.exists("tmp/written", fixture))
  }

  @Test func aRenameChangesTheArea() throws {
    let fixture = Self.fixture(["Documents/a", "tmp/b"], areas: Areas(Area.ios(in: [])))
    _ = try #require(Self.make("kept", in: "tmp", fixture))
    _ = try #require(Self.make("goes", in: "Documents", fixture))
    let (documents, temporary) = (fixture.node("Documents"), fixture.node("tmp"))
    #expect(fixture.rename("kept", in: temporary, to: "kept", into: documents) == .ok)
    #expect(fixture.rename("goes", in: documents, to: "goes", into: temporary) == .ok)
    #expect(fixture.press(1 << 30).purgedFiles == 1)
    #expect(Self.exists("Documents/kept", fixture) && !Self.exists("tmp/goes", fixture))
  }

  @Test func aQuotaPurgesBeforeItEvicts() throws {
    let fixture = Self.fixture(["a", "b", "tmp/x"], quota: 3, areas: Areas(Area.ios(in: [])))
    #expect(fixture.read("a") == nil)
    _ = try #require(Self.make("t", in: "tmp", fixture))
    #expect(fixture.read("b") == nil)
    fixture.events.clear()
    #expect(fixture.read("tmp/x") == nil)
    #expect(Self.gone(fixture) == ["purged tmp/t temporary by quota"])
    #expect(fixture.engine.roomStatus.used == 3 * Int64(Self.page))
    #expect(fixture.resident(["a", "b", "tmp/x"]).count == 3)
  }

  @Test func namesOfAReadOnlyVolumeAreTheStores() {
    let fixture = Self.fixture(
      ["Documents/a", "tmp/b", "Library/Caches/c"], areas: Areas(Area.ios(in: [])), writing: .readOnly)
    for path in ["Documents/a", "Library/Caches/c", "tmp/b"] { #expect(fixture.read(path) == nil) }
    #expect(fixture.press(1 << 30).purgedFiles == 0)
    #expect(
      Self.gone(fixture) == [
        "evicted tmp/b temporary by pressure", "evicted Library/Caches/c cache by pressure",
        "evicted Documents/a by pressure",
      ])
    #expect(Self.exists("tmp/b", fixture))
  }

  @Test func otherAreasHoldAtOnce() {
    let fixture = Self.fixture(["keep/a", "b"], areas: Areas([Self.area("keep", .offline)]))
    for path in ["keep/a", "b"] { #expect(fixture.read(path) == nil) }
    #expect(fixture.press(1 << 30).files == 1)
    #expect(fixture.resident(["keep/a", "b"]) == ["keep/a"])
    var simulation = fixture.engine.simulation
    simulation.areas = .none
    fixture.engine.apply(simulation, restartsClock: false)
    #expect(fixture.press(1 << 30).files == 1)
    // By command what is offline may always be evicted.
    #expect(fixture.resident(["keep/a", "b"]) == [])
  }

  @Test func aPurgeIsOneChangeOfTheJournal() throws {
    let journal = RecordingJournal()
    let fixture = EngineFixture.writable(["tmp/x": Self.page], writing: .kept, journal: journal) {
      $0.simulation.areas = Areas(Area.ios(in: []))
    }
    #expect(fixture.bring(fixture.node("tmp/x"), .read) == nil)
    let before = journal.changes.count
    #expect(fixture.press(1 << 30).purgedFiles == 1)
    #expect(journal.changes.count == before + 1)
    guard case .together(let parts) = journal.changes.last else {
      Issue.record("\(String(describing: journal.changes.last))")
      return
    }
    #expect(parts.contains { if case .unnamed = $0 { true } else if case .hidden = $0 { true } else { false } })
  }
}
