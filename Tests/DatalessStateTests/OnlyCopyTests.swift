import DatalessCore
@testable import DatalessState
import DatalessStores
import Glibc
import Testing

/// What SOURCE has no more, and a name here still leads to, is the only copy: no loss of power takes it, and it is
/// exported.
@Suite struct OnlyCopyTests {
  private let source = Scratch("source")

  init() { mkdir(source.full("e"), 0o755) }

  /// As power that is lost now leaves it: nothing has been flushed but what a commit did.
  private static func losePower(_ fixture: StateFixture) throws -> StateFixture {
    let copy = StateFixture()
    fixture.scratch.copy(to: copy.scratch)
    try StateCheckTests.edit(copy, "UPDATE epoch SET boot = x'00' WHERE sealed = 0")
    return copy
  }

  /// Small content lies beside others in a slab, large content in a file of its own.
  @Test(arguments: [10, 600_000]) func itOutlivesALossOfPower(size: Int) throws {
    let moved = String(repeating: "a", count: size)
    let linked = String(repeating: "b", count: size)
    source.write("a", bytes(moved))
    source.write("b", bytes(linked))
    let fixture = StateFixture()
    let volume = try KeptVolume(fixture, source: source)
    #expect(volume.read("a") == moved && volume.read("b") == linked)
    #expect(volume.rename("a", to: "e/moved") == nil)
    #expect(volume.link("b", to: "e/linked") == nil)
    try volume.state.journal.commit()
    unlink(source.full("a"))
    source.write("b", bytes("another version"))
    volume.refresh()
    #expect(volume.conflicts == ["e/moved": "gone_in_source"])
    #expect(volume.read("e/linked") == linked && volume.read("b") == "another version")
    for path in ["e/moved", "e/linked"] {
      volume.evict(path)
      #expect(volume.engine.describe(volume.node(path))?.state == "resident", "\(path) is evicted")
    }
    try volume.state.journal.commit()

    let lost = try Self.losePower(fixture)
    let after = try KeptVolume(lost, source: source)
    // What was dropped just before, and copied out of a slab.
    _ = try after.state.reconcile()
    #expect(after.names("") == ["b", "e"])
    #expect(after.names("e") == ["linked", "moved"])
    #expect(after.read("e/moved") == moved && after.read("e/linked") == linked && after.read("b") == "another version")
    #expect(after.conflicts == ["e/moved": "gone_in_source"])
    try after.unmount()

    let (closed, target) = (StateFixture(), Scratch("export"))
    lost.scratch.copy(to: closed.scratch)
    let findings = try closed.check().findings
    #expect(findings.isEmpty, "\(findings)")
    let descriptor = target.openDirectory()
    defer { close(descriptor) }
    let report = try StateExport.run(try closed.directory(.look), to: descriptor, .init(), scratch: Scratch.base)
    #expect(report.files == 2 && report.skipped == [])
    #expect(target.read("e/moved") == bytes(moved) && target.read("e/linked") == bytes(linked))
  }

