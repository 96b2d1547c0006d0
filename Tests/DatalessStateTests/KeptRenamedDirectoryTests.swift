import DatalessCore
@testable import DatalessState
import Glibc
import TestSupport
import Testing

/// Directories that SOURCE renames between two mounts: all that was set, made and removed in them goes along, as with a
/// refresh. What is not sure to be the same directory takes nothing along, and what was written stays.
@Suite struct KeptRenamedDirectoryTests {
  private let source = Scratch("source")
  private let states = StateCopies()

  private func mount() throws(FSError) -> KeptVolume { try KeptVolume(states.next(), source: source) }

  private func mode(_ path: String, of volume: KeptVolume) -> UInt32? {
    volume.attributes(path).map { $0.mode & 0o777 }
  }

  /// A directory with two files.
  private func make(_ path: String) {
    mkdir(source.full(path), 0o755)
    for file in ["f", "g"] { source.write("\(path)/\(file)", bytes("theirs \(path)/\(file)"), mode: 0o644) }
  }

  private enum Change {
    /// Modes, extended attributes, a removal.
    case settings
    case name
  }

  private func change(_ path: String, _ changes: Change..., on volume: KeptVolume) {
    if changes.contains(.settings) {
      #expect(volume.change(path) { $0.mode = 0o700 } == nil)
      #expect(volume.change("\(path)/f") { $0.mode = 0o600 } == nil)
      volume.setAttribute("user.a", to: path, of: "\(path)/f")
      #expect(volume.unlink("\(path)/g") == nil)
    }
    if changes.contains(.name) { #expect(volume.write("mine \(path)", to: "\(path)/new") == nil) }
  }

  /// - Parameter former: What a directory was called when it was changed.
  private func expect(
    _ path: String, hasWhatWasSetOn former: String, isNew: Bool = false, in volume: KeptVolume,
    _ sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(mode(path, of: volume) == 0o700, sourceLocation: sourceLocation)
    #expect(volume.names(path) == (isNew ? ["f", "new"] : ["f"]), sourceLocation: sourceLocation)
    #expect(mode("\(path)/f", of: volume) == 0o600, sourceLocation: sourceLocation)
    #expect(volume.attribute("user.a", of: "\(path)/f") == former, sourceLocation: sourceLocation)
    #expect(volume.read("\(path)/f") == "theirs \(former)/f", sourceLocation: sourceLocation)
    if isNew { #expect(volume.read("\(path)/new") == "mine \(former)", sourceLocation: sourceLocation) }
  }

  private func expectFresh(_ path: String, in volume: KeptVolume, _ line: Int = #line) {
    #expect(mode(path, of: volume) == 0o755 && volume.names(path) == ["f", "g"], "line \(line)")
    #expect(mode("\(path)/f", of: volume) == 0o644, "line \(line)")
    #expect(volume.attribute("user.a", of: "\(path)/f") == "ENODATA", "line \(line)")
  }

  /// - Parameter twice: Whether what is expected is to be so after another mount, too.
  private func mounted(twice: Bool = true, _ body: (KeptVolume) throws -> Void) throws {
    for _ in 0..<(twice ? 2 : 1) {
      let volume = try mount()
      try body(volume)
      try volume.unmount()
      let findings = try states.next().check().findings.filter { $0.kind != .unlinked }
      #expect(findings == [])
    }
  }

  @Test(arguments: [false, true]) func allOfItComesAlong(isNew: Bool) throws {
    make("d")
    try mounted(twice: false) { volume in
      change("d", .settings, on: volume)
      if isNew { change("d", .name, on: volume) }
    }
    rename(source.full("d"), source.full("e"))
    try mounted { volume in
      #expect(volume.names("") == ["e"] && volume.conflicts == [:])
      expect("e", hasWhatWasSetOn: "d", isNew: isNew, in: volume)
    }
  }

  /// What lies in a directory that SOURCE has put in the place of one that is gone lies in that one.
  @Test(arguments: [false, true], [false, true])
  func whatComesBackInAnotherDirectoryIsNotOfTheFormerOne(isTopSet: Bool, isSet: Bool) throws {
    mkdir(source.full("b"), 0o755)
    mkdir(source.full("k"), 0o755)
    make("b/c")
    try mounted(twice: false) { volume in
      if isTopSet { #expect(volume.change("b") { $0.mode = 0o700 } == nil) }
      if isSet { change("b/c", .settings, on: volume) } else { #expect(volume.unlink("b/c/g") == nil) }
    }
    rename(source.full("b/c"), source.full("k/c"))
    rmdir(source.full("b"))
    try mounted(twice: false) { volume in
      #expect(volume.names("") == ["k"])
      mkdir(source.full("b2"), 0o755)
      rename(source.full("b2"), source.full("b"))
      rename(source.full("k/c"), source.full("b/c"))
      volume.refresh()
      #expect(volume.names("b") == ["c"] && mode("b", of: volume) == 0o755)
      #expect(volume.names("b/c") == ["f"] && mode("b/c", of: volume) == (isSet ? 0o700 : 0o755))
      #expect(volume.write("mine", to: "b/c/new") == nil && volume.makeDirectory("b/c/made") == nil)
      #expect(volume.write("deep", to: "b/c/made/file") == nil)
    }
    try mounted { volume in
      #expect(volume.names("") == ["b", "k"] && volume.names("b/c") == ["f", "made", "new"])
      #expect(volume.read("b/c/new") == "mine" && volume.read("b/c/made/file") == "deep")
      #expect(mode("b/c", of: volume) == (isSet ? 0o700 : 0o755) && volume.conflicts == [:])
    }
  }

  /// Of the directory itself nothing was set: it is in the catalog because of what is in it.
  @Test(arguments: [false, true]) func aDirectoryOnTheWayIsKnown(isWritten: Bool) throws {
    make("d")
    mkdir(source.full("d/s"), 0o755)
    source.write("d/s/f", bytes("theirs"), mode: 0o644)
    try mounted(twice: false) { volume in
      if isWritten { #expect(volume.write("MINE", to: "d/s/f") == nil) }
      #expect(volume.change("d/s/f") { $0.mode = 0o600 } == nil)
    }
    rename(source.full("d"), source.full("e"))
    try mounted { volume in
      #expect(volume.names("") == ["e"] && volume.names("e") == ["f", "g", "s"])
      #expect(mode("e/s/f", of: volume) == 0o600 && volume.read("e/s/f") == (isWritten ? "MINErs" : "theirs"))
      #expect(volume.conflicts == [:])
    }
  }

  @Test func nestedOnesComeAlong() throws {
    make("d")
    make("d/s")
    try mounted(twice: false) { volume in
      change("d/s", .settings, .name, on: volume)
      change("d", .settings, on: volume)
    }
    rename(source.full("d/s"), source.full("d/t"))
    rename(source.full("d"), source.full("e"))
    try mounted { volume in
      #expect(volume.names("") == ["e"] && volume.names("e") == ["f", "t"])
      #expect(mode("e", of: volume) == 0o700 && mode("e/f", of: volume) == 0o600)
      expect("e/t", hasWhatWasSetOn: "d/s", isNew: true, in: volume)
      #expect(volume.conflicts == [:])
    }
  }

  @Test func thoseThatChangePlacesKeepTheirOwn() throws {
    for path in ["d", "e"] { make(path) }
    try mounted(twice: false) { volume in
      change("d", .settings, .name, on: volume)
      #expect(volume.write("mine e", to: "e/made") == nil && volume.unlink("e/f") == nil)
    }
    for (from, to) in [("d", "x"), ("e", "d"), ("x", "e")] { rename(source.full(from), source.full(to)) }
    try mounted { volume in
      #expect(volume.names("") == ["d", "e"] && volume.conflicts == [:])
      expect("e", hasWhatWasSetOn: "d", isNew: true, in: volume)
      #expect(volume.names("d") == ["g", "made"] && volume.read("d/made") == "mine e")
      #expect(mode("d", of: volume) == 0o755)
    }
  }

  @Test func eachOfAChainKeepsItsOwn() throws {
    for path in ["d", "e"] { make(path) }
    try mounted(twice: false) { volume in
      change("d", .settings, .name, on: volume)
      change("e", .settings, .name, on: volume)
    }
    for (from, to) in [("e", "f"), ("d", "e")] { rename(source.full(from), source.full(to)) }
    try mounted { volume in
      #expect(volume.names("") == ["e", "f"] && volume.conflicts == [:])
      expect("e", hasWhatWasSetOn: "d", isNew: true, in: volume)
      expect("f", hasWhatWasSetOn: "e", isNew: true, in: volume)
    }
  }

  @Test(arguments: [false, true]) func aNewDirectoryAtTheOldNameHasNothingOfIt(isNew: Bool) throws {
    make("d")
    try mounted(twice: false) { volume in
      change("d", .settings, on: volume)
      if isNew { change("d", .name, on: volume) }
    }
    rename(source.full("d"), source.full("e"))
    make("d")
    try mounted { volume in
      #expect(volume.names("") == ["d", "e"] && volume.conflicts == [:])
      expect("e", hasWhatWasSetOn: "d", isNew: isNew, in: volume)
      expectFresh("d", in: volume)
    }
  }

  /// Whichever directory is looked into first; and if nobody looks at the other one in that run.
  @Test(arguments: [["a", "b"], ["b", "a"], ["b"]]) func whatWasSetGoesToAnotherDirectory(looked: [String]) throws {
    for path in ["a", "b"] { mkdir(source.full(path), 0o755) }
    make("a/d")
    try mounted(twice: false) { volume in change("a/d", .settings, on: volume) }
    rename(source.full("a/d"), source.full("b/d"))
    try mounted(twice: false) { volume in
      for path in looked { _ = volume.names(path) }
      expect("b/d", hasWhatWasSetOn: "a/d", in: volume)
      if looked.contains("a") { #expect(volume.names("a") == []) }
    }
    try mounted { volume in
      #expect(volume.names("a") == [] && volume.names("b") == ["d"] && volume.conflicts == [:])
      expect("b/d", hasWhatWasSetOn: "a/d", in: volume)
    }
  }

  /// Where its former place is looked into first, what was written stays there: nobody knows of the new place yet.
  @Test(arguments: [["a", "b"], ["b", "a"]]) func whatWasWrittenIsThereOnce(looked: [String]) throws {
    for path in ["a", "b"] { mkdir(source.full(path), 0o755) }
    make("a/d")
    try mounted(twice: false) { volume in change("a/d", .name, on: volume) }
    rename(source.full("a/d"), source.full("b/d"))
    try mounted { volume in
      for path in looked { _ = volume.names(path) }
      let isMoved = looked.first == "b"
      #expect(volume.read(isMoved ? "b/d/new" : "a/d/new") == "mine a/d")
      #expect(volume.names("a") == (isMoved ? [] : ["d"]))
      #expect(volume.names("b/d") == (isMoved ? ["f", "g", "new"] : ["f", "g"]))
      #expect(volume.conflicts == (isMoved ? [:] : ["a/d": "gone_in_source"]), "\(volume.conflicts)")
    }
  }

  /// What was written in the new directory that has taken its place is that one's, also when the former one is met.
  @Test func whatIsOneWithANewDirectoryStaysWithIt() throws {
    for path in ["a", "b"] { mkdir(source.full(path), 0o755) }
    make("a/d")
    try mounted(twice: false) { volume in change("a/d", .settings, on: volume) }
    rename(source.full("a/d"), source.full("b/d"))
    make("a/d")
    try mounted(twice: false) { volume in change("a/d", .name, on: volume) }
    try mounted { volume in
      #expect(volume.names("b/d") == ["f", "g"] && volume.read("a/d/new") == "mine a/d")
    }
  }

  /// SOURCE gives it the name of a directory in which something was written, and which it has no more.
  @Test func nothingWrittenIsHidden() throws {
    for path in ["d", "e"] { make(path) }
    try mounted(twice: false) { volume in
      #expect(volume.write("mine d", to: "d/in-d") == nil && volume.write("mine e", to: "e/in-e") == nil)
    }
    Scratch.removeTree(source.full("e"))
    rename(source.full("d"), source.full("e"))
    try mounted { volume in
      #expect(volume.read("d/in-d") == "mine d" && volume.read("e/in-e") == "mine e")
      #expect(volume.names("d") == ["in-d"] && volume.names("e") == ["f", "g", "in-e"])
    }
  }

  @Test func whatWasMovedOutOfItFollows() throws {
    make("d")
    make("d/y")
    try mounted(twice: false) { volume in
      #expect(volume.rename("d/y", to: "y") == nil && volume.rename("d/f", to: "moved") == nil)
      change("y", .settings, on: volume)
    }
    rename(source.full("d"), source.full("e"))
    source.write("e/y/later", bytes("theirs"), mode: 0o644)
    try mounted { volume in
      #expect(volume.names("") == ["e", "moved", "y"] && volume.names("e") == ["g"] && volume.conflicts == [:])
      #expect(volume.names("y") == ["f", "later"] && mode("y/f", of: volume) == 0o600)
      #expect(volume.read("moved") == "theirs d/f" && volume.read("y/later") == "theirs")
    }
  }

  /// What was removed here stays removed under no other name: the store's new name is shown.
  @Test func whatWasRemovedHereIsNotMetAgain() throws {
    make("d")
    try mounted(twice: false) { volume in
      change("d", .settings, on: volume)
      #expect(volume.remove("d") == nil)
    }
    rename(source.full("d"), source.full("e"))
    try mounted { volume in
      #expect(volume.names("") == ["e"] && volume.conflicts == [:])
      expectFresh("e", in: volume)
    }
  }

  /// What was set in a directory that SOURCE has removed is waited for as long as the volume is mounted, and no longer.
  @Test func whatIsGoneIsForgotten() throws {
    make("d")
    try mounted(twice: false) { volume in change("d", .settings, on: volume) }
    Scratch.removeTree(source.full("d"))
    try mounted(twice: false) { volume in #expect(volume.names("") == []) }
    make("d")
    try mounted { volume in expectFresh("d", in: volume) }
  }
}

/// What proves that a directory is the one that was kept.
@Suite struct KeptIdentityTests {
  private func directory(
    _ key: String, node: UInt64, inode: UInt64, birth: UInt64, kind: ItemKind = .directory
  ) -> ChangedItem {
    var found = attributes(inode: inode, kind: kind)
    found.birth = birth
    let binding = StoreBinding(key: Array(key.utf8), version: StoreVersion(found))
    return ChangedItem(NodeID(rawValue: node), inode: inode, binding: binding)
  }

  /// A catalog with a directory of inode number 50 in `a/d`, as a later run finds it.
  private func kept(birth: UInt64) throws -> StateFixture {
    let fixture = StateFixture()
    let item = directory("a/d", node: 9, inode: 50, birth: birth)
    var set = attributes(inode: 50, kind: .directory)
    set.birth = birth
    try fixture.run { volume in try fixture.keep(.attributes(of: item, set, listed: set), in: volume) }
    return fixture
  }

  @Test func aNumberAloneIsNoProof() throws {
    let fixture = try kept(birth: 7)
    let volume = try fixture.open()
    let wrong = [
      directory("b/d", node: 20, inode: 50, birth: 8), directory("b/d", node: 20, inode: 51, birth: 7),
      directory("b/d", node: 20, inode: 50, birth: 7, kind: .file), directory("a/d", node: 20, inode: 50, birth: 7),
      directory("b/d", node: 20, inode: 50, birth: 0),
    ]
    for item in wrong { #expect(try volume.renamed([item]) == [] && volume.takeRenamed([item]) == []) }
    let right = directory("b/d", node: 21, inode: 50, birth: 7)
    #expect(try volume.renamed([right]).map(\.key) == [bytes("a/d")])
    let taken = try volume.takeRenamed([right, right])
    #expect(taken.map(\.key) == [bytes("b/d")] && taken.map(\.formerKey) == [bytes("a/d")])
    // It is a node by now.
    #expect(try volume.renamed([directory("c/d", node: 22, inode: 50, birth: 7)]) == [])
    try volume.close()
  }

  @Test func withoutATimeOfBirthNothingIsSure() throws {
    let fixture = try kept(birth: 0)
    let volume = try fixture.open()
    #expect(try volume.renamed([directory("b/d", node: 20, inode: 50, birth: 0)]) == [])
    try volume.close()
  }
}
