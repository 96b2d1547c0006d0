import DatalessCore
@testable import DatalessState
import Glibc
import TestSupport
import Testing

/// Mode, owner and times that were set here, beside what SOURCE makes of its own: the same after each remount.
@Suite struct KeptRightsTests {
  private let source = Scratch("source")
  private let states = StateCopies()

  private func mount() throws(FSError) -> KeptVolume { try KeptVolume(states.next(), source: source) }

  /// - Returns: The volume after a remount. What it shows is what it showed.
  private func remount(_ volume: KeptVolume, _ line: Int = #line) throws -> KeptVolume {
    let before = volume.tree()
    try volume.unmount()
    // What was unlinked the kernel may still know, and this volume has none.
    let findings = try states.next().check().findings.filter { $0.kind != .unlinked }
    #expect(findings == [], "line \(line)")
    let after = try mount()
    #expect(after.tree() == before, "line \(line)")
    return after
  }

  private func mode(_ path: String, of volume: KeptVolume) -> UInt32? {
    volume.attributes(path).map { $0.mode & 0o777 }
  }

  /// A change of its mode there does not take them back.
  @Test func theTimesOfADirectoryStayWhenSourceChangesItsMode() throws {
    mkdir(source.full("d"), 0o755)
    var volume = try mount()
    #expect(volume.change("d") { $0.modificationTime = .at(Timestamp(seconds: 5, nanoseconds: 0)) } == nil)
    chmod(source.full("d"), 0o750)
    volume.refresh()
    #expect(mode("d", of: volume) == 0o750 && volume.attributes("d")?.modificationTime.seconds == 5)
    volume = try remount(volume)
    try volume.unmount()
  }

  /// SOURCE has changed its mode and renamed it in one refresh, and its former name is another item's. It was moved
  /// here, so that it is there all the time.
  @Test func theModeOfADirectoryStaysWhenSourceGivesItsNameAway() throws {
    for directory in ["c", "c/e"] { mkdir(source.full(directory), 0o755) }
    var volume = try mount()
    #expect(volume.rename("c", to: "x") == nil)
    volume = try remount(volume)
    #expect(volume.change("x") { $0.mode = 0o711 } == nil && volume.removeDirectory("x/e") == nil)
    rename(source.full("c"), source.full("a"))
    chmod(source.full("a"), 0o700)
    symlink("x", source.full("c"))
    volume.refresh()
    #expect(mode("x", of: volume) == 0o711 && volume.attributes("x")?.linkCount == 2)
    volume = try remount(volume)
    try volume.unmount()
  }

