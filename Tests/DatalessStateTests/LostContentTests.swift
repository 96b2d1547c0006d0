import DatalessCore
@testable import DatalessState
import DatalessStores
import Glibc
import SystemPackage
import Testing

/// What programs wrote is never missing without a word.
@Suite struct LostContentTests {
  private static let text = "made here"

  /// A file in a directory, both made on the volume.
  private static func keep(_ fixture: StateFixture, in volume: StateVolume) throws -> ContentID {
    let (file, directory) = (own(node: 50, 1), own(node: 51, 2))
    let content = try volume.content.make(text)
    try fixture.keep(
      .together([
        .made(directory, attributes(inode: directory.inode, kind: .directory), target: []),
        .named(directory, name: bytes("directory"), in: root),
      ]),
      .together([
        .made(file, attributes(inode: file.inode), target: []), .named(file, name: bytes("file"), in: directory),
      ]),
      .dirty(of: file, content),
      .attributes(of: file, attributes(inode: file.inode, size: Int64(text.utf8.count)), listed: nil), in: volume)
    return content
  }

  private static func made() throws -> StateFixture {
    let fixture = StateFixture()
    try fixture.run { volume in _ = try keep(fixture, in: volume) }
    return fixture
  }

  private static func contentFile(_ fixture: StateFixture) throws -> String {
    try #require(fixture.scratch.files("content").first { !$0.contains("slab") })
  }

  @Test func contentThatIsMissingIsNoEmptyFile() throws {
    let fixture = try Self.made()
    fixture.scratch.remove(try Self.contentFile(fixture))
    let mounted = fixture.copy()
    let volume = try mounted.open()
    try volume.findLostContent()
    #expect(volume.troubles.lostFiles == 1 && volume.troubles.firstLost == bytes("directory/file"))
    let found = try #require(try volume.saved(of: own(node: 51, 2)).made.first?.item)
    #expect(found.contentSize == Int64(Self.text.utf8.count))
    let id = try #require(found.content)
    var buffer = [UInt8](repeating: 0, count: 16)
    let error = thrown { () throws(FSError) in
      let failure: FSError? = buffer.withUnsafeMutableBytes { buffer in
        do throws(FSError) {
          _ = try volume.content.read(id, into: buffer, at: 0)
          return nil
        } catch { return error }
      }
      if let failure { throw failure }
    }
    #expect(error?.errno == .ioError)
    #expect(volume.troubles.lostFiles == 1, "counted once")
    try volume.close()
    let report = try fixture.check()
    #expect(report.damages == 1 && report.findings.map(\.kind) == [.lostChanges])
    #expect(report.findings.map(\.place) == ["directory/file"])
    #expect(try fixture.check().findings == [])
  }

  @Test func contentThatWasCutOffIsDamage() throws {
    let fixture = try Self.made()
    truncate(fixture.scratch.full(try Self.contentFile(fixture)), 4)
    let mounted = fixture.copy()
    let volume = try mounted.open()
    try volume.findLostContent()
    #expect(volume.troubles.lostFiles == 1)
    try volume.close()
    let report = try fixture.check()
    #expect(report.damages == 1 && report.findings.map(\.kind) == [.shortContent], "\(report.findings)")
    #expect(report.findings.map(\.place) == ["directory/file"])
    #expect(try fixture.check().findings == [])
  }

  @Test func aRowThatCannotBeReadIsNamed() throws {
    let fixture = try Self.made()
    try StateCheckTests.edit(fixture, "UPDATE item SET sum = sum + 1 WHERE content IS NOT NULL")
    let volume = try fixture.open()
    for _ in 0..<2 {
      let error = thrown { () throws(FSError) in _ = try volume.saved(of: own(node: 51, 2)) }
      #expect(error?.errno == .ioError, "\(String(describing: error))")
      #expect(error?.message.contains(" in 'directory': ") == true, "\(String(describing: error))")
    }
    #expect(volume.troubles.damages.count == 1)
    #expect(volume.troubles.damages.first?.contains("item ") == true)
    try volume.close()
    #expect(try fixture.copy().check(isDryRun: true).findings.contains { $0.place == "directory/file" })
  }

  /// Three small files of the store that were fetched; closed.
  private static func fetched() throws -> StateFixture {
    let fixture = StateFixture()
    try fixture.run { volume in
      for number in UInt64(1)...3 {
        let writer = try volume.content.makeWriter(size: 5000)
        let file = stored("f\(number)", node: 50 + number, inode: 10 + number, size: 5000)
        try fixture.keep(.content(of: file, try writer.commit()), in: volume)
      }
    }
    return fixture
  }

  /// As a crash between the two leaves them, or somebody who tidies up.
  @Test(arguments: ["content/slab-0", "content/slab-0.table"]) func whatIsLeftOfASlabIsRemoved(missing: String) throws {
    let fixture = try Self.fetched()
    fixture.scratch.remove(missing)
    // A volume that serves meanwhile gives no place in it anew.
    let copy = fixture.copy()
    try copy.run { volume in
      #expect(volume.content.adoption.halfSlabs == [0] && volume.content.adoption.refusedNames == [])
      _ = try volume.content.makeWriter(size: 5000).commit()
      #expect(copy.scratch.exists("content/slab-1") && copy.scratch.exists("content/slab-1.table"))
    }
    let dry = try fixture.check(isDryRun: true)
    #expect(dry.damages == 0 && Set(dry.findings.map(\.kind)) == [.lostContent], "\(dry.findings)")
    #expect(Set(dry.findings.map(\.place)) == ["content/slab-0", "f1", "f2", "f3"] && dry.repairs == 4)
    #expect(fixture.scratch.exists("content/slab-0") != fixture.scratch.exists("content/slab-0.table"))
    #expect(try fixture.check().findings == dry.findings)
    #expect(!fixture.scratch.exists("content/slab-0") && !fixture.scratch.exists("content/slab-0.table"))
    #expect(try fixture.check().findings == [])
  }

  /// What was fetched can be fetched again: once that is said, nothing is wrong any more.
  @Test func aDamagedSlabIsMended() throws {
    let fixture = try Self.fetched()
    var table = fixture.scratch.read("content/slab-0.table")
    // The second slot is as long as no slot is that another one follows.
    table[2 * 4 + 3] ^= 0x10
    fixture.scratch.write("content/slab-0.table", table)
    let dry = try fixture.check(isDryRun: true)
    #expect(dry.damages > 0 && Set(dry.findings.map(\.kind)) == [.lostContent], "\(dry.findings)")
    #expect(dry.findings.contains { $0.place == "f2" })
    #expect(try fixture.check().findings == dry.findings)
    #expect(try fixture.check().findings == [])
    #expect(truncate(fixture.scratch.full("content/slab-0"), 5000) == 0)
    #expect(Set(try fixture.check().findings.map(\.kind)) == [.lostContent])
    #expect(try fixture.check().findings == [])
  }

  /// truncate(2) is told after it was done.
  @Test func contentThatIsShorterAfterACrashIsNoDamage() throws {
    let fixture = StateFixture()
    let volume = try fixture.open()
    let content = try Self.keep(fixture, in: volume)
    try volume.content.resize(content, to: 4)
    let killed = fixture.copy()
    try volume.close()
    #expect(try killed.copy().check().findings == [])
    // Nor is it after a run that has not looked at it.
    try killed.run { volume in
      try volume.findLostContent()
      #expect(volume.troubles.lostFiles == 0)
    }
    let closed = killed.copy()
    #expect(try closed.check().findings == [])
    try closed.run { volume in
      try volume.findLostContent()
      #expect(volume.troubles.lostFiles == 0)
    }
  }
}
