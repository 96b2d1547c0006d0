import DatalessCore
@testable import DatalessState
import DatalessStores
import Glibc
import SystemPackage
import Testing

/// A state directory whose marker or catalog is gone is one still; what is none is not made one.
@Suite struct MarkerRepairTests {
  private static func make() throws -> StateFixture {
    let fixture = StateFixture()
    try fixture.run { volume in _ = try keepSomeFiles(fixture, in: volume) }
    return fixture
  }

  /// nil: it is removed.
  private static let damages: [(@Sendable ([UInt8]) -> [UInt8]?)] = [
    { _ in nil }, { _ in [] }, { Array($0.dropLast()) }, { _ in bytes("something else") },
    { $0 + [UInt8](repeating: 0, count: 300) },
    // Another volume's id.
    { marker in
      var marker = marker
      let last = marker.count - 2
      marker[last] = marker[last] == UInt8(ascii: "0") ? UInt8(ascii: "1") : UInt8(ascii: "0")
      return marker
    },
  ]

  @Test(arguments: damages.indices) func aMarkerIsMadeAnew(index: Int) throws {
    let fixture = try Self.make()
    let before = fixture.scratch.read("dataless-state")
    let damaged = Self.damages[index](before)
    if let damaged {
      fixture.scratch.write("dataless-state", damaged)
    } else {
      fixture.scratch.remove("dataless-state")
    }
    let error = thrown { () throws(FSError) in _ = try fixture.open() }
    #expect(
      error?.errno == .ioError && error?.message.contains("Run 'dataless check'") == true,
      "\(String(describing: error))")
    #expect(try fixture.texts() == ["made here", "changed"])
    let dry = try fixture.check(isDryRun: true)
    #expect(dry.damages == 1 && dry.findings.map(\.kind) == [.damagedMarker], "\(dry.findings)")
    #expect(fixture.scratch.read("dataless-state") == damaged ?? [])
    #expect(try fixture.check().findings == dry.findings)
    #expect(fixture.scratch.read("dataless-state") == before)
    #expect(try fixture.check().findings == [])
    let volume = try fixture.open()
    #expect(volume.missingChanges == nil && volume.namedFiles == 0)
    try volume.close()
  }

  @Test(arguments: [false, true]) func aCatalogIsMadeAnew(hasMarker: Bool) throws {
    let fixture = StateFixture()
    let volume = try fixture.open()
    _ = try keepSomeFiles(fixture, in: volume)
    let copy = fixture.copy()
    try volume.close()
    copy.scratch.remove("catalog.sqlite")
    if !hasMarker { copy.scratch.write("dataless-state", []) }
    let log = copy.scratch.read("catalog.sqlite-wal")
    let dry = try copy.check(isDryRun: true)
    #expect(!copy.scratch.exists("catalog.sqlite") && copy.scratch.read("catalog.sqlite-wal") == log)
    let report = try copy.check()
    #expect(report.findings == dry.findings)
    #expect(report.findings.contains { $0.kind == .damagedCatalog } && report.namedFiles == 2)
    #expect(copy.scratch.read("catalog.sqlite.damaged-wal") == log)
    #expect(try copy.check().findings == [])
    #expect(try copy.texts() == ["made here", "changed"])
    let mounted = try copy.open()
    #expect(try mounted.saved(of: root).made.count == 2)
    try mounted.close()
  }

  /// What no row names is kept by the repair that makes the marker anew: so that comes first.
  @Test func aMarkerIsNotMadeAnewBeforeTheRepairIsThere() throws {
    let fixture = StateFixture()
    try fixture.run { volume in
      _ = try keepSomeFiles(fixture, in: volume)
      _ = try volume.content.make("of a row that is gone")
    }
    fixture.scratch.write("dataless-state", bytes("something else"))
    try fixture.stopCheck()
    #expect(fixture.scratch.read("dataless-state") == bytes("something else"))
    #expect(thrown { () throws(FSError) in _ = try fixture.open() }?.errno == .ioError)
    #expect(try fixture.check().namedFiles == 1)
    #expect(try fixture.check().findings == [])
    #expect(try fixture.texts() == ["made here", "changed", "of a row that is gone"])
  }

  /// The number of the session is gone, too: nothing but the new catalog itself says that it lacks names.
  @Test(arguments: [false, true]) func aNewCatalogIsNotBelievedBeforeItHasNames(checks: Bool) throws {
    let fixture = try Self.make()
    for name in ["catalog.sqlite", "session"] { fixture.scratch.remove(name) }
    try fixture.stopCheck()
    #expect(fixture.scratch.exists("catalog.sqlite"))
    if checks {
      let report = try fixture.check()
      #expect(report.namedFiles == 2, "\(report.findings)")
    } else {
      let volume = try fixture.open()
      #expect(volume.namedFiles == 2)
      _ = try volume.reconcile()
      try volume.close()
    }
    let copy = fixture.copy()
    #expect(try copy.check().findings == [])
    #expect(try copy.texts() == ["made here", "changed"])
  }

  @Test func whatIsNoStateDirectoryIsNotMadeOne() throws {
    for names in [
      ["letter.txt"], ["dataless-state"], ["dataless-state", "letter.txt"], ["catalog.sqlite"], ["session"],
    ] {
      let fixture = StateFixture()
      for name in names { fixture.scratch.write(name, bytes("a letter")) }
      mkdir(fixture.scratch.full("content"), 0o700)
      fixture.scratch.write("content/1", bytes("a page"))
      for isDryRun in [true, false] {
        let error = thrown { () throws(FSError) in _ = try fixture.check(isDryRun: isDryRun) }
        #expect(error?.errno == .noSuchFileOrDirectory || error?.errno == .ioError, "\(names)")
      }
      for name in names { #expect(fixture.scratch.read(name) == bytes("a letter")) }
      #expect(fixture.scratch.read("content/1") == bytes("a page"))
    }
  }
}
