import DatalessCore
@testable import DatalessState
import Glibc
import TestSupport
import Testing

/// What was changed on a volume and in SOURCE, too, while it was mounted or while it was not: the same conflicts are
/// found, and resolving them leaves what was asked for.
@Suite struct KeptConflictTests {
  private let source = Scratch("source")
  private let states = StateCopies()

  init() {
    for directory in ["d", "e"] { mkdir(source.full(directory), 0o755) }
    for file in ["a", "b", "c.txt", "d/f", "d/g"] { source.write(file, bytes("source \(file)")) }
  }

  private func mount() throws -> KeptVolume { try KeptVolume(states.next(), source: source) }

  /// Changes here and in SOURCE; seen by a refresh, or by the next mount.
  private func meet(
    remounted: Bool, here: (KeptVolume) -> Void, there: (Scratch) -> Void
  ) throws -> KeptVolume {
    var volume = try mount()
    _ = volume.tree()
    here(volume)
    if remounted {
      try volume.unmount()
      there(source)
      volume = try mount()
      _ = volume.tree()
    } else {
      there(source)
      volume.refresh()
    }
    return volume
  }

  /// What is seen, and what is in conflict, is the same after another mount.
  private func remount(_ volume: KeptVolume) throws -> KeptVolume {
    let (names, conflicts) = (volume.names(""), volume.conflicts)
    try volume.unmount()
    let next = try mount()
    _ = next.tree()
    #expect(next.names("") == names)
    #expect(next.conflicts == conflicts)
    return next
  }

  /// Ends it: nothing is left that `check` would find.
  private func end(_ volume: KeptVolume) throws {
    try volume.unmount()
    let report = try states.next().check()
    // What was unlinked is known to the kernel still.
    #expect(report.damages == 0, "\(report.findings)")
  }

  /// As an editor saves.
  private static func replace(_ volume: KeptVolume, _ path: String, _ text: String) {
    volume.write(text, to: path + ".tmp")
    #expect(volume.rename(path + ".tmp", to: path) == nil)
  }

