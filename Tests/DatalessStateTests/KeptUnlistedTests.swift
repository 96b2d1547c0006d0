import DatalessCore
@testable import DatalessState
import Glibc
import TestSupport
import Testing

/// What an earlier run has changed below a directory into which nobody has looked since, when the store has the
/// directory no more.
@Suite struct KeptUnlistedTests {
  private let source = Scratch("source")
  private let states = StateCopies()

  enum Fate: CaseIterable {
    case gone, becomesFile, becomesDirectory
  }

  init() {
    mkdir(source.full("p"), 0o755)
    mkdir(source.full("p/q"), 0o755)
    for file in ["p/a", "p/q/b", "p/q/c"] { source.write(file, bytes("theirs \(file)"), mode: 0o644) }
  }

  private func meet(_ fate: Fate) {
    Scratch.removeTree(source.full("p"))
    switch fate {
    case .gone: break
    case .becomesFile: source.write("p", bytes("file"), mode: 0o644)
    case .becomesDirectory:
      mkdir(source.full("p"), 0o755)
      source.write("p/n", bytes("new"), mode: 0o644)
    }
  }

  private func expectMine(_ volume: KeptVolume, _ fate: Fate) {
    #expect(volume.read("p/q/b") == "what I wrote")
    #expect(volume.names("p/q") == ["b"])
    #expect(volume.names("p") == (fate == .becomesDirectory ? ["n", "q"] : ["q"]))
    #expect(volume.conflicts["p/q/b"] == "gone_in_source", "\(volume.conflicts)")
  }

  @Test(arguments: Fate.allCases, [[""], ["", "p"], ["", "p", "p/q"]])
  func whatWasWrittenThereStays(_ fate: Fate, looked: [String]) throws {
    var volume = try KeptVolume(states.next(), source: source)
    #expect(volume.write("what I wrote", to: "p/q/b") == nil)
    try volume.unmount()
    volume = try KeptVolume(states.next(), source: source)
    for directory in looked { _ = volume.names(directory) }
    meet(fate)
    volume.refresh()
    expectMine(volume, fate)
    try volume.unmount()
    #expect(try states.next().check().findings == [])
    volume = try KeptVolume(states.next(), source: source)
    expectMine(volume, fate)
    try volume.unmount()
    #expect(try states.next().check().findings == [])
  }

  @Test(arguments: [[""], ["", "p"]], [false, true])
  func whatWasFetchedAloneGoesWithoutAConflict(looked: [String], isMoved: Bool) throws {
    var volume = try KeptVolume(states.next(), source: source)
    #expect(volume.read("p/q/b") == "theirs p/q/b")
    if isMoved { #expect(volume.rename("p", to: "m") == nil) }
    try volume.unmount()
    volume = try KeptVolume(states.next(), source: source)
    for directory in looked { _ = volume.names(directory == "p" && isMoved ? "m" : directory) }
    meet(.gone)
    volume.refresh()
    #expect(volume.names("") == [])
    #expect(volume.conflicts == [:])
    try volume.unmount()
    try expectNothing()
  }

  private func expectNothing() throws {
    let report = try states.next().check()
    #expect(report.findings == [])
    #expect(report.items == 1)
    #expect(report.contents == 0)
  }

  @Test func whatWasFetchedGivesItsRoomBackIfTheStoreRemovesItBetweenMounts() throws {
    var volume = try KeptVolume(states.next(), source: source)
    _ = volume.read("p/q/b")
    _ = volume.read("p/a")
    try volume.unmount()
    meet(.gone)
    volume = try KeptVolume(states.next(), source: source)
    #expect(volume.names("") == [])
    try volume.unmount()
    try expectNothing()
  }

  @Test func aRenamedDirectoryIsNotJoinedWithTheNewOne() throws {
    var volume = try KeptVolume(states.next(), source: source)
    #expect(volume.write("what I wrote", to: "p/q/b") == nil)
    try volume.unmount()
    volume = try KeptVolume(states.next(), source: source)
    _ = volume.names("")
    rename(source.full("p"), source.full("old"))
    mkdir(source.full("p"), 0o755)
    source.write("p/n", bytes("new"), mode: 0o644)
    volume.refresh()
    #expect(volume.read("old/q/b") == "what I wrote")
    #expect(volume.names("p") == ["n"])
    #expect(volume.conflicts == [:])
    try volume.unmount()
    #expect(try states.next().check().findings == [])
  }
}

/// The same, where somebody has looked, and what was seen was evicted.
@Suite struct KeptEvictedTests {
  private let source = Scratch("source")
  private let states = StateCopies()

  init() {
    for directory in ["p", "p/q", "p/q/s"] { mkdir(source.full(directory), 0o755) }
    source.write("p/q/s/f", bytes("theirs"), mode: 0o644)
  }

