import DatalessCore
@testable import DatalessState
import Glibc
import TestSupport
import Testing

/// What was moved out of a directory that callers do not find any more follows SOURCE all the same.
@Suite struct KeptMovedOutTests {
  private let source = Scratch("source")
  private let states = StateCopies()

  /// Why no listing leads to the place in SOURCE of what was moved.
  enum Reason: CaseIterable {
    /// The directory was removed here.
    case removed
    /// It and the one that it was in.
    case removedWithAll
    /// Nobody has looked into it since the mount.
    case unseen
  }

  init() {
    for directory in ["top", "top/d", "top/d/tree", "top/d/tree/in"] { mkdir(source.full(directory), 0o755) }
    for file in ["top/d/f", "top/d/tree/a", "top/d/tree/in/b"] { source.write(file, bytes("old"), mode: 0o644) }
  }

  private func mount() throws(FSError) -> KeptVolume { try KeptVolume(states.next(), source: source) }

  private func moved(_ reason: Reason) throws -> KeptVolume {
    var volume = try mount()
    _ = volume.tree()
    #expect(volume.rename("top/d/tree", to: "tree") == nil && volume.rename("top/d/f", to: "f") == nil)
    switch reason {
    case .removed: #expect(volume.removeDirectory("top/d") == nil)
    case .removedWithAll: #expect(volume.removeDirectory("top/d") == nil && volume.removeDirectory("top") == nil)
    case .unseen:
      try volume.unmount()
      volume = try mount()
      #expect(volume.names("tree") == ["a", "in"] && volume.names("tree/in") == ["b"])
    }
    return volume
  }

  /// What a volume shows is the same after a remount.
  private func expectSame(_ volume: KeptVolume) throws {
    let before = volume.tree()
    try volume.unmount()
    #expect(try states.next().check().findings.filter { $0.kind != .unlinked } == [])
    let after = try mount()
    #expect(after.tree() == before)
    try after.unmount()
  }

  @Test(arguments: Reason.allCases) func whatSourceChangesInItIsSeen(_ reason: Reason) throws {
    let volume = try moved(reason)
    source.write("top/d/tree/new", bytes("new"), mode: 0o644)
    unlink(source.full("top/d/tree/a"))
    source.write("top/d/tree/in/b", bytes("another version"), mode: 0o644)
    source.write("top/d/unseen", bytes("new"), mode: 0o644)
    volume.refresh()
    #expect(volume.names("tree") == ["in", "new"] && volume.read("tree/in/b") == "another version")
    #expect(volume.conflicts == [:])
    if reason != .unseen {
      source.write("top/d/f", bytes("another version"), mode: 0o644)
      volume.refresh()
      #expect(volume.read("f") == "another version")
      #expect(volume.names("") == (reason == .removed ? ["f", "top", "tree"] : ["f", "tree"]))
    }
    try expectSame(volume)
  }

  @Test(arguments: Reason.allCases, [false, true])
  func whatSourceRemovesGoesUnlessItWasChanged(_ reason: Reason, isWritten: Bool) throws {
    let volume = try moved(reason)
    if isWritten { #expect(volume.write("mine", to: "tree/in/b") == nil) }
    Scratch.removeTree(source.full("top/d/tree"))
    volume.refresh()
    if isWritten {
      #expect(volume.names("tree") == ["in"] && volume.read("tree/in/b") == "mine")
      #expect(volume.conflicts["tree/in/b"] == "gone_in_source")
    } else {
      #expect(!volume.names("").contains("tree") && volume.conflicts == [:])
    }
    try expectSame(volume)
  }

  /// Nothing is fetched, and no conflict is told, of what was removed with the directory.
  @Test(arguments: [Reason.removed, .removedWithAll]) func whatSourceRenamesThereStays(_ reason: Reason) throws {
    let volume = try moved(reason)
    let fetched = volume.fetched
    rename(source.full("top/d/tree"), source.full("top/d/other"))
    rename(source.full("top/d/f"), source.full("top/d/g"))
    source.write("top/d/f", bytes("another file"), mode: 0o644)
    volume.refresh()
    #expect(volume.names("tree") == ["a", "in"] && volume.conflicts == [:] && volume.fetched == fetched)
    source.write("top/d/other/new", bytes("new"), mode: 0o644)
    volume.refresh()
    #expect(volume.names("tree") == ["a", "in", "new"] && volume.read("f") == "old")
    try expectSame(volume)
  }

  @Test func whatWasRemovedWithItIsNoConflict() throws {
    source.write("top/d/gone", bytes("old"), mode: 0o644)
    let volume = try moved(.unseen)
    #expect(volume.unlink("top/d/gone") == nil && volume.removeDirectory("top/d") == nil)
    source.write("top/d/gone", bytes("another version"), mode: 0o644)
    chmod(source.full("top/d/tree/in"), 0o700)
    volume.refresh()
    #expect(volume.conflicts == [:] && volume.attributes("tree/in").map { $0.mode & 0o777 } == 0o700)
    // SOURCE has the directory no more, and with it what was moved out of it: of that, the content is here alone.
    Scratch.removeTree(source.full("top/d"))
    volume.refresh()
    #expect(volume.names("") == ["f", "top"] && volume.conflicts == ["f": "gone_in_source"])
    try expectSame(volume)
  }
}
