import DatalessCore
@testable import DatalessState
import Glibc
import Testing

/// What was moved out of a tree that was removed whole is found by the way that it has in SOURCE, as after `rm -r`.
@Suite struct KeptMovedOutOfRemovedTests {
  private let source = Scratch("source")
  private let states = StateCopies()

  init() {
    for directory in ["d", "d/e", "d/e/f", "k", "other"] { mkdir(source.full(directory), 0o755) }
    for file in ["d/e/f/b", "d/c", "other/x"] { source.write(file, bytes("source \(file)")) }
  }

  private func mount() throws -> KeptVolume { try KeptVolume(states.next(), source: source) }

  private func removed(_ volume: KeptVolume, _ how: String) {
    switch how {
    case "whole": #expect(volume.remove("d") == nil)
    case "in part": #expect(volume.remove("d/e") == nil && volume.remove("d") == nil)
    default:
      #expect(volume.removeDirectory("d/e/f") == nil && volume.removeDirectory("d/e") == nil)
      #expect(volume.unlink("d/c") == nil && volume.removeDirectory("d") == nil)
    }
  }

  @Test(arguments: ["whole", "in part", "one by one"]) func sourceLosesIt(how: String) throws {
    let volume = try mount()
    #expect(volume.read("d/e/f/b") == "source d/e/f/b")
    #expect(volume.read("other/x") == "source other/x")
    #expect(volume.rename("d/e/f/b", to: "k/m") == nil)
    removed(volume, how)
    try remove()
    volume.refresh()
    #expect(volume.conflicts == ["k/m": "gone_in_source"])
    volume.evict("k/m")
    #expect(volume.read("k/m") == "source d/e/f/b", "it is nowhere else")
    try volume.unmount()
    let again = try mount()
    #expect(again.read("k/m") == "source d/e/f/b" && again.names("") == ["k", "other"])
    try again.unmount()
  }

  private func remove() throws {
    for file in ["d/e/f/b", "d/c"] { #expect(Glibc.unlink(source.full(file)) == 0) }
    for directory in ["d/e/f", "d/e", "d"] { #expect(rmdir(source.full(directory)) == 0) }
  }

  @Test(arguments: ["whole", "in part", "one by one"]) func sourceChangesIt(how: String) throws {
    let volume = try mount()
    #expect(volume.read("d/e/f/b") == "source d/e/f/b")
    #expect(volume.rename("d/e/f/b", to: "k/m") == nil)
    removed(volume, how)
    source.write("d/e/f/b", bytes("changed"))
    volume.refresh()
    #expect(volume.read("k/m") == "changed")
    try volume.unmount()
    let again = try mount()
    #expect(again.read("k/m") == "changed" && again.names("") == ["k", "other"])
    try again.unmount()
  }

  /// Another name of the file was in the tree: by that nobody finds it again.
  @Test(arguments: [false, true], [false, true])
  func sourceLosesTheOtherNameOfAFile(isListedFirst: Bool, isMoved: Bool) throws {
    #expect(link(source.full("d/e/f/b"), source.full("k/a")) == 0)
    let volume = try mount()
    if isListedFirst { #expect(volume.names("d/e/f") == ["b"]) }
    #expect(volume.names("k") == ["a"] && volume.names("d/e/f") == ["b"])
    #expect(volume.write("WRITTEN", to: "k/a") == nil)
    #expect(volume.remove("d") == nil)
    try volume.unmount()
    if isMoved {
      #expect(Glibc.rename(source.full("k/a"), source.full("d/e/moved")) == 0)
    } else {
      #expect(Glibc.unlink(source.full("k/a")) == 0)
    }
    for _ in 0..<2 {
      let again = try mount()
      again.visitSaved()
      #expect(again.names("") == ["k", "other"] && again.names("k") == ["a"])
      #expect(again.read("k/a").hasPrefix("WRITTEN"))
      #expect(again.conflicts == ["k/a": "gone_in_source"])
      try again.unmount()
    }
  }

  /// Nothing is kept of a tree out of which nothing was moved.
  @Test func theWayGoesWithTheRest() throws {
    let volume = try mount()
    #expect(volume.names("d/e/f") == ["b"])
    #expect(volume.remove("d") == nil)
    #expect(volume.engine.counts.directories == 3 && volume.engine.counts.files == 0, "root, k and other")
    #expect(volume.engine.trashStatus.items == 0)
    try volume.unmount()
  }
}
