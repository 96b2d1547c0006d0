@testable import DatalessCore
@testable import DatalessState
import DatalessStores
import Glibc
import Synchronization
import TestSupport
import Testing

/// Trees that were removed whole: after a remount or a crash they are removed, and what they held goes.
@Suite struct StateTrashTests {
  private let source = Scratch("source")
  private let states = StateCopies()

  init() {
    for directory in ["d", "d/sub", "d/sub/more", "e"] { mkdir(source.full(directory), 0o755) }
    for file in ["a", "d/f", "d/g", "d/sub/deep", "d/sub/more/x", "e/h"] {
      source.write(file, bytes("source \(file)"))
    }
  }

  private static let all = ["a", "d/f", "d/g", "d/sub/deep", "d/sub/more/x", "e/h"]

  private func mount() throws -> KeptVolume { try KeptVolume(states.next(), source: source) }

  /// Mounts, goes through what was removed, and compares what is left.
  private func mounted(_ names: [String], contents: Int, _ what: String) throws -> KeptVolume {
    let volume = try mount()
    _ = try volume.state.reconcile()
    volume.state.emptyTrash()
    volume.run()
    #expect(volume.names("") == names, "\(what)")
    #expect(volume.contents == contents, "\(what)")
    #expect(volume.state.trashCount == 0, "\(what)")
    return volume
  }

  private func check(_ what: String) throws {
    let report = try states.next().check()
    #expect(report.findings.isEmpty, "\(what): \(report.findings)")
  }

