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

  /// The other name of a written file was moved here; SOURCE has given the first one to another file. What is decided
  /// of that is not about the other name.
  @Test(arguments: [false, true], ConflictChoice.allCases) func aConflictIsOfTheNameThatSourceHasReplaced(
    isMounted: Bool, choice: ConflictChoice
  ) throws {
    var volume = try mount()
    _ = volume.tree()
    #expect(volume.rename("d/linked", to: "d/moved") == nil && volume.write("MINE", to: "a") == nil)
    if isMounted { try volume.unmount() }
    unlink(source.full("a"))
    source.write("a", bytes("another one"), mode: 0o644)
    if isMounted { volume = try mount() }
    _ = volume.names("")
    for _ in 0..<2 {
      volume.refresh()
      #expect(volume.read("a") == "MINErs" && volume.read("d/moved") == "MINErs")
      #expect(volume.conflicts == ["a": "changed"])
    }
    let resolved = volume.resolve("a", choice)
    #expect(resolved.failures.isEmpty && resolved.resolved == ["a"])
    for _ in 0..<3 {
      #expect(volume.read("a") == (choice == .keepMine ? "MINErs" : "another one"))
      #expect(volume.read("d/moved") == "MINErs" && volume.names("d") == ["moved"] && volume.conflicts == [:])
      if choice == .keepBoth { #expect(resolved.copy.map { volume.read($0) } == "MINErs") }
      #expect(volume.attributes("d/moved")?.linkCount == (choice == .takeTheirs ? 1 : 2))
      volume.refresh()
      try expectNothingFound(volume)
      volume = try mount()
    }
  }

  /// A link was made of it here, and SOURCE has moved its ctime: that is the older version now, and the name leads to a
  /// newer one, of the same number.
  @Test(arguments: [false, true]) func whatWasSetStaysWithTheNewVersion(isMounted: Bool) throws {
    var volume = try mount()
    _ = volume.tree()
    #expect(volume.change("c") { $0.mode = 0o700 } == nil)
    volume.refresh()
    if isMounted {
      try volume.unmount()
      volume = try mount()
      _ = volume.tree()
    }
    #expect(volume.link("c", to: "d/c") == nil)
    rename(source.full("c"), source.full("x"))
    rename(source.full("x"), source.full("c"))
    for _ in 0..<3 {
      volume.refresh()
      for name in ["c", "d/c"] {
        #expect(volume.attributes(name)?.mode == S_IFREG | 0o700 && volume.read(name) == "theirs", "\(name)")
      }
      try expectNothingFound(volume)
      volume = try mount()
    }
  }

  /// One of two names that SOURCE has for a file was moved here, and SOURCE has written to it since.
  @Test(arguments: ["a", "d/linked"], [false, true]) func aNameThatWasGivenHereLeadsToTheNewVersion(
    name: String, isListedFirst: Bool
  ) throws {
    var volume = try mount()
    for directory in ["", "d"] { _ = volume.names(directory) }
    #expect(volume.makeDirectory("b") == nil && volume.rename(name, to: "b/c") == nil)
    try volume.unmount()
    source.write("a", bytes("newer"), mode: 0o644)
    volume = try mount()
    if isListedFirst { #expect(volume.names("b") == ["c"]) }
    for _ in 0..<3 {
      _ = volume.paths()
      let other = name == "a" ? "d/linked" : "a"
      #expect(volume.names("b") == ["c"] && volume.find(name).node == nil)
      #expect(volume.read("b/c") == "newer" && volume.read(other) == "newer" && volume.conflicts == [:])
      volume.refresh()
      #expect(volume.read("b/c") == "newer" && volume.names("b") == ["c"])
      try expectNothingFound(volume)
      volume = try mount()
    }
  }

  /// SOURCE has written to a file of which one name was moved here, and another one replaced. Several mounts look no
  /// further than where both of them were.
  @Test(arguments: 0..<4) func aNameIntoWhichNobodyHasLookedLeadsToTheNewVersion(mounts: Int) throws {
    link(source.full("c"), source.full("other"))
    var volume = try mount()
    _ = volume.tree()
    #expect(volume.rename("c", to: "d/x") == nil)
    #expect(volume.write("MINE", to: "e/n") == nil && volume.rename("e/n", to: "other") == nil)
    try volume.unmount()
    source.write("c", bytes("newer version"), mode: 0o644)
    for _ in 0..<mounts {
      volume = try mount()
      #expect(volume.names("") == ["a", "d", "e", "other"])
      try expectNothingFound(volume)
    }
    volume = try mount()
    for _ in 0..<2 {
      #expect(volume.read("d/x") == "newer version" && volume.read("other") == "MINE", "\(volume.tree())")
      volume.refresh()
    }
    try expectNothingFound(volume)
  }

  /// A tree was removed here while a program had a file in it open, and SOURCE has lost the directory since.
  @Test(arguments: [false, true], [false, true]) func whatWasOpenInARemovedTreeGoesWithIt(
    isCrash: Bool, isMounted: Bool
  ) throws {
    var volume = try mount()
    #expect(volume.write("MINE", to: "e/f", syncs: true, closes: false) == nil)
    #expect(volume.remove("e") == nil)
    volume.run()
    unlink(source.full("e/f"))
    rmdir(source.full("e"))
    volume.refresh()
    if isCrash { volume.passSecond() } else { try volume.unmount() }
    if isMounted {
      volume = try mount()
      #expect(volume.names("") == ["a", "c", "d"] && volume.conflicts == [:])
      try volume.unmount()
    }
    // What the kernel knew still goes with the next mount.
    let findings = try states.next().check().findings
    #expect(!findings.contains { $0.isDamage } && (!isMounted || findings.isEmpty), "\(findings)")
  }

  /// A file that a program has open still, removed on both sides: a crash leaves nothing of it.
  @Test(arguments: [false, true], [false, true]) func whatBothSidesHaveRemovedIsNowhere(
    isSourceFirst: Bool, isShared: Bool
  ) throws {
    var volume = try mount()
    _ = volume.tree()
    let (name, other) = isShared ? ("a", "d/linked") : ("c", "c")
    #expect(volume.write("MINE", to: name, closes: false) == nil)
    volume.passSecond()
    func removeThere() {
      for path in [name, other] { unlink(source.full(path)) }
      volume.refresh()
    }
    if isSourceFirst { removeThere() }
    for path in isShared ? [name, other] : [name] where volume.find(path).node != nil {
      #expect(volume.unlink(path) == nil)
    }
    volume.passSecond()
    if !isSourceFirst { removeThere() }
    volume.passSecond()
    // A crash.
    volume = try mount()
    #expect(volume.names("").contains(name) == false && volume.names("d") == (isShared ? [] : ["linked"]))
    #expect(volume.conflicts == [:])
    try expectNothingFound(volume)
  }

  /// SOURCE has linked a written file to a name behind one that was made here, and has removed that link again before
  /// anybody has looked where the file was written.
  @Test(arguments: [false, true]) func aLostNameThatWasMetFirstLeavesTheOneThatWasWritten(isReplaced: Bool) throws {
    var volume = try mount()
    _ = volume.tree()
    #expect(volume.write("MINE", to: "e/f") == nil && volume.write("made", to: "x") == nil)
    try volume.unmount()
    link(source.full("e/f"), source.full("x"))
    volume = try mount()
    #expect(volume.names("").contains("x"))
    unlink(source.full("x"))
    if isReplaced {
      unlink(source.full("e/f"))
      rmdir(source.full("e"))
      mkdir(source.full("e"), 0o755)
    }
    volume.refresh()
    for _ in 0..<2 {
      #expect(volume.names("e") == ["f"] && volume.read("e/f") == "MINErs", "\(volume.tree())")
      #expect(volume.read("x") == "made" && volume.conflicts == (isReplaced ? ["e/f": "gone_in_source"] : [:]))
      try expectNothingFound(volume)
      volume = try mount()
    }
  }

  /// A file was moved here out of a directory that was removed then, and SOURCE has moved what it lay in out of that:
  /// its file there is another one.
  @Test(arguments: [["d/x", "g/f"], ["g/f", "d/x"]], [0, 1, 2]) func whatWasMovedOutOfARemovedDirectoryIsItsOwn(
    order: [String], looks: Int
  ) throws {
    mkdir(source.full("e/h"), 0o755)
    rename(source.full("e/f"), source.full("e/h/f"))
    var volume = try mount()
    _ = volume.tree()
    #expect(volume.rename("e/h/f", to: "d/x") == nil && volume.remove("e") == nil)
    if looks > 0 { volume.run() }
    try volume.unmount()
    rename(source.full("e/h"), source.full("g"))
    volume = try mount()
    if looks < 2 { _ = volume.tree() }
    for (text, name) in zip(["ONE", "TWO"], order) {
      _ = volume.names("")
      #expect(volume.write(text, to: name) == nil)
    }
    for _ in 0..<2 {
      for (text, name) in zip(["ONEirs", "TWOirs"], order) { #expect(volume.read(name) == text, "\(volume.tree())") }
      try expectNothingFound(volume)
      volume = try mount()
      _ = volume.tree()
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
