import DatalessCore
@testable import DatalessState
import DatalessStores
import Glibc
import SystemPackage
import Testing

/// Whatever is damaged, `check` takes nothing away that a program has written.
@Suite struct StateRepairTests {
  /// A file that was made and one of the store's that was changed, in a directory that was made; closed.
  private static func make() throws -> StateFixture {
    let fixture = StateFixture()
    let volume = try fixture.open()
    _ = try keepSomeFiles(fixture, in: volume)
    try volume.close()
    return fixture
  }

  static let damages = [
    "UPDATE item SET sum = sum + 1 WHERE content IS NOT NULL",
    "UPDATE item SET record = x'0102'",
    "UPDATE item SET content = content + 100 WHERE content IS NOT NULL",
    "DELETE FROM item WHERE id > 1", "UPDATE item SET sum = sum + 1 WHERE content IS NULL",
    "UPDATE name SET sum = sum + 1", "UPDATE name SET item = item + 1000", "UPDATE name SET directory = 1000",
    "UPDATE item SET parent = 1000 WHERE parent IS NOT NULL", "DROP INDEX item_content",
  ]

  @Test(arguments: damages) func whatWasWrittenIsThereAfterARepair(sql: String) throws {
    let fixture = try Self.make()
    try StateCheckTests.edit(fixture, sql)
    if sql.hasPrefix("DELETE") {
      // Rows that are gone without a trace are a crash's leftovers, unless something says that rows are missing.
      try StateCheckTests.edit(fixture, "UPDATE item SET sum = sum + 1")
    }
    let dry = try fixture.check(isDryRun: true)
    #expect(dry.damages > 0)
    let report = try fixture.check()
    #expect(report.findings == dry.findings)
    #expect(try fixture.check().findings == [])
    #expect(try fixture.texts() == ["made here", "changed"], "\(report.findings)")
  }

  @Test func aRenamedFileWhoseNewNameIsLostIsKept() throws {
    let fixture = StateFixture()
    try fixture.run { volume in
      let file = stored("f", node: 52, inode: 11)
      try fixture.keep(
        .dirty(of: file, try volume.content.make("changed")),
        .together([
          .made(file, attributes(inode: 11), target: []), .hidden(file, name: bytes("f"), in: root),
          .named(file, name: bytes("g"), in: root),
        ]), in: volume)
    }
    try StateCheckTests.edit(fixture, "UPDATE name SET sum = sum + 1 WHERE layer = 0")
    #expect(try fixture.check().damages > 0)
    #expect(try fixture.check().findings == [])
    #expect(try fixture.texts() == ["changed"])
  }

  @Test func aFileThatWasUnlinkedAndOpenIsNoDamage() throws {
    let (fixture, crashed) = (StateFixture(), StateFixture())
    try fixture.run { volume in
      let file = stored("f", node: 52, inode: 11)
      try fixture.keep(
        .dirty(of: file, try volume.content.make("changed")), .hidden(file, name: bytes("f"), in: root), in: volume)
      fixture.scratch.copy(to: crashed.scratch)
    }
    #expect(try fixture.check().findings == [], "the end of the volume has removed it")
    let report = try crashed.check()
    #expect(report.damages == 0 && report.findings.map(\.kind) == [.unlinked, .leftover])
    for fixture in [fixture, crashed] {
      #expect(try fixture.check().findings == [])
      #expect(try fixture.texts() == [])
    }
  }

  /// A copy of a volume's directory as a loss of power leaves it that tears the last commit, which made a file.
  private func losePower(of volume: StateVolume, in fixture: StateFixture) throws -> StateFixture {
    let file = own(node: 50, 1)
    // What tells of the commit is written after it.
    let session = fixture.scratch.read("session")
    try fixture.keep(
      .together([.made(file, attributes(inode: file.inode), target: []), .named(file, name: bytes("file"), in: root)]),
      .dirty(of: file, try volume.content.make("being made")), in: volume)
    let lost = fixture.copy()
    lost.scratch.write("session", session)
    try? volume.close()
    var wal = lost.scratch.read("catalog.sqlite-wal")
    wal[wal.count - 1] ^= 1
    lost.scratch.write("catalog.sqlite-wal", wal)
    return lost
  }

  /// A loss of power in the last commit: content of a file that was being made has no row.
  @Test func whatALossOfPowerLeavesIsNoDamage() throws {
    let fixture = StateFixture()
    let volume = try fixture.open()
    let lost = try losePower(of: volume, in: fixture)
    let report = try lost.check()
    #expect(report.damages == 0 && Set(report.findings.map(\.kind)).isSuperset(of: [.tornLog, .lostName]))
    #expect(try lost.check().findings == [])
    #expect(try lost.texts() == ["being made"])
  }

