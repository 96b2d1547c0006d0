import DatalessCore
@testable import DatalessState
import Glibc
import TestSupport
import Testing

/// A directory that SOURCE removes, with a further name of a file that was written to here and has others: it is not
/// kept for the sake of that name.
@Suite struct KeptSharedDirectoryTests {
  private let source = Scratch("source")
  private let states = StateCopies()

  typealias Moment = SourceMoment

  private func mount() throws -> KeptVolume { try KeptVolume(states.next(), source: source) }

  private func remount(_ volume: KeptVolume) throws -> KeptVolume {
    try volume.unmount()
    let report = try states.next().check()
    #expect(report.damages == 0, "\(report.findings)")
    return try mount()
  }

  /// A volume on which `f` was written to, and others; after that SOURCE was changed.
  private func written(
    _ others: [String], other name: String, _ moment: Moment, _ change: () -> Void
  ) throws -> KeptVolume {
    for directory in ["d", "d/s", "e"] { mkdir(source.full(directory), 0o755) }
    for file in ["f", "d/h"] { source.write(file, bytes("theirs"), mode: 0o644) }
    link(source.full("f"), source.full(name))
    let volume = try mount()
    _ = volume.tree()
    for file in ["f"] + others { #expect(volume.write("mine 1", to: file) == nil) }
    return try moment.pass(
      volume, states, source: source, looks: { volume, isAll in _ = isAll ? volume.tree() : volume.names("") }, change)
  }

  /// What callers see, again after a refresh and after a remount.
  private func expect(
    _ volume: KeptVolume, _ texts: [String: String], names: [String: [String]], conflicts: [String: String]
  ) throws {
    var volume = volume
    for round in 0..<3 {
      if round == 1 { volume.refresh() }
      if round == 2 { volume = try remount(volume) }
      _ = volume.tree()
      for (directory, found) in names { #expect(volume.names(directory) == found, "round \(round)") }
      for (path, text) in texts { #expect(volume.read(path) == text, "\(path), round \(round)") }
      #expect(volume.attributes("f")?.linkCount == 1, "round \(round)")
      #expect(volume.conflicts == conflicts, "round \(round)")
    }
    try volume.unmount()
  }

  @Test(arguments: Moment.allCases, ["d/g", "d/s/g"])
  func itGoesWithTheName(_ moment: Moment, name: String) throws {
    let volume = try written([], other: name, moment) { Scratch.removeTree(source.full("d")) }
    try expect(volume, ["f": "mine 1"], names: ["": ["e", "f"]], conflicts: [:])
  }

  @Test(arguments: Moment.allCases, ["d/g", "d/s/g"])
  func itStaysWithWhatIsNowhereElse(_ moment: Moment, name: String) throws {
    let volume = try written(["d/h"], other: name, moment) { Scratch.removeTree(source.full("d")) }
    try expect(
      volume, ["f": "mine 1", "d/h": "mine 1"], names: ["": ["d", "e", "f"], "d": ["h"]],
      conflicts: ["d": "gone_in_source", "d/h": "gone_in_source"])
  }

  @Test(arguments: Moment.allCases, ["d/g", "d/s/g"])
  func theNameComesBackElsewhere(_ moment: Moment, name: String) throws {
    let volume = try written([], other: name, moment) {
      rename(source.full(name), source.full("e/g"))
      Scratch.removeTree(source.full("d"))
    }
    _ = volume.tree()
    #expect(volume.names("") == ["e", "f"] && volume.names("e") == ["g"])
    for path in ["f", "e/g"] {
      #expect(volume.read(path) == "mine 1" && volume.attributes(path)?.linkCount == 2, "\(path)")
    }
    #expect(volume.conflicts == [:])
    let again = try remount(volume)
    #expect(again.names("") == ["e", "f"] && again.read("e/g") == "mine 1" && again.conflicts == [:])
    try again.unmount()
  }

  /// SOURCE removes the file under all its names: what was written stays.
  @Test(arguments: Moment.allCases, ["d/g", "d/s/g"])
  func theLastNameStays(_ moment: Moment, name: String) throws {
    var volume = try written([], other: name, moment) {
      unlink(source.full("f"))
      Scratch.removeTree(source.full("d"))
    }
    for round in 0..<2 {
      if round == 1 { volume = try remount(volume) }
      _ = volume.tree()
      let found = ["f", name].filter { volume.find($0).node != nil }
      #expect(found.count == 1 && found.allSatisfy { volume.read($0) == "mine 1" }, "round \(round)")
      #expect(!volume.conflicts.isEmpty && volume.conflicts.values.allSatisfy { $0 == "gone_in_source" })
    }
    try volume.unmount()
  }
}
