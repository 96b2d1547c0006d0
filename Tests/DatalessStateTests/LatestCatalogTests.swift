import DatalessCore
@testable import DatalessState
import DatalessStores
import Glibc
import SystemPackage
import Testing

/// Content that a catalog does not name is removed only where that catalog is the latest one of its directory.
@Suite struct LatestCatalogTests {
  private static let names = ["catalog.sqlite", "catalog.sqlite-wal"]

  /// Makes a file of this name that has its name in it.
  private static func write(_ name: String, _ number: UInt64, _ fixture: StateFixture, _ volume: StateVolume) throws {
    let file = own(node: 100 + number, number)
    try fixture.keep(
      .together([.made(file, attributes(inode: file.inode), target: []), .named(file, name: bytes(name), in: root)]),
      .dirty(of: file, try volume.content.make(name)),
      .attributes(of: file, attributes(inode: file.inode, size: Int64(name.utf8.count)), listed: nil), in: volume)
  }

  /// A closed volume with these files, one after the other, each in a run of its own.
  private static func make(_ files: String...) throws -> StateFixture {
    let fixture = StateFixture()
    for (index, name) in files.enumerated() {
      try fixture.run { volume in
        try write(name, UInt64(index + 1), fixture, volume)
      }
    }
    return fixture
  }

  /// As a process that was killed leaves it, after these files.
  ///
  /// - Parameter checkpoints: Whether all but the last is in the catalog's file, and not in its log alone.
  private static func killed(_ files: String..., checkpoints: Bool = false) throws -> StateFixture {
    let fixture = StateFixture()
    let volume = try fixture.open()
    for (index, name) in files.enumerated() {
      if checkpoints, index > 0 {
        _ = try volume.catalog.read("checkpoint") { try $0.first("PRAGMA wal_checkpoint(PASSIVE)") { _ in } }
      }
      try write(name, UInt64(index + 1), fixture, volume)
    }
    let copy = fixture.copy()
    try volume.close()
    return copy
  }

  private static func session(of fixture: StateFixture) throws -> UInt64 {
    let directory = try fixture.directory(.look)
    return try withExtendedLifetime(directory) { try SessionMark(directory.files).number }
  }

  private static func keep(_ number: UInt64, isClosed: Bool, in fixture: StateFixture) throws {
    let directory = try fixture.directory(.repair)
    try withExtendedLifetime(directory) {
      try SessionMark.write(number, isClosed: isClosed, of: directory.marker, directory.files)
    }
  }

  private static func export(_ fixture: StateFixture) throws(FSError) {
    let target = Scratch("export")
    let descriptor = target.openDirectory()
    defer { close(descriptor) }
    _ = try StateExport.run(try fixture.directory(.look), to: descriptor, scratch: Scratch.base)
    #expect(target.files() == [])
  }

  private static func isLost(_ report: StateCheckReport) -> Bool {
    report.findings.contains { $0.kind == .lostCommits }
  }

  /// Neither a mount nor a check removes what a catalog that lacks it does not name.
  private static func expectNothingIsLost(
    _ fixture: StateFixture, _ texts: Set<String>, named: Int, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let mounted = fixture.copy()
    do {
      let volume = try mounted.open()
      #expect(volume.missingChanges != nil && volume.namedFiles == named, sourceLocation: sourceLocation)
      _ = try volume.reconcile()
      try volume.close()
    }
    let closed = mounted.copy()
    #expect(try closed.texts() == texts, sourceLocation: sourceLocation)
    #expect(try closed.check().findings == [], sourceLocation: sourceLocation)
    let dry = try fixture.check(isDryRun: true)
    let report = try fixture.check()
    #expect(report.findings == dry.findings, sourceLocation: sourceLocation)
    #expect(isLost(report) && report.damages > 0 && report.namedFiles == named, sourceLocation: sourceLocation)
    #expect(try fixture.check().findings == [], sourceLocation: sourceLocation)
    #expect(try fixture.texts() == texts, sourceLocation: sourceLocation)
  }

