import DatalessCore
@testable import DatalessState
import Glibc
import Testing

/// What was moved on the volume, and what SOURCE has made of the place that it came from before the next mount.
@Suite struct KeptMoveTests {
  private let source = Scratch("source")
  private let states = StateCopies()

  init() {
    for directory in ["x", "x/y", "x/y/z"] { mkdir(source.full(directory), 0o755) }
    source.write("x/y/z/f", bytes("deep"))
  }

  enum SourceChange: String, CaseIterable {
    case nothing, renamesAbove, renamesIt, removesAbove, removesIt
  }

  enum LocalChange: String, CaseIterable {
    case makesDeep, writesDeep, makesNear, nothing
  }

  private func change(_ change: SourceChange) {
    switch change {
    case .nothing: break
    case .renamesAbove: rename(source.full("x"), source.full("xren"))
    case .renamesIt: rename(source.full("x/y"), source.full("x/yren"))
    case .removesIt, .removesAbove:
      unlink(source.full("x/y/z/f"))
      rmdir(source.full("x/y/z"))
      rmdir(source.full("x/y"))
      if change == .removesAbove { rmdir(source.full("x")) }
    }
  }

  /// The store has another version of a file that was moved here: nothing of it comes back where it was. What was
  /// fetched stays until it is evicted.
  @Test(arguments: [false, true]) func aNewVersionOfWhatWasMovedIsWhereItWasMovedTo(isFetched: Bool) throws {
    source.write("a", bytes("older"))
    let keeps: (inout EngineConfiguration) -> Void = { $0.simulation.profile.residentChanges = .keep }
    var volume = try KeptVolume(states.next(), source: source, keeps)
    _ = volume.names("")
    if isFetched { #expect(volume.read("a") == "older") } else { #expect(volume.rename("a", to: "moved") == nil) }
    source.write("a", bytes("newer, and longer"))
    volume.refresh()
    if isFetched {
      #expect(volume.rename("a", to: "moved") == nil)
      #expect(volume.read("moved") == "older")
      volume.evict("moved")
    }
    for round in 0..<3 {
      #expect(volume.names("").sorted() == ["moved", "x"], "round \(round)")
      if round > 0 { #expect(volume.read("moved") == "newer, and longer", "round \(round)") }
      try volume.unmount()
      #expect(try states.next().check().findings == [], "round \(round)")
      volume = try KeptVolume(states.next(), source: source)
    }
    #expect(volume.write("OURS", to: "moved") == nil)
    try volume.unmount()
    volume = try KeptVolume(states.next(), source: source)
    #expect(volume.read("moved") == "OURSr, and longer")
  }

  /// The store moves what was changed here to a name that was made here, too: it stays under its own, and neither is
  /// hidden behind the other.
  @Test(arguments: [false, true]) func whatWasChangedIsNotHiddenBehindWhatWasMade(isDirectory: Bool) throws {
    let file = isDirectory ? "x/y/z/f" : "a"
    source.write("a", bytes("theirs"))
    var volume = try KeptVolume(states.next(), source: source)
    #expect(volume.write("changed, and longer", to: file) == nil)
    #expect((isDirectory ? volume.makeDirectory("n") : volume.write("made", to: "n")) == nil)
    if isDirectory { #expect(volume.write("made", to: "n/made") == nil) }
    rename(source.full(isDirectory ? "x/y" : "a"), source.full("n"))
    volume.refresh()
    for round in 0..<3 {
      #expect(volume.read(file) == "changed, and longer", "round \(round)")
      #expect(volume.read(isDirectory ? "n/made" : "n") == "made", "round \(round)")
      #expect(volume.conflicts["n"] == (round < 2 ? "made" : nil), "round \(round)")
      #expect(volume.conflicts[file] == "gone_in_source", "round \(round)")
      if round == 1 { #expect(volume.resolve("n", .keepMine).failures == []) }
      try volume.unmount()
      #expect(try states.next().check().findings == [], "round \(round)")
      volume = try KeptVolume(states.next(), source: source)
    }
  }

  /// What is the store's again has nothing of what a program had made of an older version.
  @Test(arguments: [ConflictChoice.takeTheirs, .keepBoth])
  func whatIsTakenOfTheirsIsAsTheyHaveIt(choice: ConflictChoice) throws {
    source.write("a", bytes("theirs"))
    var volume = try KeptVolume(states.next(), source: source)
    #expect(volume.write(String(repeating: "w", count: 500), to: "a") == nil)
    #expect(volume.change("a") { $0.mode = 0o611 } == nil)
    #expect(volume.write("saved", to: "new") == nil)
    #expect(volume.rename("new", to: "a") == nil)
    source.write("a", bytes("theirs, once more"))
    volume.refresh()
    #expect(volume.resolve("a", choice).failures == [])
    for round in 0..<3 {
      let shown = try #require(volume.attributes("a"))
      #expect(shown.size == 17 && shown.mode & 0o777 != 0o611, "round \(round): \(shown)")
      #expect(volume.read("a") == "theirs, once more", "round \(round)")
      try volume.unmount()
      volume = try KeptVolume(states.next(), source: source)
    }
  }

  /// It was removed here, renamed in the store, and so was its directory before the next mount: if it is there again,
  /// it is one file.
  @Test func whatComesBackHasALink() throws {
    source.write("x/y/f", bytes("theirs"))
    var volume = try KeptVolume(states.next(), source: source)
    _ = volume.names("x/y")
    #expect(volume.unlink("x/y/f") == nil)
    rename(source.full("x/y/f"), source.full("x/g"))
    volume.refresh()
    try volume.unmount()
    rename(source.full("x"), source.full("w"))
    for round in 0..<3 {
      volume = try KeptVolume(states.next(), source: source)
      if volume.names("w").contains("g") {
        #expect(volume.attributes("w/g")?.linkCount == 1, "round \(round)")
        #expect(volume.read("w/g") == "theirs", "round \(round)")
      }
      try volume.unmount()
      #expect(try states.next().check().damages == 0, "round \(round)")
    }
  }

  /// The store renames a file that was written here: what is fetched of the store's is no more the other one's. While
  /// it is mounted, the volume follows.
  @Test(arguments: [false, true]) func whatWasWrittenStaysBesideWhatTheStoreHasRenamed(isMounted: Bool) throws {
    source.write("a", bytes("theirs"))
    var volume = try KeptVolume(states.next(), source: source)
    #expect(volume.write("edited", to: "a") == nil)
    if isMounted {
      rename(source.full("a"), source.full("b"))
      volume.refresh()
    }
    try volume.unmount()
    if !isMounted { rename(source.full("a"), source.full("b")) }
    for round in 0..<3 {
      volume = try KeptVolume(states.next(), source: source)
      for name in round == 1 ? ["b", "a"] : ["a", "b"] where !isMounted || name == "b" {
        #expect(volume.read(name) == (name == "a" || isMounted ? "edited" : "theirs"), "\(name), round \(round)")
      }
      #expect(volume.names("").contains("a") == !isMounted)
      try volume.unmount()
      let findings = try states.next().check().findings
      #expect(findings == [], "round \(round)")
    }
  }

  @Test(arguments: SourceChange.allCases, LocalChange.allCases)
  func whatWasWrittenInWhatWasMovedStays(_ there: SourceChange, _ here: LocalChange) throws {
    var volume = try KeptVolume(states.next(), source: source)
    #expect(volume.rename("x/y", to: "yy") == nil)
    var written: [String: String] = [:]
    switch here {
    case .makesDeep: written["yy/z/q"] = "mine"
    case .writesDeep: written["yy/z/f"] = "edited"
    case .makesNear: written["yy/n"] = "near"
    case .nothing: break
    }
    for (path, text) in written { #expect(volume.write(text, to: path) == nil) }
    try volume.unmount()
    change(there)
    for round in 0..<3 {
      volume = try KeptVolume(states.next(), source: source)
      if round == 1 { _ = volume.tree() }
      for (path, text) in written { #expect(volume.read(path) == text, "\(path), round \(round)") }
      #expect(volume.names("").contains("yy") || written.isEmpty)
      // What the store has no more, and nobody has changed, goes when somebody looks.
      if written.isEmpty { _ = volume.tree() }
      for name in volume.names("") { #expect(!volume.names(name).contains("ESTALE"), "\(name), round \(round)") }
      try volume.unmount()
      let findings = try states.next().check().findings
      #expect(findings == [], "round \(round)")
    }
  }
}