  /// What was written to and moved, and SOURCE has deleted since, has one name after the next mount, whatever SOURCE
  /// has under its old name and its old inode number then.
  @Test(arguments: [false, true]) func whatWasChangedAndMovedKeepsOneName(isReplaced: Bool) throws {
    source.write("a", bytes("old"))
    let fixture = StateFixture()
    let volume = try KeptVolume(fixture, source: source)
    #expect(volume.rename("a", to: "e/moved") == nil)
    #expect(volume.write("mine", to: "e/moved") == nil)
    unlink(source.full("a"))
    volume.refresh()
    #expect(volume.names("") == ["e"] && volume.read("e/moved") == "mine")
    #expect(volume.conflicts == ["e/moved": "gone_in_source"])
    try volume.unmount()
    let unmounted = StateFixture()
    fixture.scratch.copy(to: unmounted.scratch)
    // The file system under SOURCE may give the number of the deleted file to this one.
    if isReplaced { source.write("a", bytes("theirs")) }

    let after = try KeptVolume(unmounted, source: source)
    #expect(after.names("") == (isReplaced ? ["a", "e"] : ["e"]))
    #expect(after.names("e") == ["moved"] && after.read("e/moved") == "mine")
    if isReplaced { #expect(after.read("a") == "theirs") }
    #expect(after.node("a") != after.node("e/moved"))
    try after.unmount()
    let closed = StateFixture()
    unmounted.scratch.copy(to: closed.scratch)
    let findings = try closed.check().findings
    #expect(findings.isEmpty, "\(findings)")
  }

  /// The same of a directory in which something was made.
  @Test(arguments: [false, true]) func aDirectoryThatWasChangedAndMovedKeepsOneName(isReplaced: Bool) throws {
    mkdir(source.full("d"), 0o755)
    source.write("d/read", bytes("old"))
    let fixture = StateFixture()
    let volume = try KeptVolume(fixture, source: source)
    #expect(volume.read("d/read") == "old")
    #expect(volume.rename("d", to: "e/moved") == nil)
    #expect(volume.write("mine", to: "e/moved/made") == nil)
    unlink(source.full("d/read"))
    rmdir(source.full("d"))
    volume.refresh()
    #expect(volume.names("") == ["e"] && volume.read("e/moved/made") == "mine")
    try volume.unmount()
    let unmounted = StateFixture()
    fixture.scratch.copy(to: unmounted.scratch)
    if isReplaced {
      mkdir(source.full("d"), 0o755)
      source.write("d/theirs", bytes("theirs"))
    }

    let after = try KeptVolume(unmounted, source: source)
    #expect(after.names("") == (isReplaced ? ["d", "e"] : ["e"]))
    #expect(after.names("e") == ["moved"])
    #expect(after.read("e/moved/made") == "mine" && !after.names("e/moved").contains("theirs"))
    if isReplaced { #expect(after.names("d") == ["theirs"]) }
    try after.unmount()
  }

  /// A directory that was changed stays when SOURCE has it no more, whether it was moved or not, and of what is in it
  /// what was changed: at once what the next mount finds.
  @Test(arguments: [false, true]) func onlyWhatWasChangedStaysOfADirectoryThatIsGone(isMoved: Bool) throws {
    for directory in ["d", "d/plain", "d/changed"] { mkdir(source.full(directory), 0o755) }
    let files = ["read", "dataless", "written", "out", "plain/read", "changed/read", "changed/written"]
    for file in files { source.write("d/" + file, bytes("old")) }
    let fixture = StateFixture()
    let volume = try KeptVolume(fixture, source: source)
    for file in ["read", "plain/read", "changed/read"] { #expect(volume.read("d/" + file) == "old") }
    for file in ["written", "changed/written"] { #expect(volume.write("mine", to: "d/" + file) == nil) }
    // Moved out of it, and never read.
    #expect(volume.rename("d/out", to: "e/out") == nil)
    let top = isMoved ? "e/moved" : "d"
    if isMoved { #expect(volume.rename("d", to: top) == nil) }
    Scratch.removeTree(source.full("d"))
    volume.refresh()

    func check(_ volume: KeptVolume) {
      #expect(volume.names(top) == ["changed", "written"])
      #expect(volume.names(top + "/changed") == ["written"])
      #expect(volume.read(top + "/written") == "mine" && volume.read(top + "/changed/written") == "mine")
      #expect(volume.names("e") == (isMoved ? ["moved"] : []))
      let kept = [top, top + "/changed", top + "/changed/written", top + "/written"]
      #expect(volume.conflicts == Dictionary(uniqueKeysWithValues: kept.map { ($0, "gone_in_source") }))
    }
    check(volume)
    volume.refresh()
    check(volume)
    // What is the volume's own now can be moved as everything else.
    #expect(volume.rename(top + "/changed", to: top + "/renamed") == nil)
    #expect(volume.rename(top + "/renamed", to: top + "/changed") == nil)
    try volume.unmount()
    let unmounted = StateFixture()
    fixture.scratch.copy(to: unmounted.scratch)
    let after = try KeptVolume(unmounted, source: source)
    _ = after.tree()
    check(after)
    #expect(after.contents == 2)
    #expect(after.rename(top, to: "last") == nil && after.names("last/changed") == ["written"])
    try after.unmount()
    let closed = StateFixture()
    unmounted.scratch.copy(to: closed.scratch)
    let findings = try closed.check().findings
    #expect(findings.isEmpty, "\(findings)")
  }

  /// What was moved out of a directory is the only copy when SOURCE has lost that between two mounts, whichever of the
  /// two directories is looked into first.
  @Test(arguments: [["", "e"], ["e", ""]], [false, true])
  func whatWasMovedOutOfWhatIsGoneBetweenMounts(looked: [String], isReplaced: Bool) throws {
    mkdir(source.full("d"), 0o755)
    source.write("d/f", bytes("content"))
    let fixture = StateFixture()
    let volume = try KeptVolume(fixture, source: source)
    #expect(volume.read("d/f") == "content" && volume.rename("d/f", to: "e/moved") == nil)
    try volume.unmount()
    Scratch.removeTree(source.full("d"))
    if isReplaced { source.write("d", bytes("a file")) }
    let unmounted = StateFixture()
    fixture.scratch.copy(to: unmounted.scratch)
    let after = try KeptVolume(unmounted, source: source)
    for directory in looked { _ = after.names(directory) }
    #expect(after.conflicts == ["e/moved": "gone_in_source"])
    after.evict("e/moved")
    #expect(after.read("e/moved") == "content" && after.attribute("user.x", of: "e/moved") == "ENODATA")
    try after.unmount()
    let closed = StateFixture()
    unmounted.scratch.copy(to: closed.scratch)
    let findings = try closed.check().findings
    #expect(findings.isEmpty, "\(findings)")
  }
}