  @Test(arguments: [false, true]) func whatWasWrittenOnBothSidesIsAConflict(remounted: Bool) throws {
    var volume = try meet(remounted: remounted) { volume in
      volume.write("mine", to: "a", at: 0)
      Self.replace(volume, "b", "mine for b")
    } there: { source in
      source.write("a", bytes("theirs for a"))
      source.write("b", bytes("theirs for b!"))
    }
    #expect(volume.conflicts == ["a": "changed", "b": "changed"])
    #expect(volume.read("a") == "minece a" && volume.read("b") == "mine for b")
    volume = try remount(volume)
    #expect(volume.read("a") == "minece a" && volume.read("b") == "mine for b")
    for path in ["a", "b"] { #expect(volume.resolve(path, .takeTheirs).failures == []) }
    #expect(volume.conflicts.isEmpty)
    #expect(volume.read("a") == "theirs for a" && volume.read("b") == "theirs for b!")
    volume = try remount(volume)
    #expect(volume.read("a") == "theirs for a" && volume.read("b") == "theirs for b!")
    try end(volume)
  }

  @Test(arguments: [false, true]) func mineStaysUntilTheSourceChangesAgain(remounted: Bool) throws {
    var volume = try meet(remounted: remounted) { volume in
      volume.write("mine", to: "a")
      Self.replace(volume, "b", "mine for b")
      volume.write("mine for new", to: "new")
      volume.unlink("c.txt")
      volume.write("mine for f", to: "d/f")
    } there: { source in
      for path in ["a", "b", "new", "c.txt"] { source.write(path, bytes("theirs for \(path)")) }
      unlink(source.full("d/f"))
    }
    let found = ["a": "changed", "b": "changed", "new": "made", "c.txt": "removed_here", "d/f": "gone_in_source"]
    #expect(volume.conflicts == found)
    for path in found.keys { #expect(volume.resolve(path, .keepMine).failures == [], "\(path)") }
    func check(_ volume: KeptVolume) {
      #expect(volume.conflicts.isEmpty)
      #expect(volume.read("a") == "minece a" && volume.read("b") == "mine for b")
      #expect(volume.read("new") == "mine for new" && volume.read("d/f") == "mine for f")
      #expect(volume.find("c.txt").node == nil)
    }
    check(volume)
    volume.refresh()
    check(volume)
    volume = try remount(volume)
    check(volume)
    for path in ["a", "b", "new", "c.txt"] { source.write(path, bytes("theirs, once more, for \(path)")) }
    volume.refresh()
    #expect(volume.conflicts == ["a": "changed", "b": "changed", "new": "changed", "c.txt": "removed_here"])
    #expect(volume.read("a") == "minece a" && volume.read("new") == "mine for new")
    try end(volume)
  }

  @Test(arguments: [false, true]) func bothAreKeptBesideEachOther(remounted: Bool) throws {
    var volume = try meet(remounted: remounted) { volume in
      volume.write("mine", to: "a")
      Self.replace(volume, "c.txt", "mine for c")
      volume.write("mine for new", to: "new")
      volume.makeDirectory("made")
      volume.write("in mine", to: "made/x")
      volume.unlink("b")
    } there: { source in
      for path in ["a", "b", "c.txt", "new"] { source.write(path, bytes("theirs for \(path)")) }
      mkdir(source.full("made"), 0o755)
      source.write("made/y", bytes("in theirs"))
    }
    var copies: [String: String] = [:]
    for path in volume.conflicts.keys {
      let (copy, failures, _) = volume.resolve(path, .keepBoth)
      #expect(failures == [], "\(path)")
      if let copy { copies[path] = copy }
    }
    #expect(copies.keys.sorted() == ["a", "c.txt", "made", "new"])
    #expect(copies["c.txt"]?.hasPrefix("c (local 2") == true && copies["c.txt"]?.hasSuffix(").txt") == true)
    func check(_ volume: KeptVolume) {
      #expect(volume.conflicts.isEmpty)
      for path in ["a", "b", "c.txt", "new"] { #expect(volume.read(path) == "theirs for \(path)") }
      #expect(volume.read(copies["a"] ?? "") == "minece a")
      #expect(volume.read(copies["c.txt"] ?? "") == "mine for c")
      #expect(volume.read(copies["new"] ?? "") == "mine for new")
      #expect(volume.names("made") == ["y"] && volume.names(copies["made"] ?? "") == ["x"])
    }
    check(volume)
    volume = try remount(volume)
    check(volume)
    volume.refresh()
    check(volume)
    try end(volume)
  }

  @Test func whatIsGoneInTheSourceGoesHereOnlyIfAskedFor() throws {
    var volume = try meet(remounted: false) { volume in
      volume.write("mine", to: "a")
      volume.write("mine", to: "b")
      volume.makeDirectory("d/made")
      volume.write("deep", to: "d/made/x")
    } there: { source in
      for path in ["a", "b"] { unlink(source.full(path)) }
      Scratch.removeTree(source.full("d"))
    }
    let found = ["a": "gone_in_source", "b": "gone_in_source", "d": "gone_in_source"]
    #expect(volume.conflicts == found)
    volume = try remount(volume)
    #expect(volume.conflicts == found)
    #expect(volume.resolve("a", .takeTheirs).failures == [])
    #expect(volume.resolve("b", .keepBoth).failures == [])
    #expect(volume.conflicts == ["d": "gone_in_source"])
    #expect(volume.resolve("d", .keepMine).failures == [])
    volume = try remount(volume)
    #expect(volume.conflicts.isEmpty)
    #expect(volume.find("a").node == nil && volume.read("b") == "minece b" && volume.read("d/made/x") == "deep")
    try end(volume)
  }

  /// A directory goes with all that was changed in it, as one change.
  @Test(arguments: [false, true]) func theirsTakesThePlaceOfADirectory(remounted: Bool) throws {
    var volume = try meet(remounted: remounted) { volume in
      volume.makeDirectory("d/made")
      for path in ["d/made/x", "d/f"] { volume.write("mine", to: path) }
      volume.makeDirectory("new")
      volume.write("mine", to: "new/mine")
    } there: { source in
      Scratch.removeTree(source.full("d"))
      mkdir(source.full("new"), 0o755)
      source.write("new/theirs", bytes("theirs"))
    }
    #expect(volume.conflicts == ["d": "gone_in_source", "d/f": "gone_in_source", "new": "made"])
    // Somebody writes to something in it.
    let node = volume.node("d/made/x")
    guard
      case .opened(let handle, _) = volume.engine.openForWriting(
        node, openFlags: O_RDWR, io: .direct, clearsSetID: false, by: KeptVolume.caller)
    else {
      Issue.record("it cannot be opened")
      return
    }
    #expect(volume.resolve("d", .takeTheirs).failures.first == "EBUSY")
    #expect(volume.read("d/made/x") == "mine")
    volume.engine.release(node, handle: handle)
    volume.run()
    let written = ["d/made/x", "new/mine"].map { volume.node($0) }
    for (path, resolved) in [("d", ["d", "d/f"]), ("new", ["new"])] {
      let answer = volume.resolve(path, .takeTheirs)
      #expect(answer.failures == [] && answer.resolved == resolved)
    }
    for node in written { volume.forget(node) }
    volume.passSecond()
    func check(_ volume: KeptVolume) {
      #expect(volume.conflicts.isEmpty)
      #expect(volume.find("d").node == nil)
      #expect(volume.names("new") == ["theirs"] && volume.read("new/theirs") == "theirs")
    }
    check(volume)
    // What was written is given back; what is left was fetched.
    #expect(volume.contents == ["a", "b", "c.txt", "new/theirs"].count)
    volume = try remount(volume)
    check(volume)
    try end(volume)
  }

  @Test func whatIsOpenForWritingIsNotTakenAway() throws {
    let volume = try meet(remounted: false) { volume in
      volume.write("mine", to: "a")
      volume.write("mine", to: "new")
    } there: { source in
      for path in ["a", "new"] { source.write(path, bytes("theirs for \(path)")) }
    }
    for path in ["a", "new"] {
      let node = volume.node(path)
      guard
        case .opened(let handle, _) = volume.engine.openForWriting(
          node, openFlags: O_RDWR, io: .direct, clearsSetID: false, by: KeptVolume.caller)
      else {
        Issue.record("\(path) cannot be opened")
        continue
      }
      #expect(volume.resolve(path, .takeTheirs).failures == ["EBUSY"])
      #expect(volume.conflicts[path] != nil)
      volume.engine.release(node, handle: handle)
      volume.run()
      #expect(volume.resolve(path, .takeTheirs).failures == [])
      #expect(volume.read(path) == "theirs for \(path)")
    }
    #expect(volume.resolve("a", .keepMine).failures == ["ENOENT"])
    try end(volume)
  }

  @Test(arguments: [false, true]) func aFileThatWasMovedIsInConflictWhereItIs(remounted: Bool) throws {
    var volume = try meet(remounted: remounted) { volume in
      volume.write("mine", to: "a")
      #expect(volume.rename("a", to: "e/moved") == nil)
    } there: { source in
      source.write("a", bytes("theirs for a"))
    }
    #expect(volume.conflicts == ["e/moved": "changed"])
    #expect(volume.read("e/moved") == "minece a" && volume.find("a").node == nil)
    let copy = volume.resolve("e/moved", .keepBoth).copy ?? ""
    #expect(volume.read("e/moved") == "theirs for a" && volume.read(copy) == "minece a")
    volume = try remount(volume)
    #expect(volume.read("e/moved") == "theirs for a" && volume.read(copy) == "minece a")
    #expect(volume.find("a").node == nil)
    try end(volume)
  }

  /// Nothing is left of what was written, in the catalog neither.
  @Test(arguments: [false, true], ["moved", "e/moved"])
  func theirsTakesTheNameThatAFileWasGivenHere(remounted: Bool, name: String) throws {
    var volume = try meet(remounted: remounted) { volume in
      volume.write("mine", to: "a")
      #expect(volume.rename("a", to: name) == nil)
    } there: { source in
      source.write("a", bytes("theirs for a"))
    }
    #expect(volume.conflicts == [name: "changed"])
    #expect(volume.resolve(name, .takeTheirs).failures == [])
    for isAgain in [false, true] {
      if isAgain { volume = try mount() }
      #expect(volume.read(name) == "theirs for a" && volume.find("a").node == nil && volume.conflicts == [:])
      try volume.unmount()
      #expect(try states.next().check().findings == [])
    }
  }

  @Test(arguments: [false, true]) func metadataGoesAlongWithAnotherVersion(remounted: Bool) throws {
    var volume = try meet(remounted: remounted) { volume in
      volume.change("a") { $0.mode = 0o100640 }
      volume.change("b") { $0.mode = 0o100640 }
      volume.setAttribute("user.x", to: "here", of: "a")
    } there: { source in
      source.write("a", bytes("theirs for a"))
      source.write("b", bytes("theirs for b"))
      chmod(source.full("b"), 0o604)
    }
    func check(_ volume: KeptVolume, _ conflicts: [String: String], mode: UInt32) {
      #expect(volume.conflicts == conflicts)
      #expect(volume.read("a") == "theirs for a" && volume.read("b") == "theirs for b")
      #expect(volume.attributes("a")?.mode == 0o100640)
      #expect(volume.attribute("user.x", of: "a") == "here")
      #expect(volume.attributes("b")?.mode == mode)
    }
    check(volume, ["b": "metadata"], mode: 0o100640)
    volume = try remount(volume)
    check(volume, ["b": "metadata"], mode: 0o100640)
    #expect(volume.resolve("b", .keepBoth).failures == ["EINVAL"])
    #expect(volume.resolve("b", .takeTheirs).failures == [])
    check(volume, [:], mode: 0o100604)
    volume = try remount(volume)
    check(volume, [:], mode: 0o100604)
    try end(volume)
  }

  @Test func conflictsAreFoundAfterAMountWithoutAnybodyLooking() throws {
    let before = try meet(remounted: false) { volume in
      volume.write("mine", to: "d/f")
      volume.unlink("d/g")
      volume.write("mine", to: "e/new")
    } there: { source in
      for path in ["d/f", "d/g", "e/new"] { source.write(path, bytes("theirs for \(path)")) }
    }
    let found = ["d/f": "changed", "d/g": "removed_here", "e/new": "made"]
    #expect(before.conflicts == found)
    try before.unmount()
    let after = try mount()
    #expect(after.conflicts.isEmpty)
    after.visitSaved()
    #expect(after.conflicts == found)
    #expect(after.fetched.files == 0)
    try end(after)
  }

  @Test func whatTheSourceTakesBackIsNoConflict() throws {
    let volume = try meet(remounted: false) { volume in
      volume.write("mine", to: "new")
      volume.unlink("b")
    } there: { source in
      source.write("new", bytes("theirs"))
      source.write("b", bytes("theirs for b"))
    }
    #expect(volume.conflicts == ["new": "made", "b": "removed_here"])
    for path in ["new", "b"] { unlink(source.full(path)) }
    volume.refresh()
    #expect(volume.conflicts.isEmpty)
    #expect(volume.read("new") == "mine" && volume.find("b").node == nil)
    try end(volume)
  }

  @Test func pinnedItemsAreFetchedAfterAMount() throws {
    let before = try mount()
    #expect(before.engine.setPolicy(.eager, of: before.node("d")) == nil)
    before.run()
    try before.unmount()
    source.write("d/f", bytes("another version"))
    source.write("d/h", bytes("new"))
    let after = try mount()
    after.visitSaved()
    #expect(after.fetched.files == 2)
    for path in ["d/f", "d/g", "d/h"] { #expect(after.engine.describe(after.node(path))?.state == "resident") }
    try end(after)
  }
}