  @Test func anotherVolumesCatalogRemovesNothing() throws {
    let (fixture, other) = (try Self.make("first"), try Self.make("second"))
    let before = fixture.scratch.read("catalog.sqlite")
    let foreign = other.scratch.read("catalog.sqlite")
    fixture.scratch.write("catalog.sqlite", foreign)
    for error in [
      thrown { () throws(FSError) in _ = try fixture.open() },
      thrown { () throws(FSError) in _ = try fixture.check() },
      thrown { () throws(FSError) in _ = try fixture.check(isDryRun: true) },
      thrown { () throws(FSError) in try Self.export(fixture) },
      thrown { () throws(FSError) in
        _ = try StateCopy.source(of: try fixture.directory(.look), scratch: Scratch.base)
      },
    ] {
      #expect(error?.errno == .ioError && error?.message.contains("another state directory") == true)
    }
    #expect(fixture.scratch.read("catalog.sqlite") == foreign)
    fixture.scratch.write("catalog.sqlite", before)
    #expect(try fixture.check().findings == [])
    #expect(try fixture.texts() == ["first"])
  }

  @Test func anOlderCatalogRemovesNothing() throws {
    let fixture = try Self.make("first")
    let older = fixture.scratch.read("catalog.sqlite")
    try fixture.run { volume in
      try Self.write("second", 2, fixture, volume)
    }
    fixture.scratch.write("catalog.sqlite", older)
    try Self.expectNothingIsLost(fixture, ["first", "second"], named: 1)
  }

  /// Without its number nothing says that it is the latest one, however often a repair is begun.
  @Test func anOlderCatalogRemovesNothingAfterARepairThatWasCutOff() throws {
    let fixture = try Self.make("first")
    let older = fixture.scratch.read("catalog.sqlite")
    try fixture.run { volume in
      try Self.write("second", 2, fixture, volume)
    }
    fixture.scratch.write("catalog.sqlite", older)
    fixture.scratch.remove("session")
    try fixture.stopCheck()
    #expect(fixture.scratch.exists("session"))
    try Self.expectNothingIsLost(fixture, ["first", "second"], named: 1)
  }

  @Test(arguments: [false, true], [false, true])
  func aMissingLogRemovesNothing(isEmpty: Bool, checkpoints: Bool) throws {
    let fixture = try Self.killed("first", "second", checkpoints: checkpoints)
    #expect(fixture.scratch.exists("catalog.sqlite-wal"))
    if isEmpty {
      fixture.scratch.write("catalog.sqlite-wal", [])
    } else {
      fixture.scratch.remove("catalog.sqlite-wal")
    }
    try Self.expectNothingIsLost(fixture, ["first", "second"], named: checkpoints ? 1 : 2)
  }

  private static let frameBytes = 24 + 4096

  /// At the end of a frame, behind the header of one, or in its page.
  @Test(arguments: [0, 24, 181]) func aLogThatWasCutRemovesNothing(rest: Int) throws {
    let fixture = try Self.killed("first", "second")
    let log = fixture.scratch.read("catalog.sqlite-wal")
    let frames = (log.count - 32) / Self.frameBytes
    fixture.scratch.write("catalog.sqlite-wal", Array(log[..<(32 + (frames - 1) * Self.frameBytes + rest)]))
    try Self.expectNothingIsLost(fixture, ["first", "second"], named: 1)
  }

  /// A kill may come between the header of a frame and its page; a part of that is what a loss of power leaves.
  @Test(arguments: [0, 24, 124]) func aLogThatEndsInATransactionLacksNothing(rest: Int) throws {
    let fixture = try Self.killed("first")
    let log = fixture.scratch.read("catalog.sqlite-wal")
    fixture.scratch.write("catalog.sqlite-wal", log + log[32..<(32 + rest)])
    let report = try fixture.check(isDryRun: true)
    #expect(report.findings.map(\.kind) == (rest > 24 ? [.tornLog] : []))
    #expect(report.damages == 0)
    let volume = try fixture.open()
    #expect(volume.missingChanges == nil && volume.namedFiles == 0)
    try volume.close()
    #expect(try fixture.copy().texts() == ["first"])
  }

