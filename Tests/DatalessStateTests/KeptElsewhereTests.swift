import DatalessCore
@testable import DatalessState
import Glibc
import Testing

/// Files that are met under another name than the one that they are kept by, after SOURCE has changed what had that.
@Suite struct KeptElsewhereTests {
  private let source = Scratch("source")
  private let states = StateCopies()

  init() {
    for directory in ["d", "e"] { mkdir(source.full(directory), 0o755) }
    for file in ["a", "e/f"] { source.write(file, bytes("theirs"), mode: 0o644) }
    link(source.full("a"), source.full("d/linked"))
    source.write("c", bytes("theirs"), mode: 0o644)
  }

  private func mount() throws(FSError) -> KeptVolume { try KeptVolume(states.next(), source: source) }

  private func expectNothingFound(_ volume: KeptVolume) throws {
    try volume.unmount()
    let report = try states.next().check()
    #expect(report.findings.isEmpty, "\(report.findings)")
  }

  /// What SOURCE has in its place is empty, and local therefore: that is not what was written.
  @Test(arguments: ["", "more and more"], [false, true]) func whatWasWrittenAndMovedStays(
    theirs: String, isRefreshed: Bool
  ) throws {
    var volume = try mount()
    _ = volume.tree()
    #expect(volume.write("MINE", to: "c") == nil && volume.rename("c", to: "d/x") == nil)
    if isRefreshed { source.write("c", bytes(theirs), mode: 0o644) }
    if isRefreshed { volume.refresh() }
    try volume.unmount()
    source.write("c", bytes(theirs), mode: 0o644)
    for _ in 0..<3 {
      volume = try mount()
      _ = volume.tree()
      #expect(volume.read("d/x") == "MINErs" && volume.conflicts == ["d/x": "changed"])
      volume.refresh()
      #expect(volume.read("d/x") == "MINErs" && volume.conflicts == ["d/x": "changed"], "\(volume.tree())")
      try expectNothingFound(volume)
    }
  }

  /// The content that was kept is of the old name; what is fetched by the new one is another, and stays.
  @Test(arguments: [false, true], [false, true]) func whatSourceHasMovedIsFetchedAnew(
    isWritten: Bool, isListedFirst: Bool
  ) throws {
    var volume = try mount()
    #expect(volume.read("e/f") == "theirs")
    try volume.unmount()
    rename(source.full("e/f"), source.full("moved"))
    volume = try mount()
    if isListedFirst { #expect(volume.names("e") == []) }
    #expect(volume.read("moved") == "theirs")
    #expect(volume.names("e") == [])
    if isWritten { #expect(volume.write("MINE", to: "moved") == nil) }
    let expected = isWritten ? "MINErs" : "theirs"
    volume.passSecond()
    #expect(volume.read("moved") == expected)
    volume.refresh()
    #expect(volume.read("moved") == expected)
    try expectNothingFound(volume)
    volume = try mount()
    #expect(volume.read("moved") == expected && volume.names("e") == [] && volume.conflicts == [:])
    try expectNothingFound(volume)
  }

  /// What was set on it by one of its names is kept with that; SOURCE has given the name to another file since.
  @Test(arguments: [false, true]) func whatIsWrittenIsNotOfTheFileThatHasItsFormerName(isCrash: Bool) throws {
    var volume = try mount()
    _ = volume.tree()
    #expect(volume.change("a") { $0.modificationTime = .at(Timestamp(seconds: 1_000_000, nanoseconds: 0)) } == nil)
    try volume.unmount()
    source.write("d/linked", bytes("another version"), mode: 0o644)
    volume = try mount()
    _ = volume.tree()
    try volume.unmount()
    source.write("other", bytes("other"), mode: 0o644)
    rename(source.full("other"), source.full("a"))
    volume = try mount()
    _ = volume.paths()
    #expect(volume.write("MINE", to: "d/linked") == nil)
    if isCrash { volume.passSecond() } else { try volume.unmount() }
    for _ in 0..<2 {
      volume = try mount()
      #expect(volume.names("") == ["a", "c", "d", "e"] && volume.read("a") == "other")
      #expect(volume.read("d/linked") == "MINEher version" && volume.conflicts == [:])
      try expectNothingFound(volume)
    }
  }

  /// A crash while a program writes: of the file nothing was told yet but that it is written to.
  @Test(arguments: ["change", "remove", "replace", "move", "nothing"]) func whatACrashLeavesHasItsRights(
    way: String
  ) throws {
    var volume = try mount()
    _ = volume.names("")
    #expect(volume.write("MINE", to: "c", closes: false) == nil)
    volume.passSecond()
    switch way {
    case "change": source.write("c", bytes("another version"), mode: 0o644)
    case "move": rename(source.full("c"), source.full("e/c"))
    case "nothing": break
    default: unlink(source.full("c"))
    }
    if way == "replace" { source.write("c", bytes("new"), mode: 0o644) }
    for round in 0..<3 {
      volume = try mount()
      let found = volume.paths().first { volume.read($0) == "MINErs" }
      let attributes = found.flatMap { volume.attributes($0) }
      #expect(attributes.map { $0.mode & 0o7777 } == 0o644, "round \(round): \(volume.tree())")
      #expect(attributes?.uid == getuid() && attributes?.linkCount == 1, "round \(round)")
      if round == 1 { volume.refresh() }
      try volume.unmount()
      let report = try states.next().check()
      #expect(report.damages == 0, "\(report.findings)")
    }
  }

  /// SOURCE removes a name that was removed here, too: what was written has the other one.
  @Test(arguments: ["unlink", "rename", "replace"]) func whatWasWrittenHasItsOtherName(way: String) throws {
    var volume = try mount()
    _ = volume.tree()
    #expect(volume.write("MINE", to: "a") == nil && volume.unlink("a") == nil)
    #expect(volume.read("d/linked") == "MINErs")
    try volume.unmount()
    switch way {
    case "rename": rename(source.full("a"), source.full("e/n"))
    default: unlink(source.full("a"))
    }
    if way == "replace" { source.write("a", bytes("new"), mode: 0o644) }
    for _ in 0..<3 {
      volume = try mount()
      let paths = volume.paths()
      #expect(volume.read("d/linked") == "MINErs", "\(volume.tree())")
      #expect(paths.contains("a") == (way == "replace"))
      volume.refresh()
      #expect(volume.read("d/linked") == "MINErs")
      try expectNothingFound(volume)
    }
  }
}
