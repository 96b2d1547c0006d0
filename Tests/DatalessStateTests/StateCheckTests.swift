import DatalessCore
@testable import DatalessState
import DatalessStores
import Glibc
import SystemPackage
import TestSupport
import Testing

/// What is wrong with a state directory is found and mended, and a second look finds nothing.
@Suite struct StateCheckTests {
  /// A directory with something of everything in it, closed.
  static func make() throws -> StateFixture {
    let fixture = StateFixture()
    let volume = try fixture.open()
    let (file, directory, fetched) = (own(node: 50, 1), own(node: 51, 2), stored("d/f", node: 52, inode: 11))
    let content = try volume.content.makeWritable(size: 5, copying: nil)
    let clean = try volume.content.makeWritable(size: 4, copying: nil)
    try fixture.keep(
      .together([
        .made(directory, attributes(inode: directory.inode, kind: .directory), target: []),
        .named(directory, name: bytes("directory"), in: root),
      ]),
      .together([
        .made(file, attributes(inode: file.inode), target: []), .named(file, name: bytes("file"), in: directory),
      ]),
      .dirty(of: file, content), .content(of: fetched, clean),
      .attribute(of: fetched, name: bytes("user.x"), value: bytes("y")),
      .hidden(
        stored("d/g", node: 53, inode: 12), name: bytes("g"), in: stored("d", node: 54, inode: 13, kind: .directory)),
      in: volume)
    try volume.keepListing(
      [StoreEntry(name: bytes("d"), item: ListedItem(attributes(inode: 13, kind: .directory)))], of: root)
    try volume.close()
    return fixture
  }

  /// Changes rows as somebody would with a tool of his own.
  static func edit(_ fixture: StateFixture, _ statements: String...) throws(FSError) {
    let catalog = try Catalog(damaged: fixture.scratch.full("catalog.sqlite"))
    for sql in statements { _ = try catalog.write("edit") { try $0.run(sql) } }
    try catalog.close()
  }

  @Test func aSoundDirectoryHasNoFindings() throws {
    let fixture = try Self.make()
    for isDryRun in [true, false, true] {
      let report = try fixture.check(isDryRun: isDryRun)
      #expect(report.findings == [])
      #expect(report.contents == 2 && report.names == 3 && report.items >= 6)
    }
  }

  static let damages: [(String, StateFinding.Kind)] = [
    ("UPDATE item SET sum = sum + 1 WHERE content IS NOT NULL", .damagedRow),
    ("UPDATE item SET record = x'0102' WHERE content IS NOT NULL", .damagedRow),
    ("UPDATE item SET inode = inode + 1 WHERE id = 1", .damagedRow),
    ("DELETE FROM item WHERE id = 1", .damagedRow),
    ("DELETE FROM item WHERE content IS NULL AND id > 1", .danglingRow),
    ("UPDATE name SET name = x'2e2e'", .damagedRow),
    ("UPDATE name SET name = x'612f62' WHERE layer = 0", .damagedRow),
    ("UPDATE name SET item = 1 WHERE layer = 0", .damagedRow),
    ("DELETE FROM name", .nameless),
    ("UPDATE attribute SET value = x'00'", .damagedRow),
    ("UPDATE listing SET entries = x'00'", .damagedRow),
    ("UPDATE setting SET value = x'00'", .damagedRow),
    ("UPDATE epoch SET sealed = 7", .damagedRow),
    ("DELETE FROM epoch", .lostContent),
  ]

  @Test(arguments: damages) func whatIsWrongIsMended(sql: String, kind: StateFinding.Kind) throws {
    let fixture = try Self.make()
    try Self.edit(fixture, sql)
    let before = fixture.scratch.read("catalog.sqlite")
    let dry = try fixture.check(isDryRun: true)
    #expect(dry.findings.contains { $0.kind == kind }, "\(dry.findings)")
    #expect(fixture.scratch.read("catalog.sqlite") == before)
    #expect(!fixture.scratch.exists("catalog.sqlite-wal"))
    #expect(try fixture.check().findings == dry.findings)
    let again = try fixture.check()
    #expect(again.findings == [], "\(again.findings)")
    let volume = try fixture.open()
    _ = try volume.saved(of: root)
    try volume.close()
  }

