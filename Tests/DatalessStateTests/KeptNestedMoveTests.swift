import DatalessCore
@testable import DatalessState
import Glibc
import Testing

/// A directory that was moved into another one, and what SOURCE does with the place that it came from between mounts.
@Suite struct KeptNestedMoveTests {
  private let source = Scratch("source")
  private let states = StateCopies()

  init() {
    for directory in ["p", "r", "r/s"] { mkdir(source.full(directory), 0o755) }
    for file in ["p/a", "r/a", "r/b", "r/s/c"] { source.write(file, bytes("theirs"), mode: 0o644) }
  }

  private func mount() throws(FSError) -> KeptVolume { try KeptVolume(states.next(), source: source) }

  private func expectClean(_ volume: KeptVolume) throws {
    try volume.unmount()
    let report = try states.next().check()
    #expect(report.damages == 0, "\(report.findings)")
  }

  /// A conflict about what was moved out of it is looked at where SOURCE has it, before callers have met the directory
  /// by the name that it was given.
  @Test(arguments: [false, true]) func whatWasRemovedInItStaysRemoved(isWritten: Bool) throws {
    var volume = try mount()
    _ = volume.tree()
    #expect(volume.makeDirectory("n") == nil && volume.unlink("r/a") == nil)
    #expect(volume.write("mine", to: "r/b") == nil)
    #expect(volume.rename("r/b", to: "b") == nil && volume.rename("r", to: "n/r") == nil)
    source.write("r/b", bytes("another version"), mode: 0o644)
    volume.refresh()
    #expect(volume.conflicts == ["b": "changed"])
    try volume.unmount()
    volume = try mount()
    #expect(volume.names("") == ["b", "n", "p"] && volume.names("n") == ["r"])
    #expect(volume.names("n/r") == ["s"])
    if isWritten { #expect(volume.write("made", to: "n/r/a") == nil) }
    let tree = volume.tree()
    try expectClean(volume)
    volume = try mount()
    #expect(volume.tree() == tree && volume.read("b") == "miners" && volume.conflicts == ["b": "changed"])
    try expectClean(volume)
  }

  /// SOURCE has moved the directory that something was moved out of to where the volume has that.
  @Test(arguments: [false, true], [false, true]) func nothingIsTheSameDirectoryTwice(
    isWritten: Bool, isRemoved: Bool
  ) throws {
    var volume = try mount()
    _ = volume.tree()
    #expect(volume.rename("r/s", to: "p/y") == nil)
    if isWritten { #expect(volume.write("mine", to: "p/y/c") == nil) }
    try volume.unmount()
    rename(source.full("r"), source.full("p/x"))
    volume = try mount()
    _ = (volume.names(""), volume.names("p"))
    if isRemoved {
      Scratch.removeTree(source.full("p"))
      volume.refresh()
    }
    for round in 0..<3 {
      let paths = volume.paths()
      #expect(paths.contains("p/y") || !isWritten)
      if isWritten { #expect(volume.read("p/y/c") == "miners", "round \(round): \(paths)") }
      if isRemoved { #expect(!paths.contains("p/x/s"), "round \(round): \(paths)") }
      try expectClean(volume)
      volume = try mount()
    }
  }
  /// SOURCE has moved a directory that was removed here: it is another one, in which programs write.
  @Test(arguments: [false, true]) func whatWasRemovedHereAndMovedInSourceIsNotOne(isRefreshed: Bool) throws {
    var volume = try mount()
    _ = volume.tree()
    #expect(volume.remove("r/s") == nil && volume.makeDirectory("n") == nil && volume.rename("r", to: "n/r") == nil)
    try volume.unmount()
    // By then what is left of it is the name that is hidden.
    try mount().unmount()
    rename(source.full("r/s"), source.full("moved"))
    volume = try mount()
    #expect(volume.names("moved") == ["c"])
    if isRefreshed {
      rename(source.full("moved"), source.full("again"))
      volume.refresh()
    }
    let name = isRefreshed ? "again" : "moved"
    #expect(volume.names("n/r") == ["a", "b"])
    #expect(volume.write("made", to: "\(name)/made") == nil)
    let tree = volume.tree()
    try expectClean(volume)
    volume = try mount()
    #expect(volume.tree() == tree && volume.read("\(name)/made") == "made")
    try expectClean(volume)
  }
}
