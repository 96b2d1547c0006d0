import DatalessCore
@testable import DatalessState
import Glibc
import TestSupport
import Testing

/// A volume that is mounted again, over the same SOURCE and the same state directory, is what it was.
@Suite struct KeptVolumeTests {
  private let source = Scratch("source")
  private let states = StateCopies()

  init() {
    for directory in ["d", "d/sub", "e"] { mkdir(source.full(directory), 0o755) }
    for file in ["a", "b", "c", "d/f", "d/g", "d/sub/deep", "e/h"] { source.write(file, bytes("source \(file)")) }
    symlink("a", source.full("l"))
  }

  private func mount() throws -> KeptVolume { try KeptVolume(states.next(), source: source) }

  /// Does something, and compares what is seen then with what the next run sees.
  private func remounted(_ body: (KeptVolume) -> Void) throws -> KeptVolume {
    let before = try mount()
    body(before)
    let tree = before.tree()
    let root = before.attributes("")
    try before.unmount()
    let after = try mount()
    #expect(after.tree() == tree)
    #expect(after.attributes("")?.modificationTime == root?.modificationTime)
    return after
  }

  @Test func nothingIsChangedByNothing() throws { try remounted { _ in }.unmount() }

  @Test func aBitThatAWriteHasTakenAwayDoesNotComeBackAfterACrash() throws {
    let before = try mount()
    #expect(before.change("a") { $0.mode = 0o106755 } == nil)
    #expect(before.write("x", to: "a", closes: false, clearsSetID: true) == nil)
    #expect(before.attributes("a")?.mode == 0o100755)
    // As the next change of anything would.
    try before.state.journal.commit()
    let after = try mount()
    #expect(after.attributes("a")?.mode == 0o100755)
    #expect(after.read("a") == "xource a")
    try after.unmount()
  }

  @Test func residentFilesNeedNoFetch() throws {
    let before = try mount()
    #expect(before.read("a") == "source a")
    #expect(before.read("d/sub/deep") == "source d/sub/deep")
    try before.unmount()
    let after = try mount()
    #expect(after.read("a") == "source a")
    #expect(after.read("d/sub/deep") == "source d/sub/deep")
    #expect(after.fetched.files == 0)
    #expect(after.read("b") == "source b")
    #expect(after.fetched.files == 1)
  }

  @Test func namesMadeRemovedAndMovedAreKept() throws {
    let after = try remounted { volume in
      volume.write("mine", to: "new")
      volume.makeDirectory("made")
      volume.makeDirectory("made/below")
      volume.write("deep", to: "made/below/file")
      volume.makeLink("made/link", to: "../a")
      volume.unlink("b")
      #expect(volume.rename("c", to: "made/moved") == nil)
      #expect(volume.rename("d/sub", to: "e/sub") == nil)
      #expect(volume.rename("d", to: "renamed") == nil)
    }
    #expect(after.names("") == ["a", "e", "l", "made", "new", "renamed"])
    #expect(after.read("made/moved") == "source c")
    #expect(after.read("e/sub/deep") == "source d/sub/deep")
    #expect(after.read("renamed/f") == "source d/f")
    try after.unmount()
  }

  @Test func metadataIsKept() throws {
    let after = try remounted { volume in
      volume.change("a") { $0.mode = 0o100600 }
      volume.change("d") { $0.uid = 7 }
      volume.change("d/f") { $0.modificationTime = .at(Timestamp(seconds: 5, nanoseconds: 6)) }
      volume.setAttribute("user.x", to: "set", of: "e/h")
      volume.setAttribute("user.x", to: "dir", of: "d/sub")
      volume.makeDirectory("d/more")
      volume.change("") { $0.mode = 0o040700 }
    }
    #expect(after.attributes("a")?.mode == 0o100600)
    #expect(after.attributes("")?.mode == 0o040700)
    #expect(after.attributes("d")?.linkCount == 4)
    // What SOURCE changes of it is seen all the same.
    try after.unmount()
    chown(source.full("a"), 55, 66)
    let again = try mount()
    #expect(again.attributes("a")?.mode == 0o100600)
    #expect(again.attributes("a")?.uid == (isRoot ? 55 : again.attributes("a")?.uid))
  }

  @Test func writtenContentIsKept() throws {
    let after = try remounted { volume in
      volume.write("WRITTEN", to: "a")
      volume.write("end", to: "d/f", at: 20)
      volume.change("b") { $0.size = 0 }
      volume.write("big", to: "e/h", at: 200_000)
    }
    #expect(after.read("a") == "WRITTENa")
    #expect(after.fetched.files == 0)
    try after.unmount()
  }

  @Test func hardLinksAreKept() throws {
    let after = try remounted { volume in
      volume.write("one", to: "x")
      #expect(volume.link("x", to: "e/y") == nil)
      #expect(volume.link("a", to: "d/a2") == nil)
    }
    #expect(after.attributes("x")?.inode == after.attributes("e/y")?.inode)
    #expect(after.node("x") == after.node("e/y"))
    #expect(after.node("a") == after.node("d/a2"))
    try after.unmount()
    // Whichever name is met first; and one of them can go.
    let again = try mount()
    #expect(again.read("e/y") == "one")
    #expect(again.read("d/a2") == "source a")
    #expect(again.unlink("e/y") == nil)
    #expect(again.read("x") == "one")
    try again.unmount()
    #expect(try mount().read("x") == "one")
  }