  /// Everything local, something written and made in the tree, something moved out of it.
  private func fill(_ volume: KeptVolume) {
    for path in Self.all { #expect(volume.read(path).hasPrefix("source")) }
    #expect(volume.write("WRITTEN", to: "d/f") == nil)
    #expect(volume.makeDirectory("d/made") == nil)
    #expect(volume.makeDirectory("d/made/below") == nil)
    #expect(volume.write("new", to: "d/made/below/file", syncs: true) == nil)
    #expect(volume.rename("d/sub/more", to: "e/more") == nil)
    #expect(volume.link("d/g", to: "e/g2") == nil)
    volume.setAttribute("user.x", to: "set", of: "d/sub")
  }

  @Test func afterARemount() throws {
    let before = try mount()
    fill(before)
    #expect(before.remove("d", empties: false) == nil)
    try before.unmount()
    let after = try mounted(["a", "e"], contents: 4, "not emptied before the end")
    #expect(after.names("e") == ["g2", "h", "more"])
    #expect(after.read("e/more/x") == "source d/sub/more/x")
    #expect(after.read("e/g2") == "source d/g")
    #expect(after.fetched.files == 0)
    try after.unmount()
    try check("after it")
    try mounted(["a", "e"], contents: 4, "once more").unmount()
  }

  @Test func whatIsFoundIsCountedUntilSomebodyHasIt() throws {
    let before = try mount()
    fill(before)
    #expect(before.remove("d", empties: false) == nil)
    try before.state.journal.commit()
    let after = try mount()
    _ = try after.state.reconcile()
    let counts = Mutex<[Int]>([])
    let state = after.state
    state.removeLeftovers { contents in
      counts.withLock { $0.append(state.trashCount) }
      for id in contents { state.content.remove(id) }
    }
    state.emptyTrash()
    after.run()
    #expect(counts.withLock { !$0.isEmpty && $0.allSatisfy { $0 > 0 } }, "\(counts.withLock(\.self))")
    #expect(state.trashCount == 0 && after.contents == 4)
  }

  @Test(arguments: [false, true]) func afterACrash(empties: Bool) throws {
    let before = try mount()
    fill(before)
    #expect(before.remove("d", empties: empties) == nil)
    // As fsync would.
    try before.state.journal.commit()
    let after = try mounted(["a", "e"], contents: 4, "emptied \(empties)")
    #expect(after.read("e/more/x") == "source d/sub/more/x")
    try after.unmount()
    try check("emptied \(empties)")
  }

  @Test func aCrashBeforeItIsDurableLeavesAllOfIt() throws {
    let before = try mount()
    fill(before)
    try before.state.journal.commit()
    #expect(before.remove("d") == nil)
    let after = try mounted(["a", "d", "e"], contents: 7, "nothing was removed")
    #expect(after.read("d/f") == "WRITTENd/f")
    #expect(after.read("d/made/below/file") == "new")
    try after.unmount()
  }

  @Test func whatThisRunHasNotLookedInto() throws {
    let first = try mount()
    fill(first)
    try first.unmount()
    let second = try mount()
    #expect(second.remove("d") == nil)
    second.passSecond()
    #expect(second.contents == 4, "content goes while it is mounted")
    #expect(second.read("e/more/x") == "source d/sub/more/x")
    try second.unmount()
    try mounted(["a", "e"], contents: 4, "again").unmount()
    try check("after it")
  }

  @Test func whatThisRunHasLookedIntoInPart() throws {
    let first = try mount()
    fill(first)
    try first.unmount()
    let second = try mount()
    #expect(second.names("d/made") == ["below"])
    #expect(second.remove("d/made", "d/sub") == nil)
    second.passSecond()
    #expect(second.names("d") == ["f", "g"])
    #expect(second.contents == 5)
    #expect(second.remove("d") == nil)
    second.passSecond()
    #expect(second.contents == 3, "what is clean, and has another name, can be fetched by that")
    try second.unmount()
    let third = try mounted(["a", "e"], contents: 3, "again")
    #expect(third.read("e/g2") == "source d/g" && third.read("e/more/x") == "source d/sub/more/x")
    #expect(third.fetched.files == 1)
    try third.unmount()
    try check("after it")
  }

  /// Of what was moved out by an earlier run this one has met the old place alone.
  @Test func whatAnEarlierRunHasMovedOutStays() throws {
    let first = try mount()
    #expect(first.rename("d/f", to: "e/f") == nil)
    #expect(first.rename("d/sub", to: "e/sub") == nil)
    #expect(first.write("x", to: "d/new") == nil)
    #expect(first.link("d/new", to: "e/linked") == nil)
    try first.unmount()
    let second = try mount()
    #expect(second.names("d") == ["g", "new"])
    #expect(second.remove("d") == nil)
    second.passSecond()
    #expect(second.names("e") == ["f", "h", "linked", "sub"])
    #expect(second.read("e/f") == "source d/f" && second.read("e/linked") == "x")
    #expect(second.read("e/sub/deep") == "source d/sub/deep")
    try second.unmount()
    let third = try mounted(["a", "e"], contents: 3, "again")
    #expect(third.read("e/f") == "source d/f" && third.read("e/linked") == "x")
    try third.unmount()
    try check("after it")
  }

  @Test func anotherOneInItsPlaceIsLeftAlone() throws {
    let before = try mount()
    fill(before)
    #expect(before.remove("d", empties: false) == nil)
    try before.state.journal.commit()
    // SOURCE has another directory there by now.
    let elsewhere = Scratch("elsewhere")
    #expect(rename(source.full("d"), elsewhere.full("d")) == 0)
    defer { withExtendedLifetime(elsewhere) {} }
    mkdir(source.full("d"), 0o755)
    source.write("d/other", bytes("other"))
    let after = try mount()
    #expect(after.read("d/other") == "other")
    #expect(after.write("kept", to: "d/mine") == nil)
    after.state.emptyTrash()
    after.run()
    #expect(after.names("d") == ["mine", "other"])
    try after.unmount()
    let again = try mount()
    again.state.emptyTrash()
    again.run()
    #expect(again.names("d") == ["mine", "other"])
    #expect(again.read("d/mine") == "kept")
    try again.unmount()
  }

  @Test(arguments: [2, 3, 7, 20]) func itGoesOnWhereverItWasCut(limit: Int) throws {
    let before = try mount()
    fill(before)
    #expect(before.remove("d", empties: false) == nil)
    try before.state.journal.commit()
    var steps = 0
    var left = 1
    // Each run comes one step further, and begins with the top again.
    while left > 0, steps < 60 {
      steps += 1
      let volume = try mount()
      for _ in 0..<steps {
        let contents = try volume.state.journal.write("empty") { writer, connection in
          try writer.emptyTrash(connection, limit: limit)
        }
        for id in contents { volume.state.content.remove(id) }
      }
      left = volume.state.journal.trashCount
    }
    #expect(left == 0)
    let after = try mounted(["a", "e"], contents: 4, "limit \(limit)")
    #expect(after.read("e/more/x") == "source d/sub/more/x")
    try after.unmount()
    try check("limit \(limit)")
  }

  @Test func theCheckEmptiesIt() throws {
    let before = try mount()
    fill(before)
    #expect(before.remove("d", empties: false) == nil)
    try before.state.journal.commit()
    let report = try states.next().check()
    #expect(report.damages == 0)
    #expect(report.findings.contains { $0.kind == .unlinked })
    let after = try mounted(["a", "e"], contents: 4, "checked")
    #expect(after.read("e/more/x") == "source d/sub/more/x")
    try after.unmount()
  }

  @Test func aTableThatSomebodyHasChangedRemovesNothingThatIsSeen() throws {
    let before = try mount()
    fill(before)
    try before.state.journal.commit()
    try before.state.journal.write("damage") { _, connection in
      try connection.run("INSERT INTO orphan(item) SELECT id FROM item")
    }
    let after = try mounted(["a", "d", "e"], contents: 7, "all is there")
    #expect(after.read("d/made/below/file") == "new")
    try after.unmount()
  }

  /// Nothing but its content was told before a crash: whether the store has it under other names is not known.
  @Test func aDirtyFileOfWhichLittleIsKnownKeepsItsContent() throws {
    let fixture = StateFixture()
    let top = stored("t", node: 2, inode: 100, kind: .directory)
    try fixture.run { volume in
      let (file, single) = (stored("t/f", node: 3, inode: 101), stored("t/g", node: 4, inode: 102))
      let content = try volume.content.make("mine")
      try fixture.keep(
        .dirty(of: file, content), .dirty(of: single, try volume.content.make("gone")),
        .attributes(of: single, attributes(inode: 102, size: 4), listed: attributes(inode: 102, size: 4)),
        .together([.hidden(top, name: bytes("t"), in: root), .trashed(top, isKnown: false)]), in: volume)
    }
    try fixture.run { volume in
      volume.emptyTrash()
      fixture.lane.runAll()
      #expect(volume.trashCount == 0)
      // By another of its names.
      let other = stored("elsewhere", node: 5, inode: 101)
      let found = try volume.savedItem(other)
      #expect(found?.isDirty == true && found?.content != nil)
      var count = 0
      volume.content.forEachContent { _, _ in count += 1 }
      #expect(count == 1, "of a file with one name nothing stays")
    }
  }

  /// One of its names was removed by itself, which made its link count smaller.
  @Test func aDirtyFileKeepsItsContentForTheNamesThatAreLeft() throws {
    #expect(link(source.full("d/f"), source.full("e/f2")) == 0)
    let first = try mount()
    #expect(first.write("WRITTEN", to: "d/f") == nil)
    #expect(first.unlink("d/f") == nil)
    try first.unmount()
    let second = try mount()
    #expect(second.remove("d") == nil)
    second.passSecond()
    #expect(second.read("e/f2") == "WRITTENd/f")
    try second.unmount()
  }

  /// A directory has the name of one that goes, and nothing is told of it but what was made below it, before or after.
  @Test(arguments: [false, true]) func whatIsInAnotherOneOfItsNameStays(isToldFirst: Bool) throws {
    let fixture = StateFixture()
    let former = stored("t", node: 2, inode: 100, kind: .directory)
    let newer = StoreVersion(attributes(inode: 102, kind: .directory))
    var below = stored("t/s", node: 4, inode: 103, kind: .directory)
    below.directories = [ChangedItem.Directory(node: NodeID(rawValue: 3), version: newer)]
    let file = own(node: 5, 1)
    let made = StateChange.together([
      .made(file, attributes(inode: file.inode), target: []), .named(file, name: bytes("f"), in: below),
    ])
    try fixture.run { volume in
      try fixture.keep(
        .attributes(of: former, attributes(inode: 100, kind: .directory)),
        isToldFirst ? made : .vanished(former), isToldFirst ? .vanished(former) : made, in: volume)
      volume.emptyTrash()
      fixture.lane.runAll()
    }
    #expect(try fixture.check().findings == [])
    try fixture.run { volume in
      let saved = try volume.saved(of: below)
      #expect(saved.made.map(\.name) == [bytes("f")])
    }
  }

  @Test func manyItemsGoSomeAtATime() throws {
    let fixture = StateFixture()
    let top = stored("t", node: 2, inode: 100, kind: .directory)
    try fixture.run { volume in
      var changes: [StateChange] = []
      for number in 0..<(10_000 as UInt64) {
        let directory = "t/d\(number % 100)"
        changes.append(
          .attributes(
            of: stored("\(directory)/f\(number)", node: 1000 + number, inode: 1000 + number),
            attributes(inode: 1000 + number, size: 4)))
      }
      for (index, change) in changes.enumerated() {
        volume.journal.append(change, ChangeNumber(rawValue: UInt64(index + 1)))
      }
      volume.journal.append(
        .together([.hidden(top, name: bytes("t"), in: root), .trashed(top, isKnown: true)]),
        ChangeNumber(rawValue: 10_001))
      try volume.journal.commit()
    }
    let again = fixture.copy()
    let volume = try again.open()
    #expect(volume.trashCount > 0)
    volume.emptyTrash()
    again.lane.runAll()
    #expect(volume.trashCount == 0)
    let left = try volume.catalog.read("count") { connection in
      try connection.first("SELECT count(*) FROM item") { row throws in try row.integer(0) } ?? 0
    }
    #expect(left == 2, "the root, and what the hidden name is of")
    try volume.close()
  }
}