  /// The log is written from its beginning again when all that is in it is in the catalog's file.
  @Test func aLogThatWasBegunAnewLacksNothing() throws {
    let fixture = StateFixture()
    let volume = try fixture.open()
    try Self.write("first", 1, fixture, volume)
    _ = try volume.catalog.read("checkpoint") { try $0.first("PRAGMA wal_checkpoint(RESTART)") { _ in } }
    for number in UInt64(2)...4 {
      try Self.write("file \(number)", number, fixture, volume)
      let copy = fixture.copy()
      #expect(try copy.check(isDryRun: true).findings == [])
    }
    try volume.close()
  }

  /// A rescue leaves out rows, and a crash comes before what they named has got other names.
  @Test func aRescueThatIsCutOffRemovesNothing() throws {
    let fixture = try Self.make("first", "second")
    try StateCheckTests.edit(fixture, "DELETE FROM item WHERE content IS NOT NULL", "DROP INDEX item_place")
    do {
      let directory = try fixture.directory(.repair)
      try withExtendedLifetime(directory) {
        var report = StateCheckReport()
        try CatalogRescue.open(CatalogPlace(directory), &report).close()
        #expect(report.findings.map(\.kind) == [.damagedCatalog])
      }
    }
    let mounted = fixture.copy()
    try mounted.run { volume in _ = try volume.reconcile() }
    for fixture in [fixture, mounted.copy()] {
      _ = try fixture.check()
      #expect(try fixture.check().findings == [])
      #expect(try fixture.texts() == ["first", "second"])
    }
  }

  @Test func aKillLeavesNothingButLeftovers() throws {
    let fixture = StateFixture()
    let volume = try fixture.open()
    try Self.write("first", 1, fixture, volume)
    _ = try volume.content.make("never told")
    for checks in [false, true] {
      let copy = fixture.copy()
      if checks {
        let report = try copy.check()
        #expect(report.findings.map(\.kind) == [.leftover], "\(report.findings)")
      } else {
        let mounted = try copy.open()
        #expect(mounted.missingChanges == nil && mounted.namedFiles == 0)
        #expect(try mounted.reconcile() == 1)
        try mounted.close()
      }
      #expect(try copy.copy().texts() == ["first"])
    }
    try volume.close()
  }

  /// A mount that fails leaves the log where it is: it is no missing one for the next.
  @Test func anAttemptThatFailsTakesNoLogAway() throws {
    let fixture = try Self.killed("first")
    #expect(thrown { () throws(FSError) in _ = try fixture.open(source: "/another") }?.errno == .invalidArgument)
    let volume = try fixture.open()
    #expect(volume.missingChanges == nil && volume.namedFiles == 0)
    try volume.close()
  }

  /// The number is in the catalog before it is beside it, and "closed" is there before the log goes.
  @Test func aCrashBetweenTheTwoNumbersIsNone() throws {
    for fixture in [try Self.make("first", "second"), try Self.killed("first", "second")] {
      let number = try Self.session(of: fixture)
      #expect(number > 0)
      for isClosed in [true, false] {
        let copy = fixture.copy()
        try Self.keep(number - 1, isClosed: isClosed, in: copy)
        #expect(try copy.check(isDryRun: true).findings.allSatisfy { $0.kind != .lostCommits })
      }
    }
  }

  /// Directories of versions that did not know of sessions have neither number.
  @Test func aDirectoryWithoutANumberIsBelieved() throws {
    let fixture = try Self.make("first")
    fixture.scratch.remove("session")
    #expect(Self.isLost(try fixture.check(isDryRun: true)), "the catalog has one")
    try StateCheckTests.edit(fixture, "DELETE FROM setting WHERE name IN ('session', 'endedSession', 'sizesFrom')")
    #expect(try fixture.check(isDryRun: true).findings == [])
    let volume = try fixture.open()
    #expect(volume.wasClean && volume.missingChanges == nil)
    try volume.close()
    #expect(fixture.scratch.exists("session"))
  }

  @Test(arguments: [[], bytes("dataless session\n"), bytes("dataless session\n99999999999999999999\nclosed\n")])
  func aNumberThatCannotBeReadRemovesNothing(text: [UInt8]) throws {
    let fixture = try Self.make("first")
    fixture.scratch.write("session", text)
    #expect(Self.isLost(try fixture.check()))
    #expect(try fixture.check().findings == [])
    #expect(try fixture.texts() == ["first"])
  }
}
