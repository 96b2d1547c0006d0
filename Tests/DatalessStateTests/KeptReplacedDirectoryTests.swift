import DatalessCore
@testable import DatalessState
import Glibc
import TestSupport
import Testing

/// What was written to a file with several names in SOURCE, which has other items in the places of their directories.
@Suite struct KeptReplacedDirectoryTests {
  private let source = Scratch("source")
  private let states = StateCopies()

  init() {
    for directory in ["p", "p/q", "k"] { mkdir(source.full(directory), 0o755) }
    source.write("p/b", bytes("theirs"), mode: 0o644)
    source.write("p/q/other", bytes("other"), mode: 0o644)
    link(source.full("p/b"), source.full("p/q/s"))
  }

  private func mount() throws -> KeptVolume { try KeptVolume(states.next(), source: source) }

  private func end(_ volume: KeptVolume) throws {
    try volume.unmount()
    let report = try states.next().check()
    #expect(report.damages == 0, "\(report.findings)")
    #expect(try states.last.texts() == ["WRITTEN"])
  }

  /// The directory of one name was moved here, and another one has its place in SOURCE, which has removed the other
  /// name, and perhaps where that directory is.
  @Test(arguments: [false, true], ["p/b", "p/q/s"]) func anotherDirectory(losesNewPlace: Bool, written: String) throws {
    var volume = try mount()
    _ = volume.tree()
    #expect(volume.write("WRITTEN", to: written) == nil && volume.rename("p/q", to: "k/n") == nil)
    try end(volume)
    for name in ["p/b", "p/q/s", "p/q/other"] { unlink(source.full(name)) }
    rmdir(source.full("p/q"))
    mkdir(source.full("p/q"), 0o755)
    source.write("p/q/a", bytes("new"), mode: 0o644)
    if losesNewPlace { rmdir(source.full("k")) }
    for round in 0..<3 {
      volume = try mount()
      let found = volume.paths().filter { volume.read($0) == "WRITTEN" }
      #expect(found == ["p/b"] || found.contains("k/n/s"), "round \(round): \(volume.paths())")
      try end(volume)
    }
  }

  /// One name was removed here, and SOURCE has renamed the directory of the other, which was moved into that of the
  /// former, in whose place SOURCE has a file.
  @Test func aFile() throws {
    var volume = try mount()
    _ = volume.tree()
    #expect(volume.write("WRITTEN", to: "p/b") == nil && volume.unlink("p/b") == nil)
    rename(source.full("p/q"), source.full("x"))
    volume.refresh()
    #expect(volume.read("x/s") == "WRITTEN" && volume.rename("x", to: "p/n") == nil)
    try end(volume)
    unlink(source.full("p/b"))
    rmdir(source.full("p"))
    source.write("p", bytes("new"), mode: 0o644)
    for round in 0..<3 {
      volume = try mount()
      #expect(volume.names("p/n") == ["other", "s"] && volume.read("p/n/s") == "WRITTEN", "round \(round)")
      try end(volume)
    }
  }

  /// SOURCE has renamed one name, and has a file in the place of the directory of the other; then the former goes.
  @Test(arguments: [false, true], [false, true]) func aFileOnTheWayToTheLastName(
    isWritten: Bool, whileMounted: Bool
  ) throws {
    var volume = try mount()
    _ = volume.tree()
    #expect(volume.write("WRITTEN", to: "p/q/s") == nil)
    rename(source.full("p/b"), source.full("y"))
    volume.refresh()
    try end(volume)
    Scratch.removeTree(source.full("p/q"))
    source.write("p/q", bytes("file"), mode: 0o644)
    volume = try mount()
    #expect(volume.paths().contains("y") && volume.read("y") == "WRITTEN")
    if isWritten { #expect(volume.write("SECOND", to: "p/q") == nil) }
    try volume.unmount()
    if whileMounted { volume = try mount() }
    unlink(source.full("y"))
    if whileMounted {
      volume.refresh()
      try volume.unmount()
    }
    for round in 0..<3 {
      volume = try mount()
      let found = volume.paths().filter { volume.read($0) == "WRITTEN" }
      #expect(found.count == 1, "round \(round): \(volume.paths())")
      if isWritten { #expect(volume.read("p/q") == "SECOND") }
      try volume.unmount()
      #expect(try states.next().check().damages == 0)
    }
  }
}
