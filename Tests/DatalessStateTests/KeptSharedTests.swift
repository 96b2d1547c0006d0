import DatalessCore
@testable import DatalessState
import Glibc
import TestSupport
import Testing

/// A file that SOURCE has under several names and that was written to here, when SOURCE removes one of them or gives it
/// to another file.
@Suite struct KeptSharedTests {
  private let source = Scratch("source")
  private let states = StateCopies()

  typealias Moment = SourceMoment

  init() {
    for directory in ["d", "e"] { mkdir(source.full(directory), 0o755) }
    source.write("e/c", bytes("theirs"), mode: 0o644)
    link(source.full("e/c"), source.full("d/a"))
  }

  /// Replaces a name as programs save: by a new file that is renamed.
  private func replace(_ path: String, _ text: String) {
    source.write("new", bytes(text), mode: 0o644)
    rename(source.full("new"), source.full(path))
  }

  /// A volume on which `d/a` was written to, and after that SOURCE was changed.
  private func written(_ moment: Moment, _ change: () -> Void) throws -> KeptVolume {
    let volume = try KeptVolume(states.next(), source: source)
    #expect(volume.names("d") == ["a"] && volume.names("e") == ["c"])
    #expect(volume.write("mine 1", to: "d/a") == nil)
    return try moment.pass(
      volume, states, source: source,
      looks: { volume, isAll in
        if isAll { _ = volume.names("e") }
        _ = volume.names("d")
      }, change)
  }

  private func remount(_ volume: KeptVolume) throws -> KeptVolume {
    try volume.unmount()
    let report = try states.next().check()
    #expect(report.findings == [])
    return try KeptVolume(states.next(), source: source)
  }

  /// A volume into which somebody has looked, mounted again and looked into once more.
  private func lookAgain(_ volume: KeptVolume, looking order: [String]) throws -> KeptVolume {
    look(volume, order)
    let again = try remount(volume)
    look(again, order)
    return again
  }

  private func look(_ volume: KeptVolume, _ order: [String]) {
    for directory in order { _ = volume.names(directory) }
    volume.visitSaved()
  }

  /// What callers see, and again after a remount. - Parameter files: Texts, by path.
  private func expect(
    _ volume: KeptVolume, _ files: [String: String], conflicts: [String: String], looking order: [String] = ["d", "e"]
  ) throws -> KeptVolume {
    var volume = volume
    for isAgain in [false, true] {
      if isAgain { volume = try remount(volume) }
      look(volume, order)
      let found = (volume.names("d").map { "d/\($0)" } + volume.names("e").map { "e/\($0)" }).sorted()
      #expect(found == files.keys.sorted(), "again: \(isAgain)")
      let links = Dictionary(grouping: found) { volume.attributes($0)?.inode ?? 0 }.mapValues(\.count)
      for (path, text) in files {
        #expect(volume.read(path) == text, "\(path), again: \(isAgain)")
        let attributes = volume.attributes(path)
        #expect(attributes?.linkCount == links[attributes?.inode ?? 0].map(UInt32.init), "\(path), again: \(isAgain)")
      }
      #expect(volume.conflicts == conflicts, "again: \(isAgain)")
    }
    return volume
  }

  @Test(arguments: Moment.allCases, [["d", "e"], ["e", "d"]])
  func aNameThatSourceRemovesGoes(_ moment: Moment, order: [String]) throws {
    var volume = try written(moment) { unlink(source.full("d/a")) }
    volume = try expect(volume, ["e/c": "mine 1"], conflicts: [:], looking: order)
    #expect(volume.unlink("e/c") == nil)
    try expect(volume, [:], conflicts: [:]).unmount()
  }