  /// What was written follows the mode of its version alone, also over remounts.
  @Test(arguments: [false, true]) func whatWasWrittenHasTheModeOfItsVersion(isMoved: Bool) throws {
    for directory in ["d", "e"] { mkdir(source.full(directory), 0o755) }
    source.write("d/f", bytes("old"), mode: 0o644)
    var volume = try mount()
    #expect(volume.write("mine", to: "d/f") == nil)
    if isMoved { #expect(volume.rename("d/f", to: "e/f") == nil && volume.rename("e", to: "m") == nil) }
    let path = isMoved ? "m/f" : "d/f"
    chmod(source.full("d/f"), 0o600)
    volume.refresh()
    #expect(mode(path, of: volume) == 0o600)
    volume = try remount(volume)
    unlink(source.full("d/f"))
    source.write("d/f", bytes("another version"), mode: 0o640)
    chmod(source.full("d/f"), 0o640)
    volume.refresh()
    #expect(mode(path, of: volume) == 0o600 && volume.read(path) == "mine")
    volume = try remount(volume)
    volume.refresh()
    #expect(mode(path, of: volume) == 0o600 && volume.read(path) == "mine")
    volume = try remount(volume)
    try volume.unmount()
  }

  /// SOURCE renames a directory to where something was made here: it keeps its name and its mode.
  @Test func aDirectoryThatKeepsItsNameKeepsItsMode() throws {
    mkdir(source.full("d"), 0o755)
    source.write("d/f", bytes("f"), mode: 0o644)
    var volume = try mount()
    #expect(volume.unlink("d/f") == nil && volume.makeDirectory("d/mine") == nil)
    #expect(volume.change("d") { $0.mode = 0o700 } == nil)
    #expect(volume.makeDirectory("new") == nil)
    rename(source.full("d"), source.full("new"))
    volume.refresh()
    #expect(mode("d", of: volume) == 0o700 && volume.names("") == ["d", "new"])
    volume = try remount(volume)
    try volume.unmount()
  }

  /// The same where it takes the name of a directory that stays, because something was made in that.
  @Test func aDirectoryBehindOneThatStaysKeepsItsMode() throws {
    for directory in ["a", "b", "b/in"] { mkdir(source.full(directory), 0o755) }
    var volume = try mount()
    #expect(volume.makeDirectory("a/mine") == nil)
    #expect(volume.removeDirectory("b/in") == nil && volume.makeDirectory("b/mine") == nil)
    #expect(volume.change("b") { $0.mode = 0o700 } == nil)
    rmdir(source.full("a"))
    rename(source.full("b"), source.full("a"))
    volume.refresh()
    #expect(volume.names("a") == ["mine"] && mode("b", of: volume) == 0o700 && volume.names("b") == ["mine"])
    volume = try remount(volume)
    try volume.unmount()
  }

  /// A link that was made here to what was fetched is the only copy as soon as SOURCE has its directory no more.
  @Test func aLinkOutOfADirectoryThatIsGoneIsTheOnlyCopy() throws {
    mkdir(source.full("d"), 0o755)
    source.write("d/f", bytes("content"), mode: 0o644)
    var volume = try mount()
    #expect(volume.read("d/f") == "content")
    #expect(volume.link("d/f", to: "link") == nil)
    Scratch.removeTree(source.full("d"))
    volume.refresh()
    #expect(volume.names("") == ["link"] && volume.conflicts == ["link": "gone_in_source"])
    volume.evict("link")
    #expect(volume.read("link") == "content")
    volume = try remount(volume)
    #expect(volume.read("link") == "content" && volume.conflicts == ["link": "gone_in_source"])
    mkdir(source.full("d"), 0o755)
    volume.refresh()
    #expect(volume.names("d") == [])
    volume = try remount(volume)
    try volume.unmount()
  }

  /// What was moved here, and is gone in SOURCE where nobody looks any more, has no attributes but those set here.
  @Test func attributesOfWhatWasMovedNeedNoStore() throws {
    mkdir(source.full("d"), 0o755)
    mkdir(source.full("d/e"), 0o755)
    let volume = try mount()
    #expect(volume.rename("d/e", to: "e") == nil && volume.removeDirectory("d") == nil)
    Scratch.removeTree(source.full("d"))
    #expect(volume.attribute("user.x", of: "e") == "ENODATA")
    volume.setAttribute("user.x", to: "y", of: "e")
    #expect(volume.attribute("user.x", of: "e") == "y")
    try volume.unmount()
  }

  /// What was written goes with its name, and what SOURCE has under another one is read whole.
  @Test func theSizeOfWhatWasWrittenGoesWithIt() throws {
    mkdir(source.full("d"), 0o755)
    source.write("d/f", bytes("x"), mode: 0o644)
    var volume = try mount()
    #expect(volume.write("longer", to: "d/f") == nil && volume.remove("d") == nil)
    rename(source.full("d/f"), source.full("f"))
    volume.refresh()
    #expect(volume.attributes("f")?.size == 1 && volume.read("f") == "x")
    volume = try remount(volume)
    #expect(volume.attributes("f")?.size == 1 && volume.read("f") == "x")
    try volume.unmount()
  }

  /// What was removed here and has another name in SOURCE has a link.
  @Test func whatSourceRenamesAfterARemovalHasALink() throws {
    mkdir(source.full("d"), 0o755)
    source.write("d/f", bytes("x"), mode: 0o644)
    var volume = try mount()
    #expect(volume.unlink("d/f") == nil && volume.remove("d") == nil)
    rename(source.full("d/f"), source.full("f"))
    chmod(source.full("f"), 0o600)
    volume.refresh()
    volume = try remount(volume)
    if let found = volume.attributes("f") { #expect(found.linkCount == 1) }
    try volume.unmount()
  }

  /// A directory has had another name, made here, where it is again: it stays, once, before what SOURCE has there now.
  @Test func aDirectoryThatWasMovedAwayAndBackHasItsNameAlone() throws {
    mkdir(source.full("d"), 0o755)
    var volume = try mount()
    #expect(volume.write("mine", to: "d/f") == nil && volume.makeLink("l", to: "t") == nil)
    for _ in 0..<2 { #expect(volume.rename("d", to: "l", .exchange) == nil) }
    Scratch.removeTree(source.full("d"))
    source.write("d", bytes("theirs"), mode: 0o644)
    volume.refresh()
    #expect(volume.names("") == ["d", "l"] && volume.read("d/f") == "mine")
    volume = try remount(volume)
    #expect(volume.names("") == ["d", "l"] && volume.read("d/f") == "mine")
    try volume.unmount()
  }

  /// chown(2) with nothing to be changed comes from the kernel as what it says before a write.
  @Test(arguments: [0o4755, 0o2755, 0o755] as [UInt32]) func strangersTakeNoSetIDBitsAway(mode: UInt32) throws {
    source.write("f", bytes("theirs"), mode: 0o644)
    chmod(source.full("f"), mode)
    let volume = try mount()
    let owner = volume.attributes("f")?.uid
    // Whoever runs the tests: a caller of another number.
    let isOwner = owner == KeptVolume.caller.uid
    let isRefused = !isOwner && mode != 0o755
    #expect(volume.change("f") { $0.clearsSetID = true } == (isRefused ? "EPERM" : nil))
    #expect(volume.attributes("f").map { $0.mode & 0o7777 } == (isOwner ? 0o755 : mode))
    #expect(volume.write("MINE", to: "f", closes: false) == nil)
    #expect(volume.change("f") { $0.clearsSetID = true } == nil)
    #expect(volume.attributes("f").map { $0.mode & 0o7777 } == 0o755)
  }
}