  /// A volume with `new` in `p/q/s`, into which nobody has looked, while `p` and `p/q` are dataless again.
  private func evicted() throws -> KeptVolume {
    var volume = try KeptVolume(states.next(), source: source)
    #expect(volume.write("mine", to: "p/q/s/new") == nil)
    try volume.unmount()
    volume = try KeptVolume(states.next(), source: source)
    #expect(volume.names("p/q") == ["s"])
    volume.evict("p/q")
    volume.evict("p")
    return volume
  }

  private func expectMine(_ volume: KeptVolume) throws {
    #expect(volume.names("p") == ["q"] && volume.names("p/q") == ["s"] && volume.names("p/q/s") == ["new"])
    #expect(volume.read("p/q/s/new") == "mine" && volume.conflicts["p/q/s"] == "gone_in_source", "\(volume.conflicts)")
    try volume.unmount()
    #expect(try states.next().check().findings == [])
    let after = try KeptVolume(states.next(), source: source)
    #expect(after.read("p/q/s/new") == "mine" && after.names("p/q/s") == ["new"])
    try after.unmount()
  }

  @Test func whatWasMadeBelowStaysWhenSourceHasItNoMore() throws {
    let volume = try evicted()
    Scratch.removeTree(source.full("p"))
    volume.refresh()
    try expectMine(volume)
  }

  @Test(arguments: [false, true]) func whatWasMadeBelowStaysWhenItIsListedAnew(isFile: Bool) throws {
    let volume = try evicted()
    Scratch.removeTree(source.full("p/q"))
    if isFile {
      source.write("p/q", bytes("file"), mode: 0o644)
    } else {
      mkdir(source.full("p/q"), 0o755)
      mkdir(source.full("p/q/t"), 0o755)
    }
    #expect(volume.names("p") == ["q"])
    if isFile { return try expectMine(volume) }
    #expect(volume.names("p/q") == ["s", "t"] && volume.read("p/q/s/new") == "mine")
    try volume.unmount()
    #expect(try states.next().check().findings == [])
    let after = try KeptVolume(states.next(), source: source)
    #expect(after.names("p/q") == ["s", "t"] && after.read("p/q/s/new") == "mine")
    try after.unmount()
  }

  /// What was kept of a directory is metadata alone: it is no reason to keep it.
  @Test func aModeThatWasSetBelowKeepsNothing() throws {
    var volume = try KeptVolume(states.next(), source: source)
    #expect(volume.change("p/q/s/f") { $0.mode = 0o600 } == nil)
    try volume.unmount()
    volume = try KeptVolume(states.next(), source: source)
    #expect(volume.names("p/q") == ["s"])
    volume.evict("p/q")
    Scratch.removeTree(source.full("p/q/s"))
    source.write("p/q/s", bytes("a file"), mode: 0o644)
    #expect(volume.names("p/q") == ["s"] && volume.read("p/q/s") == "a file" && volume.conflicts == [:])
    try volume.unmount()
  }

  /// With what was removed, or moved away, nothing is lost: a directory that SOURCE has no more goes, mounted or not.
  @Test(arguments: [false, true]) func whatWasRemovedFromItKeepsNoDirectory(isMounted: Bool) throws {
    for file in ["p/q/s/g", "p/q/s/h"] { source.write(file, bytes("theirs"), mode: 0o644) }
    var volume = try KeptVolume(states.next(), source: source)
    #expect(volume.unlink("p/q/s/f") == nil && volume.rename("p/q/s/g", to: "g") == nil && volume.read("g") == "theirs")
    if !isMounted { try volume.unmount() }
    Scratch.removeTree(source.full("p"))
    if isMounted { volume.refresh() } else { volume = try KeptVolume(states.next(), source: source) }
    #expect(volume.names("") == ["g"] && volume.read("g") == "theirs")
    #expect(volume.conflicts.filter { $0.value != "gone_in_source" || $0.key != "g" } == [:], "\(volume.conflicts)")
    try volume.unmount()
    #expect(try states.next().check().findings.filter { $0.kind != .unlinked } == [])
  }

  /// A directory that is the volume's own is made once, though SOURCE's place of what was moved into it is kept, too.
  @Test func whatIsKeptOfAPlaceTakesNoNameAway() throws {
    mkdir(source.full("r"), 0o755)
    mkdir(source.full("r/s"), 0o755)
    source.write("r/s/b", bytes("theirs"), mode: 0o644)
    var volume = try KeptVolume(states.next(), source: source)
    #expect(volume.rename("r/s/b", to: "n") == nil && volume.write("mine", to: "r/made") == nil)
    try volume.unmount()
    volume = try KeptVolume(states.next(), source: source)
    _ = volume.names("")
    Scratch.removeTree(source.full("r"))
    volume.refresh()
    #expect(volume.read("r/made") == "mine")
    try volume.unmount()
    volume = try KeptVolume(states.next(), source: source)
    #expect(volume.read("r/made") == "mine")
    try volume.unmount()
    #expect(try states.next().check().findings.filter { $0.kind != .unlinked } == [])
  }
}
