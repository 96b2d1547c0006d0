import DatalessCore
@testable import DatalessState
import Glibc
import TestSupport
import Testing

/// A file with several names in SOURCE that has lost the one that was known: what is kept of it is found by the others.
@Suite struct KeptLostNameTests {
  private let source = Scratch("source")
  private let states = StateCopies()

  init() {
    for directory in ["a", "b", "c"] { mkdir(source.full(directory), 0o755) }
    source.write("a/f", bytes("theirs"), mode: 0o644)
    link(source.full("a/f"), source.full("b/g"))
  }

  private func mount() throws -> KeptVolume { try KeptVolume(states.next(), source: source) }

  /// As nobody would say that it is damaged.
  private func end(_ volume: KeptVolume) throws {
    try volume.unmount()
    let report = try states.next().check()
    #expect(report.damages == 0, "\(report.findings)")
  }

  /// The name was removed here, its directory is gone, and it is written under another name that came later.
  @Test(arguments: [false, true], [[], ["a"], ["b", "a"], ["c/b2"], ["a", "c/b2"]])
  func itsPlaceIsTheNameThatItHas(isNewer: Bool, order: [String]) throws {
    var volume = try mount()
    #expect(volume.unlink("b/g") == nil)
    rename(source.full("b"), source.full("c/b2"))
    volume.refresh()
    #expect(volume.write("mine 1", to: "a/f") == nil)
    try end(volume)
    #expect(try states.last.texts() == ["mine 1"])
    if isNewer { source.write("a/f", bytes("theirs, newer"), mode: 0o644) }
    for round in 0..<3 {
      volume = try mount()
      for directory in order { _ = volume.names(directory) }
      if round > 0 {
        _ = volume.tree()
        volume.visitSaved()
        #expect(volume.names("") == ["a", "c"] && volume.names("a") == ["f"], "round \(round)")
        #expect(volume.read("a/f") == "mine 1", "round \(round)")
        #expect(Array(volume.conflicts.values) == (isNewer ? ["changed"] : []), "round \(round)")
      }
      try end(volume)
      #expect(try states.last.texts() == ["mine 1"], "round \(round)")
    }
  }

  /// The one name that was ever listed is another file's, and was removed here: what was written waits for the other,
  /// which nobody has seen.
  @Test func whatWaitsForANameIsNoDamage() throws {
    var volume = try mount()
    #expect(volume.write("mine 1", to: "a/f") == nil)
    source.write("new", bytes("other"), mode: 0o644)
    rename(source.full("new"), source.full("a/f"))
    volume.refresh()
    #expect(volume.unlink("a/f") == nil)
    try end(volume)
    for _ in 0..<2 {
      volume = try mount()
      _ = volume.tree()
      #expect(volume.read("a/f") == "other")
      try volume.unmount()
      #expect(try states.next().check().findings == [])
      #expect(try states.last.texts() == ["mine 1"])
    }
  }
}