  /// Whoever mounts it need not know of `check`: what may have been written has a name, and what was fetched goes.
  @Test func whatALossOfPowerLeavesHasANameWhenItIsMounted() throws {
    let fixture = StateFixture()
    let volume = try fixture.open()
    // In a slab, as what is fetched.
    let writer = try volume.content.makeWriter(size: 4)
    bytes("gone").withUnsafeBytes { buffer in try? writer.write(buffer, at: 0) }
    _ = try writer.commit()
    let lost = try losePower(of: volume, in: fixture)
    let mounted = try lost.open()
    #expect(mounted.namedFiles == 1 && mounted.highestInode > 1 << 62)
    #expect(try mounted.reconcile() == 1)
    let name = "lost+found-\(mounted.highestInode)"
    #expect(try mounted.saved(of: root).made.map { String(decoding: $0.name, as: UTF8.self) } == [name])
    try mounted.close()
    let closed = lost.copy()
    #expect(try closed.check().findings == [])
    #expect(try closed.texts() == ["being made"])
    let again = try closed.open()
    #expect(again.namedFiles == 0)
    try again.close()
  }

  @Test func contentThatOthersMayReadIsNotLost() throws {
    for change: (String) -> Void in [
      { path in _ = chmod(path, 0o644) }, { path in _ = Glibc.link(path, path + ".copy") },
    ] {
      let fixture = try Self.make()
      let contents = ["0", "1"].map { fixture.scratch.full("content/\($0)") }
      for path in contents { change(path) }
      let report = try fixture.check()
      #expect(Set(report.findings.map(\.kind)) == [.foreignContent], "\(report.findings)")
      #expect(report.repairs == 0)
      let error = thrown { () throws(FSError) in _ = try fixture.open() }
      #expect(error?.errno == .notPermitted && error?.message.contains("content/0") == true)
      for path in contents {
        chmod(path, 0o600)
        unlink(path + ".copy")
      }
      #expect(try fixture.check().findings == [])
      #expect(try fixture.texts() == ["made here", "changed"])
    }
  }

  /// Wherever a rescue is cut off: the new catalog without the damaged one's WAL, or the damaged one with it.
  @Test func aRescueThatIsCutOffIsFinished() throws {
    let original = try Self.make()
    try StateCheckTests.edit(original, "CREATE TABLE more(a)")
    let wal = Self.walOfAnother(original)
    original.scratch.write("catalog.sqlite-wal", wal)
    let rescued = Scratch()
    original.scratch.copy(to: rescued)
    rescued.remove("catalog.sqlite-wal")
    _ = try StateFixture(rescued).check()
    let new = rescued.read("catalog.sqlite")
    let names = ["catalog.sqlite", "catalog.sqlite-wal"]
    for moved in 0...names.count {
      let scratch = Scratch()
      original.scratch.copy(to: scratch)
      scratch.write("catalog.sqlite.rescued", new)
      for name in names[..<moved] {
        let damaged = name.replacingPrefix("catalog.sqlite", with: "catalog.sqlite.damaged")
        rename(scratch.full(name), scratch.full(damaged))
      }
      let fixture = StateFixture(scratch)
      #expect(try fixture.check(isDryRun: true).findings == [], "\(moved) moved")
      #expect(try fixture.texts() == ["made here", "changed"])
      #expect(scratch.exists("catalog.sqlite.rescued"))
      try fixture.run { volume in
        let names = try volume.saved(of: root).made.map(\.name)
        #expect(names == [bytes("directory")])
      }
      #expect(try fixture.check().findings == [])
      #expect(scratch.read("catalog.sqlite.damaged-wal") == wal)
    }
  }

  /// A WAL with changes that the rescued catalog must not get.
  private static func walOfAnother(_ fixture: StateFixture) -> [UInt8] {
    let scratch = Scratch()
    fixture.scratch.copy(to: scratch)
    let catalog = try? Catalog(damaged: scratch.full("catalog.sqlite"))
    _ = try? catalog?.write("edit") { connection in
      try connection.run("DELETE FROM name")
      try connection.run("DELETE FROM item WHERE id > 1")
    }
    let wal = scratch.read("catalog.sqlite-wal")
    #expect(!wal.isEmpty)
    return wal
  }
}

extension String {
  fileprivate func replacingPrefix(_ prefix: String, with other: String) -> String {
    hasPrefix(prefix) ? other + dropFirst(prefix.count) : self
  }
}
