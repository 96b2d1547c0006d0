import DatalessCore
@testable import DatalessState
import Glibc
import TestSupport
import Testing

/// A written file that SOURCE has under a name, and under another one in a directory below that: the listing that has
/// lost the first one is the one that brings the directory of the other.
@Suite struct KeptSharedBelowTests {
  private let source = Scratch("source")
  private let states = StateCopies()

  typealias Moment = SourceMoment

  /// Where the file is: its name that SOURCE changes first.
  struct Names: CustomTestStringConvertible {
    let changed: String
    let other: String
    var testDescription: String { "\(changed), \(other)" }

    static let all = [
      Names(changed: "f", other: "b/g"), Names(changed: "d/f", other: "d/s/g"), Names(changed: "f", other: "b/s/g"),
    ]
  }

  private func parent(_ path: String) -> String { path.split(separator: "/").dropLast().joined(separator: "/") }

  /// Replaces a name as programs save: by a new file that is renamed.
  private func replace(_ path: String, _ text: String) {
    source.write("new", bytes(text), mode: 0o644)
    rename(source.full("new"), source.full(path))
  }

  /// A volume on which the file was written to, and after that SOURCE was changed.
  private func written(_ names: Names, _ moment: Moment, _ change: () -> Void) throws -> KeptVolume {
    for directory in ["d", "d/s", "b", "b/s"] { mkdir(source.full(directory), 0o755) }
    source.write(names.changed, bytes("theirs"), mode: 0o644)
    link(source.full(names.changed), source.full(names.other))
    let volume = try KeptVolume(states.next(), source: source)
    _ = volume.tree()
    #expect(volume.write("mine 1", to: names.changed) == nil)
    return try moment.pass(
      volume, states, source: source,
      looks: { volume, isAll in _ = isAll ? volume.tree() : volume.names(parent(names.changed)) }, change)
  }

  private func remount(_ volume: KeptVolume) throws -> KeptVolume {
    try volume.unmount()
    let report = try states.next().check()
    #expect(report.damages == 0, "\(report.findings)")
    return try KeptVolume(states.next(), source: source)
  }

  /// What callers see, again after a refresh, and after a remount.
  private func expect(
    _ volume: KeptVolume, _ names: Names, _ files: [String: String], conflicts: [String: String]
  ) throws -> KeptVolume {
    var volume = volume
    for round in 0..<3 {
      if round == 1 { volume.refresh() }
      if round == 2 { volume = try remount(volume) }
      _ = volume.tree()
      volume.visitSaved()
      for path in [names.changed, names.other] {
        let text = volume.find(path).node.map { _ in volume.read(path) }
        #expect(text == files[path], "\(path), round \(round)")
      }
      let links = Dictionary(grouping: files.keys) { volume.attributes($0)?.inode ?? 0 }.mapValues(\.count)
      for path in files.keys {
        let attributes = volume.attributes(path)
        #expect(attributes?.linkCount == links[attributes?.inode ?? 0].map(UInt32.init), "\(path), round \(round)")
      }
      #expect(volume.conflicts == conflicts, "round \(round)")
    }
    return volume
  }

  @Test(arguments: Moment.allCases, Names.all)
  func aNameThatSourceGivesToAnotherFileIsInConflict(_ moment: Moment, names: Names) throws {
    var volume = try written(names, moment) { replace(names.changed, "other") }
    let files = [names.changed: "mine 1", names.other: "mine 1"]
    volume = try expect(volume, names, files, conflicts: [names.changed: "changed"])
    #expect(volume.resolve(names.changed, .takeTheirs).failures == [])
    try expect(volume, names, [names.changed: "other", names.other: "mine 1"], conflicts: [:]).unmount()
  }

  @Test(arguments: Moment.allCases, Names.all)
  func aNameThatSourceRemovesGoes(_ moment: Moment, names: Names) throws {
    let volume = try written(names, moment) { unlink(source.full(names.changed)) }
    let path = parent(names.changed)
    try expect(volume, names, [names.other: "mine 1"], conflicts: [:]).unmount()
    let after = try KeptVolume(states.next(), source: source)
    #expect(!after.names(path).contains("f"))
    // Nobody has looked further.
    let again = try remount(after)
    #expect(again.read(names.other) == "mine 1" && again.conflicts == [:])
    try again.unmount()
  }

  /// SOURCE has both names no more, nor the directory of the other one: what was written stays under one of them.
  @Test(arguments: Moment.allCases, Names.all)
  func aFileAllOfWhoseNamesSourceRemovesStays(_ moment: Moment, names: Names) throws {
    var volume = try written(names, moment) {
      unlink(source.full(names.changed))
      Scratch.removeTree(source.full(parent(names.other)))
    }
    for round in 0..<2 {
      if round == 1 { volume = try remount(volume) }
      _ = volume.tree()
      let found = [names.changed, names.other].filter { volume.find($0).node != nil }
      #expect(found.count == 1 && found.allSatisfy { volume.read($0) == "mine 1" }, "round \(round)")
      #expect(!volume.conflicts.isEmpty && volume.conflicts.values.allSatisfy { $0 == "gone_in_source" })
    }
    try volume.unmount()
  }

  /// SOURCE has another file under one of the names, and the directory of the other one no more.
  @Test(arguments: Moment.allCases, Names.all)
  func aNameThatIsAnotherFilesAndOneThatIsGone(_ moment: Moment, names: Names) throws {
    var volume = try written(names, moment) {
      replace(names.changed, "other")
      Scratch.removeTree(source.full(parent(names.other)))
    }
    for round in 0..<2 {
      if round == 1 { volume = try remount(volume) }
      _ = volume.tree()
      #expect(volume.read(names.changed) == "mine 1", "round \(round)")
      #expect(volume.conflicts[names.changed] != nil, "round \(round): \(volume.conflicts)")
    }
    #expect(volume.resolve(names.changed, .takeTheirs).failures == [])
    #expect(volume.read(names.changed) == "other")
    try volume.unmount()
  }
}
