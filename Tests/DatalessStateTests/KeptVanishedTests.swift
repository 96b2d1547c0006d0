import DatalessCore
@testable import DatalessState
import DatalessStores
import Glibc
import Testing

/// Directories that SOURCE has no more where they were removed, or moved, on the volume: their rows are no damage.
@Suite struct KeptVanishedTests {
  private let source = Scratch("source")
  private let states = StateCopies()

  init() {
    for directory in ["a", "a/b", "c", "c/d"] { mkdir(source.full(directory), 0o755) }
    source.write("a/b/g", bytes("g"))
    source.write("c/d/i", bytes("i"))
  }

  private func mounted(_ body: (KeptVolume) throws -> Void) throws {
    let volume = try KeptVolume(states.next(), source: source)
    volume.state.emptyTrash()
    volume.run()
    try body(volume)
    try volume.unmount()
  }

  private func expectNothingIsWrong(_ sourceLocation: SourceLocation = #_sourceLocation) throws {
    let findings = try states.next().check().findings
    #expect(findings == [], sourceLocation: sourceLocation)
  }

  @Test func aRemovedTreeThatSourceRemovesToo() throws {
    try mounted { volume in
      _ = volume.tree()
      #expect(volume.remove("a/b") == nil)
    }
    unlink(source.full("a/b/g"))
    rmdir(source.full("a/b"))
    try mounted { volume in
      _ = volume.tree()
      #expect(volume.names("a") == [])
    }
    try expectNothingIsWrong()
  }

  /// Something was removed from it, which the kernel still knows, and so its times are the volume's own. What SOURCE
  /// has in its place has nothing of that.
  @Test func aDirectoryThatSourceReplaces() throws {
    mkdir(source.full("a/b/e"), 0o755)
    var before: [String] = []
    try mounted { volume in
      #expect(volume.unlink("a/b/g") == nil)
      #expect(volume.change("a/b") { $0.mode = 0o700 } == nil)
      #expect(volume.change("a/b/e") { $0.mode = 0o700 } == nil)
      unlink(source.full("a/b/g"))
      rmdir(source.full("a/b/e"))
      rename(source.full("a/b"), source.full("former"))
      mkdir(source.full("a/b"), 0o755)
      rmdir(source.full("former"))
      volume.refresh()
      before = volume.tree()
      #expect(volume.attributes("a/b")?.mode == 0o40755)
    }
    #expect(try states.next().check().findings.filter { $0.kind != .unlinked } == [])
    for _ in 0..<2 {
      try mounted { volume in #expect(volume.tree() == before) }
      try expectNothingIsWrong()
    }
  }

  /// What was moved out of it has no place in SOURCE any more.
  @Test func aRemovedTreeOfWhichSomethingWasMovedOut() throws {
    try mounted { volume in
      #expect(volume.write("G", to: "a/b/g") == nil)
      #expect(volume.rename("a/b/g", to: "c/g") == nil)
      #expect(volume.remove("a/b") == nil)
    }
    unlink(source.full("a/b/g"))
    rmdir(source.full("a/b"))
    for _ in 0..<2 {
      try mounted { volume in
        _ = volume.tree()
        #expect(volume.read("c/g") == "G")
      }
    }
    let report = try states.next().check()
    #expect(report.damages == 0 && report.namedFiles == 0, "\(report.findings)")
    try mounted { volume in #expect(volume.read("c/g") == "G") }
  }

  /// What was set on it went with the tree; what SOURCE has kept of that, elsewhere, is SOURCE's.
  @Test(arguments: [false, true], [false, true])
  func whatSourceHasMovedOutOfARemovedTree(isRead: Bool, isEmptied: Bool) throws {
    var before: [String] = []
    try mounted { volume in
      #expect(volume.change("a/b/g") { $0.modificationTime = .at(Timestamp(seconds: 5, nanoseconds: 0)) } == nil)
      #expect(volume.remove("a/b", empties: isEmptied) == nil)
      rename(source.full("a/b/g"), source.full("c/g"))
      volume.refresh()
      if isRead { #expect(volume.read("c/g") == "g") }
      before = volume.tree()
    }
    for _ in 0..<2 { try mounted { volume in #expect(volume.tree() == before) } }
    try expectNothingIsWrong()
  }

  /// The tree is not emptied yet when the other name is looked up.
  @Test(arguments: [false, true]) func whatWasWrittenHasAnotherNameOutsideOfARemovedTree(isEmptied: Bool) throws {
    mkdir(source.full("e"), 0o755)
    link(source.full("a/b/g"), source.full("e/g"))
    try mounted { volume in #expect(volume.write("W", to: "a/b/g") == nil) }
    try mounted { volume in
      _ = volume.names("")
      #expect(volume.remove("a", empties: isEmptied) == nil)
      #expect(volume.read("e/g") == "W")
    }
    for _ in 0..<2 { try mounted { volume in #expect(volume.read("e/g") == "W") } }
    try expectNothingIsWrong()
  }

  /// Moved here, and renamed in SOURCE; its new name is met first.
  private func moveOnBothSides() throws {
    try mounted { volume in
      #expect(volume.unlink("a/b/g") == nil)
      #expect(volume.rename("a/b", to: "c/d/x") == nil)
    }
    rename(source.full("a/b"), source.full("a/x"))
    try mounted { volume in
      _ = volume.names("c/d/x")
      _ = volume.tree()
      #expect(volume.names("a") == ["x"] && volume.names("c/d") == ["i"])
    }
  }

  @Test func aDirectoryThatWasMovedOnBothSides() throws {
    try moveOnBothSides()
    let report = try states.next().check(isDryRun: true)
    #expect(report.damages == 0, "\(report.findings)")
    try mounted { volume in _ = volume.tree() }
    try expectNothingIsWrong()
  }

  /// As earlier versions have left it.
  @Test func whatNobodyHasToldOfIsALeftover() throws {
    try moveOnBothSides()
    let fixture = states.next()
    try StateCheckTests.edit(fixture, "DELETE FROM orphan")
    fixture.scratch.write("content/77", bytes("of nobody"))
    let report = try fixture.check()
    #expect(report.damages == 0 && report.namedFiles == 0, "\(report.findings)")
    #expect(Set(report.findings.map(\.kind)) == [.leftover])
    #expect(try fixture.check().findings == [])
    #expect(!fixture.scratch.exists("content/77"))
  }
}