  @Test func whatWasWrittenIsKeptThoughItsNameIsLost() throws {
    let fixture = try Self.make()
    try Self.edit(fixture, "DELETE FROM name WHERE layer = 0")
    _ = try fixture.check()
    let volume = try fixture.open()
    let found = try volume.saved(of: root).made
    #expect(found.count == 1 && found.first?.name.starts(with: bytes("lost+found-")) == true)
    #expect(found.first?.item.isDirty == true && found.first?.item.content != nil)
    try volume.close()
  }

  @Test func directoriesInThemselvesAreTakenApart() throws {
    let fixture = StateFixture()
    let (a, b) = (own(node: 50, 1), own(node: 51, 2))
    do {
      let volume = try fixture.open()
      try fixture.keep(
        .made(a, attributes(inode: a.inode, kind: .directory), target: []),
        .made(b, attributes(inode: b.inode, kind: .directory), target: []), .named(a, name: bytes("a"), in: b),
        .named(b, name: bytes("b"), in: a), .named(a, name: bytes("top"), in: root), in: volume)
      let error = thrown { () throws(FSError) in _ = try volume.saved(of: root) }
      #expect(error?.errno == .ioError)
      #expect(error?.message.contains("two names") == true, "\(String(describing: error))")
      try volume.close()
    }
    #expect(try fixture.check().count > 0)
    #expect(try fixture.check().findings == [])
    let volume = try fixture.open()
    _ = try volume.saved(of: root)
    try volume.close()
  }

  @Test func foreignTablesAreRefused() throws {
    for sql in [
      "CREATE TRIGGER t AFTER INSERT ON name BEGIN DELETE FROM item; END", "CREATE TABLE more(a)",
      "CREATE VIEW v AS SELECT * FROM item", "DROP INDEX item_place", "PRAGMA application_id=1",
    ] {
      let fixture = try Self.make()
      try Self.edit(fixture, sql)
      #expect(thrown { () throws(FSError) in _ = try fixture.open() }?.errno == .ioError, "\(sql)")
      #expect(try fixture.check().findings.contains { $0.kind == .damagedCatalog }, "\(sql)")
      #expect(fixture.scratch.exists("catalog.sqlite.damaged"))
      let volume = try fixture.open()
      #expect(try volume.saved(of: root).made.map(\.name) == [bytes("directory")])
      try volume.close()
    }
  }

  /// Nobody asks a table of a prepared catalog before it is one.
  @Test(arguments: ["setting", "item"]) func aTableThatNeverEndsIsNotRead(table: String) throws {
    let fixture = try Self.make()
    try Self.edit(
      fixture, "ALTER TABLE \(table) RENAME TO former",
      "CREATE VIEW \(table) AS WITH RECURSIVE more(name) AS (SELECT 'a' UNION ALL SELECT name FROM more)"
        + " SELECT name, name AS value, 0 AS sum, name AS id, NULL AS parent, 0 AS inode, NULL AS content,"
        + " x'00' AS record FROM more")
    let error = thrown { () throws(FSError) in _ = try fixture.open() }
    #expect(error?.errno == .ioError)
    #expect(try fixture.check(isDryRun: true).findings.contains { $0.kind == .damagedCatalog })
    #expect(try fixture.check().findings.contains { $0.kind == .damagedCatalog })
    #expect(try fixture.check().findings == [])
  }

  /// A name that SQLite would give one of its own indices hides nothing.
  @Test func aTriggerUnderAnotherNameIsRefused() throws {
    let fixture = try Self.make()
    let program = "CREATE TRIGGER t AFTER INSERT ON name BEGIN DELETE FROM item; END"
    try Self.edit(fixture, program)
    let catalog = try Catalog(damaged: fixture.scratch.full("catalog.sqlite"))
    _ = try catalog.read("edit") { connection in
      try connection.run("PRAGMA writable_schema=ON")
      try connection.run(
        "UPDATE sqlite_schema SET name = 'sqlite_autoindex_t',"
          + " sql = replace(sql, 'TRIGGER t ', 'TRIGGER sqlite_autoindex_t ') WHERE type = 'trigger'")
    }
    try catalog.close()
    #expect(thrown { () throws(FSError) in _ = try fixture.open() }?.errno == .ioError)
    #expect(try fixture.check().findings.contains { $0.kind == .damagedCatalog })
    let volume = try fixture.open()
    #expect(try volume.saved(of: root).made.map(\.name) == [bytes("directory")])
    try volume.close()
  }

