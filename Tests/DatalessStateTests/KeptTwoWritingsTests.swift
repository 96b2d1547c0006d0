import DatalessCore
@testable import DatalessState
import Glibc
import TestSupport
import Testing

/// One file of SOURCE that was written to here by two names that lead to two versions of it: the one in conflict, and
/// the newer one under a name that SOURCE has given it since.
@Suite struct KeptTwoWritingsTests {
  private let source = Scratch("source")
  private let states = StateCopies()

  init() {
    mkdir(source.full("r"), 0o755)
    mkdir(source.full("s"), 0o755)
    source.write("r/a", bytes("theirs........"), mode: 0o644)
  }

  private func mount() throws -> KeptVolume { try KeptVolume(states.next(), source: source) }

  /// Where the names are by the end.
  struct Names {
    var former = "r/a"
    var newer = "s/new"
    /// Directories that were renamed here, and files.
    var renamed: [(String, String)] = []
  }

  private static let names = [
    Names(), Names(former: "x/a", renamed: [("r", "x")]), Names(newer: "s/moved", renamed: [("s/new", "s/moved")]),
    Names(former: "s/moved", renamed: [("r/a", "s/moved")]),
    Names(former: "x/moved", newer: "kept", renamed: [("r", "x"), ("x/a", "x/moved"), ("s/new", "kept")]),
  ]

  @Test(arguments: names.indices, [["r", "x", "s"], ["s", "x", "r"]])
  func bothStay(index: Int, order: [String]) throws {
    let names = Self.names[index]
    var volume = try mount()
    #expect(volume.write("MINE..........", to: "r/a") == nil)
    _ = volume.tree()
    source.write("r/a", bytes("theirs, newer."), mode: 0o644)
    volume.refresh()
    #expect(volume.conflicts == ["r/a": "changed"])
    #expect(link(source.full("r/a"), source.full("s/new")) == 0)
    volume.refresh()
    #expect(volume.read("s/new") == "theirs, newer." && volume.read("r/a") == "MINE..........")
    #expect(volume.write("NEW...........", to: "s/new") == nil)
    for (from, to) in names.renamed { #expect(volume.rename(from, to: to) == nil) }
    for round in 0..<3 {
      try volume.unmount()
      #expect(try states.next().check().findings == [], "round \(round)")
      #expect(try states.last.texts().sorted() == ["MINE..........", "NEW..........."], "round \(round)")
      volume = try mount()
      for directory in order { _ = volume.names(directory) }
      #expect(volume.read(names.former) == "MINE..........", "round \(round)")
      #expect(volume.read(names.newer) == "NEW...........", "round \(round)")
    }
    try volume.unmount()
  }

  /// What SOURCE has of it was fetched under a name that came before anybody looked where it was written.
  @Test(arguments: [["r", "s"], ["s", "r"]]) func whatWasFetchedDoesNotCutItOff(order: [String]) throws {
    var volume = try mount()
    _ = volume.tree()
    #expect(volume.write("MINE, AND LONGER THAN THAT", to: "r/a") == nil)
    try volume.unmount()
    volume = try mount()
    _ = volume.names("s")
    #expect(link(source.full("r/a"), source.full("s/new")) == 0)
    volume.refresh()
    #expect(volume.read("s/new") == "theirs........")
    #expect(volume.read("r/a") == "MINE, AND LONGER THAN THAT")
    for round in 0..<3 {
      try volume.unmount()
      #expect(try states.next().check().findings == [], "round \(round)")
      volume = try mount()
      for directory in order { _ = volume.names(directory) }
      #expect(volume.read("r/a") == "MINE, AND LONGER THAN THAT", "round \(round)")
      #expect(["MINE, AND LONGER THAN THAT", "theirs........"].contains(volume.read("s/new")), "round \(round)")
    }
    try volume.unmount()
  }
}