  @Test func whatWasMovedIsFoundByEitherSide() throws {
    let before = try mount()
    #expect(before.rename("d/f", to: "e/f") == nil)
    #expect(before.rename("e/h", to: "d/h") == nil)
    before.write("DIRTY", to: "e/f")
    try before.unmount()
    for order in [["d", "e"], ["e", "d"]] {
      let volume = try mount()
      for path in order { _ = volume.names(path) }
      #expect(volume.names("d") == ["g", "h", "sub"])
      #expect(volume.names("e") == ["f"])
      #expect(volume.read("e/f") == "DIRTYe d/f")
      #expect(volume.read("d/h") == "source e/h")
      try volume.unmount()
    }
  }

  @Test func whatSOURCEHasChangedMeanwhile() throws {
    let before = try mount()
    _ = before.read("a")
    before.write("DIRTY", to: "b")
    before.unlink("c")
    before.write("DIRTY", to: "d/f")
    _ = before.read("e/h")
    before.change("d/g") { $0.mode = 0o100600 }
    try before.unmount()
    for file in ["a", "b", "c"] { source.write(file, bytes("another \(file)")) }
    Scratch.removeTree(source.full("d"))
    Scratch.removeTree(source.full("e"))
    source.write("more", bytes("more"))
    let after = try mount()
    // Clean content goes, written content stays, and so does what was removed.
    #expect(after.names("") == ["a", "b", "d", "l", "more"])
    #expect(after.read("a") == "another a")
    #expect(after.read("b") == "DIRTYe b")
    #expect(after.names("d") == ["f"])
    #expect(after.read("d/f") == "DIRTYe d/f")
    let tree = after.tree()
    try after.unmount()
    let again = try mount()
    #expect(again.tree() == tree)
    try again.unmount()
    #expect(try states.next().check().findings.isEmpty)
  }

  @Test func numbersAreNeverGivenTwice() throws {
    let before = try mount()
    before.write("1", to: "one")
    before.write("2", to: "two")
    let last = before.attributes("two")?.inode ?? 0
    before.unlink("two")
    try before.unmount()
    let after = try mount()
    after.write("3", to: "three")
    #expect((after.attributes("three")?.inode ?? 0) > last)
  }

  @Test func whatWasFlushedSurvivesADaemonThatIsKilled() throws {
    do {
      let before = try mount()
      before.makeDirectory("made")
      before.write("flushed", to: "made/file", syncs: true)
      before.write("NEW", to: "a", syncs: true)
    }
    let after = try mount()
    #expect(after.state.wasClean == false)
    #expect(after.read("made/file") == "flushed")
    #expect(after.read("a") == "NEWrce a")
    try after.unmount()
    #expect(try states.next().check().findings.isEmpty)
  }

  /// Whatever is done, and in whichever order it is looked at afterwards, the next run sees what this one saw.
  @Test(arguments: TestSeed.seeds) func whateverIsDoneIsKept(seed: UInt64) throws {
    var random = TestRandom(seed: seed)
    var volume = try mount()
    for _ in 0..<8 {
      for _ in 0..<12 { change(volume, &random) }
      let tree = volume.tree()
      try volume.unmount()
      volume = try mount()
      // Some of it is looked at before the rest.
      for _ in 0..<3 { _ = volume.find(path(&random)) }
      #expect(volume.tree() == tree, "DATALESS_TEST_SEED=\(seed)")
    }
    try volume.unmount()
    // A directory that was removed last is gone through by the next run.
    let found = try states.next().check().findings.filter { $0.kind != .unlinked }
    #expect(found.isEmpty, "DATALESS_TEST_SEED=\(seed): \(found)")
  }

  private func path(_ random: inout TestRandom) -> String {
    let names = ["a", "b", "c", "d", "e", "f", "sub", "x", "y"]
    return (0...random.below(3)).map { _ in random.element(of: names) }.joined(separator: "/")
  }

  private func change(_ volume: KeptVolume, _ random: inout TestRandom) {
    let (one, other) = (path(&random), path(&random))
    switch random.below(12) {
    case 0, 1:
      guard volume.find(one).node != nil || volume.attributes(parent(of: one))?.kind == .directory,
        volume.attributes(one)?.kind ?? .file == .file
      else { return }
      volume.write("seed \(random.below(1000))", to: one, at: Int64(random.below(30)), syncs: random.oneIn(2))
    case 2: volume.makeDirectory(one)
    case 3: volume.makeLink(one, to: other)
    case 4: if volume.attributes(one)?.kind == .file { volume.link(one, to: other) }
    case 5: volume.unlink(one)
    case 6: volume.removeDirectory(one)
    case 7, 8: volume.rename(one, to: other)
    case 9: volume.rename(one, to: other, .exchange)
    case 10: if volume.find(one).node != nil { volume.change(one) { $0.mode = 0o600 } }
    default:
      guard volume.attributes(one).map({ $0.kind != .symlink }) == true else { return }
      volume.setAttribute("user.x", to: random.oneIn(3) ? nil : "value", of: one)
    }
  }

  private func parent(of path: String) -> String { path.split(separator: "/").dropLast().joined(separator: "/") }
}