  /// SQLite opens it, and would refuse the first change.
  @Test func aHeaderThatAllowsReadingAloneIsDamage() throws {
    let fixture = try Self.make()
    var database = fixture.scratch.read("catalog.sqlite")
    // The write version.
    database[18] = 18
    fixture.scratch.write("catalog.sqlite", database)
    let error = thrown { () throws(FSError) in _ = try fixture.open() }
    #expect(
      error?.errno == .ioError && error?.message.contains("may only be read") == true, "\(String(describing: error))")
    let dry = try fixture.check(isDryRun: true)
    #expect(
      dry.findings.contains { $0.kind == .damagedCatalog && $0.message.contains("may only be read") }, "\(dry.findings)"
    )
    #expect(try fixture.check().findings == dry.findings)
    #expect(try fixture.check().findings == [])
    let volume = try fixture.open()
    #expect(try volume.saved(of: root).made.map(\.name) == [bytes("directory")])
    try volume.close()
  }

  /// It is as good as it was when its owner may write to it again. As root nothing stands in the way.
  @Test(.enabled(if: !isRoot)) func aCatalogThatMayOnlyBeReadIsNotDamaged() throws {
    let fixture = try Self.make()
    chmod(fixture.scratch.full("catalog.sqlite"), 0o400)
    let before = fixture.scratch.files()
    #expect(thrown { () throws(FSError) in _ = try fixture.open() }?.errno == .permissionDenied)
    #expect(thrown { () throws(FSError) in _ = try fixture.check() }?.errno == .permissionDenied)
    #expect(fixture.scratch.files() == before)
    chmod(fixture.scratch.full("catalog.sqlite"), 0o600)
    #expect(try fixture.check().findings == [])
  }

  /// Whatever bit turns in the catalog: nothing traps, `check` ends, and what it leaves is sound.
  @Test(arguments: TestSeed.seeds) func aBitThatTurnsInTheCatalogIsNoCatastrophe(seed: UInt64) throws {
    let original = try Self.make()
    var random = TestRandom(seed: seed)
    for round in 0..<40 {
      let scratch = Scratch()
      original.scratch.copy(to: scratch)
      var database = scratch.read("catalog.sqlite")
      for _ in 0...random.below(3) {
        // Where something is: most of a small database is empty.
        var place = random.below(database.count)
        for _ in 0..<200 where database[place] == 0 { place = random.below(database.count) }
        database[place] ^= UInt8(1 << random.below(8))
      }
      scratch.write("catalog.sqlite", database)
      let fixture = StateFixture(scratch)
      let text = "round \(round), seed \(seed)"
      do {
        let volume = try fixture.open()
        for item in [root, stored("d", node: 54, inode: 13, kind: .directory), own(node: 51, 2)] {
          do {
            _ = try volume.saved(of: item)
            _ = try volume.listing(of: item)
          } catch { #expect(error.errno == .ioError, "\(text): \(error)") }
        }
        try? volume.close()
      } catch {
        let errno = error.errno
        #expect(errno == .ioError || errno == .protocolNotSupported, "\(text): \(error)")
      }
      do {
        _ = try fixture.check()
        let again = try fixture.check()
        #expect(again.findings == [], "\(text): \(again.findings)")
      } catch { #expect(error.errno == .protocolNotSupported, "\(text): \(error)") }
    }
  }

  @Test func whatLiesInTheWayIsSaidAndLeftAlone() throws {
    let fixture = try Self.make()
    fixture.scratch.write("letter.txt", [1])
    fixture.scratch.write("content/strange", [1])
    fixture.scratch.write("content/77.part", [1])
    let report = try fixture.check(isDryRun: true)
    #expect(report.findings.map(\.kind).contains(.foreignName) && report.findings.map(\.kind).contains(.foreignContent))
    #expect(report.findings.contains { $0.kind == .leftover })
    #expect(fixture.scratch.exists("content/77.part"))
    _ = try fixture.check()
    #expect(fixture.scratch.exists("letter.txt") && fixture.scratch.exists("content/strange"))
    #expect(!fixture.scratch.exists("content/77.part"))
  }

  @Test func contentThatIsGoneIsSaid() throws {
    let fixture = try Self.make()
    let files = ["0", "1"].filter { fixture.scratch.exists("content/\($0)") }
    #expect(files.count == 2)
    for file in files { fixture.scratch.remove("content/\(file)") }
    let kinds = try fixture.check().findings.map(\.kind)
    #expect(Set(kinds) == [.lostContent, .unwritten])
    #expect(try fixture.check().findings == [])
  }
}