  /// A name that SOURCE adds leads to the file that was written to, whichever of both is met first, and read.
  @Test(
    arguments: Moment.allCases,
    [["d", "", "f"], ["", "f", "d"], ["f", "", "d"]].flatMap { order in [false, true].map { (order, $0) } })
  func aNameThatSourceAddsLeadsToWhatWasWritten(_ moment: Moment, looking: (order: [String], isMoved: Bool)) throws {
    let (order, isMoved) = looking
    mkdir(source.full("f"), 0o755)
    unlink(source.full("e/c"))
    var volume = try KeptVolume(states.next(), source: source)
    #expect(volume.names("d") == ["a"] && volume.write("mine", to: "d/a") == nil)
    if isMoved { #expect(volume.rename("d/a", to: "d/moved") == nil) }
    volume = try moment.pass(
      volume, states, source: source, looks: { volume, isAll in if isAll { _ = volume.names("d") } }
    ) {
      link(source.full("d/a"), source.full("f/new"))
    }
    let mine = isMoved ? "d/moved" : "d/a"
    for isAgain in [false, true] {
      if isAgain { volume = try remount(volume) }
      for directory in order { _ = volume.names(directory) }
      for path in order.first == "d" ? [mine, "f/new"] : ["f/new", mine] {
        #expect(volume.read(path) == "miners", "\(path), again: \(isAgain)")
      }
      #expect(volume.attributes("f/new")?.inode == volume.attributes(mine)?.inode)
      #expect(volume.attributes("f/new")?.linkCount == 2 && volume.conflicts == [:])
    }
    try volume.unmount()
  }

  @Test(arguments: Moment.allCases, [["d", "e"], ["e", "d"]])
  func aFileAllOfWhoseNamesSourceRemovesStays(_ moment: Moment, order: [String]) throws {
    var volume = try written(moment) {
      unlink(source.full("d/a"))
      unlink(source.full("e/c"))
    }
    volume = try lookAgain(volume, looking: order)
    let found = volume.names("d").map { "d/\($0)" } + volume.names("e").map { "e/\($0)" }
    #expect(!found.isEmpty && found.allSatisfy { volume.read($0) == "mine 1" })
    #expect(found.allSatisfy { volume.attributes($0)?.linkCount == UInt32(found.count) })
    #expect(Array(volume.conflicts.values) == ["gone_in_source"])
    try volume.unmount()
  }

  @Test(arguments: Moment.allCases, [["d", "e"], ["e", "d"]])
  func aNameThatSourceGivesToAnotherFileIsInConflict(_ moment: Moment, order: [String]) throws {
    var volume = try written(moment) { replace("d/a", "other") }
    let files = ["d/a": "mine 1", "e/c": "mine 1"]
    volume = try expect(volume, files, conflicts: ["d/a": "changed"], looking: order)
    #expect(volume.resolve("d/a", .takeTheirs).failures == [])
    try expect(volume, ["d/a": "other", "e/c": "mine 1"], conflicts: [:], looking: order).unmount()
  }

  @Test(arguments: Moment.allCases, [ConflictChoice.keepMine, .keepBoth])
  func aNameThatSourceGivesToAnotherFileIsKept(_ moment: Moment, choice: ConflictChoice) throws {
    var volume = try written(moment) { replace("d/a", "other") }
    volume = try expect(volume, ["d/a": "mine 1", "e/c": "mine 1"], conflicts: ["d/a": "changed"])
    let resolved = volume.resolve("d/a", choice)
    #expect(resolved.failures == [])
    var files = ["d/a": "mine 1", "e/c": "mine 1"]
    if let copy = resolved.copy {
      files["d/a"] = "other"
      files[copy] = "mine 1"
    }
    #expect((resolved.copy != nil) == (choice == .keepBoth))
    try expect(volume, files, conflicts: [:]).unmount()
  }

  @Test(arguments: Moment.allCases, [["d", "e"], ["e", "d"]])
  func aNameThatIsAnotherFilesAndOneThatIsGone(_ moment: Moment, order: [String]) throws {
    var volume = try written(moment) {
      replace("d/a", "other")
      unlink(source.full("e/c"))
    }
    volume = try lookAgain(volume, looking: order)
    #expect(volume.read("d/a") == "mine 1")
    #expect(volume.conflicts["d/a"] != nil, "\(volume.conflicts)")
    #expect(volume.resolve("d/a", .takeTheirs).failures == [])
    volume = try remount(volume)
    #expect(volume.read("d/a") == "other")
    #expect(volume.conflicts.filter { $0.key == "d/a" } == [:])
    try volume.unmount()
  }

  @Test(arguments: Moment.allCases, [["d", "e"], ["e", "d"]])
  func anotherVersionUnderAnotherNameIsAConflict(_ moment: Moment, order: [String]) throws {
    var volume = try written(moment) {
      rename(source.full("d/a"), source.full("e/b"))
      source.write("e/b", bytes("theirs changed"), mode: 0o644)
    }
    let conflict = order.first == "d" ? ["e/b", "e/c"] : ["e/b", "e/c"]
    for directory in order { _ = volume.names(directory) }
    volume.visitSaved()
    for isAgain in [false, true] {
      if isAgain { volume = try remount(volume) }
      look(volume, order)
      #expect(volume.names("d") == [] && volume.names("e") == ["b", "c"], "again: \(isAgain)")
      #expect(volume.read("e/b") == "mine 1" && volume.read("e/c") == "mine 1", "again: \(isAgain)")
      #expect(volume.attributes("e/c")?.linkCount == 2, "again: \(isAgain)")
      #expect(volume.conflicts.values.sorted() == ["changed"], "again: \(isAgain)")
      #expect(volume.conflicts.keys.allSatisfy { conflict.contains($0) }, "again: \(isAgain)")
    }
    let path = volume.conflicts.keys.first ?? ""
    #expect(volume.resolve(path, .takeTheirs).failures == [])
    try expect(volume, ["e/b": "theirs changed", "e/c": "theirs changed"], conflicts: [:]).unmount()
  }
}

/// What becomes of kept directories, mount after mount, when SOURCE has them no more.
@Suite struct KeptAloneTests {
  private let source = Scratch("source")
  private let states = StateCopies()

  init() {
    for directory in ["d", "d/s"] { mkdir(source.full(directory), 0o755) }
    for file in ["d/a", "d/s/b"] { source.write(file, bytes("theirs"), mode: 0o644) }
  }

  @Test(arguments: [false, true], [false, true])
  func timesOfADirectoryThatIsOnlyHereStay(isMounted: Bool, isLooked: Bool) throws {
    var volume = try KeptVolume(states.next(), source: source)
    #expect(volume.write("mine", to: "d/s/new") == nil)
    #expect(volume.change("d") { $0.modificationTime = .at(Timestamp(seconds: 1_000_000, nanoseconds: 7)) } == nil)
    let before = volume.attributes("d")
    if isMounted, !isLooked {
      try volume.unmount()
      volume = try KeptVolume(states.next(), source: source)
    }
    if !isMounted { try volume.unmount() }
    Scratch.removeTree(source.full("d"))
    if isMounted { volume.refresh() } else { volume = try KeptVolume(states.next(), source: source) }
    var times: [Timestamp?] = []
    for round in 0..<4 {
      #expect(volume.names("d/s") == ["new"] && volume.names("d") == ["s"])
      #expect(volume.attributes("d")?.mode == before?.mode)
      let found = ["d", "d/s"].map { volume.attributes($0)?.modificationTime }
      if round > 0 { #expect(found == times, "round \(round)") }
      times = found
      try volume.unmount()
      #expect(try states.next().check().findings == [])
      volume = try KeptVolume(states.next(), source: source)
    }
    try volume.unmount()
  }
}
