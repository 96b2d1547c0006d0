import DatalessCore
@testable import DatalessState
import Glibc
import TestSupport
import Testing

/// What was written upon a version that SOURCE has replaced since, and is met after a mount by a name that is hidden:
/// moved here, or one of several names removed. It stays in conflict, however often SOURCE is listed again.
@Suite struct KeptOlderTests {
  private let source = Scratch("source")
  private let states = StateCopies()

  init() {
    for directory in ["d", "a", "b"] { mkdir(source.full(directory), 0o755) }
    source.write("f", bytes("theirs"), mode: 0o644)
    source.write("a/f", bytes("theirs"), mode: 0o644)
    link(source.full("a/f"), source.full("b/g"))
  }

  private func mount() throws -> KeptVolume { try KeptVolume(states.next(), source: source) }

  private func remount(_ volume: KeptVolume) throws -> KeptVolume {
    try volume.unmount()
    let report = try states.next().check()
    #expect(report.damages == 0, "\(report.findings)")
    return try mount()
  }

  /// Does something here, and then in SOURCE.
  private func meet(
    _ moment: SourceMoment, here: (KeptVolume) -> Void, there: () -> Void
  ) throws -> KeptVolume {
    let volume = try mount()
    _ = volume.tree()
    here(volume)
    return try moment.pass(volume, states, source: source, there)
  }

  /// Looked at again and again: after refreshes that find nothing new, and after remounts.
  private func expect(
    _ volume: KeptVolume, _ texts: [String: String], conflicts: [String: String], looking order: [String]
  ) throws -> KeptVolume {
    var volume = volume
    for round in 0..<7 {
      if round > 0 { if round % 3 == 0 { volume = try remount(volume) } else { volume.refresh() } }
      for directory in order { _ = volume.names(directory) }
      _ = volume.tree()
      volume.visitSaved()
      for (path, text) in texts { #expect(volume.read(path) == text, "\(path), round \(round)") }
      #expect(volume.conflicts == conflicts, "round \(round)")
    }
    return volume
  }

  @Test(arguments: SourceMoment.allCases, ["g", "d/g"])
  func whatWasMovedStaysInConflict(_ moment: SourceMoment, path: String) throws {
    var volume = try meet(moment) { volume in
      #expect(volume.write("mine", to: "f") == nil && volume.rename("f", to: path) == nil)
    } there: {
      source.write("f", bytes("theirs, newer"), mode: 0o644)
    }
    volume = try expect(volume, [path: "miners"], conflicts: [path: "changed"], looking: ["", "d"])
    source.write("f", bytes("theirs, once more"), mode: 0o644)
    volume.refresh()
    volume = try expect(volume, [path: "miners"], conflicts: [path: "changed"], looking: ["d", ""])
    #expect(volume.resolve(path, .takeTheirs).failures == [])
    try expect(volume, [path: "theirs, once more"], conflicts: [:], looking: ["", "d"]).unmount()
  }

  @Test(arguments: SourceMoment.allCases, [["a", "b"], ["b", "a"]])
  func whatHasOneNameLessHereStaysInConflict(_ moment: SourceMoment, order: [String]) throws {
    var volume = try meet(moment) { volume in
      #expect(volume.unlink("b/g") == nil && volume.write("mine", to: "a/f") == nil)
    } there: {
      source.write("a/f", bytes("theirs, newer"), mode: 0o644)
    }
    volume = try expect(volume, ["a/f": "miners"], conflicts: ["a/f": "changed"], looking: order)
    #expect(volume.names("b") == [])
    #expect(volume.resolve("a/f", .takeTheirs).failures == [])
    volume = try expect(volume, ["a/f": "theirs, newer"], conflicts: [:], looking: order)
    #expect(volume.names("b") == [])
    try volume.unmount()
  }

  /// Another version of what was moved has all names that were made for it here, and their number.
  @Test(arguments: [false, true]) func anotherVersionHasItsLinks(isRemounted: Bool) throws {
    var volume = try meet(isRemounted ? .remountedAndLooked : .refresh) { volume in
      #expect(volume.rename("f", to: "g") == nil && volume.link("g", to: "d/h") == nil)
    } there: {
      source.write("f", bytes("theirs, newer"), mode: 0o644)
    }
    for round in 0..<2 {
      _ = volume.tree()
      #expect(volume.attributes("g")?.linkCount == 2, "round \(round)")
      #expect(volume.read("d/h") == "theirs, newer", "round \(round)")
      volume = try remount(volume)
    }
    _ = volume.tree()
    #expect(volume.unlink("d/h") == nil)
    #expect(volume.attributes("g")?.linkCount == 1)
    volume = try remount(volume)
    #expect(volume.attributes("g")?.linkCount == 1)
    try volume.unmount()
  }
}
