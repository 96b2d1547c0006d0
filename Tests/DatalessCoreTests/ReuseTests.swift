@testable import DatalessCore
import Synchronization
import SystemPackage
import Testing

/// SOURCE gives the inode number of a removed file to the next one, whose size and mtime may be the same: what tells
/// the two apart, and what happens where nothing does.
@Suite struct EngineReuseTests {
  /// What the store can tell of an item beside its inode number.
  struct Marks: Sendable, CustomTestStringConvertible {
    var name: String
    var oldBirth: UInt64 = 0
    var newBirth: UInt64 = 0
    var oldGeneration: UInt32 = 0
    var newGeneration: UInt32 = 0
    var testDescription: String { name }
  }

  static let different = [
    Marks(name: "another birth", oldBirth: 5, newBirth: 6),
    Marks(name: "another birth, no generation any more", oldBirth: 5, newBirth: 6, oldGeneration: 1),
    Marks(name: "another generation", oldGeneration: 1, newGeneration: 2),
    Marks(
      name: "another generation, born in the same tick", oldBirth: 5, newBirth: 5, oldGeneration: 1, newGeneration: 2),
    Marks(name: "a birth now and none before", newBirth: 6),
    Marks(name: "nothing"),
  ]
  static let same = [
    Marks(name: "birth", oldBirth: 5, newBirth: 5),
    Marks(name: "generation", oldGeneration: 3, newGeneration: 3),
    Marks(name: "both", oldBirth: 5, newBirth: 5, oldGeneration: 3, newGeneration: 3),
  ]

  /// A volume with a resident file `a` of 10 bytes, beside a dataless `b` in another directory.
  private func make(_ marks: Marks) -> EngineFixture {
    let fixture = EngineFixture(ScriptedStore(["d/a": 10, "e/b": 10]))
    for path in ["d/a", "e/b"] {
      fixture.store.edit(path) {
        $0.attributes.birth = marks.oldBirth
        $0.generation = marks.oldGeneration
      }
      _ = fixture.node(path)
    }
    #expect(fixture.content("d/a") != nil)
    return fixture
  }

  /// Removes a file and makes another one with its inode number, size and mtime.
  private func reuse(_ path: String, as target: String, _ marks: Marks, _ fixture: EngineFixture) {
    let old = fixture.store.item(path).attributes
    fixture.store.remove(path)
    fixture.store.write(target, size: 10)
    fixture.store.edit(target) {
      $0.attributes = old
      $0.attributes.changeTime.seconds += 1
      $0.attributes.birth = marks.newBirth
      $0.generation = marks.newGeneration
      $0.content = [UInt8](repeating: 0x77, count: 10)
    }
  }

  @Test(arguments: different, ["d/new", "e/new"]) func aReusedInodeNumberIsANewDatalessFile(
    marks: Marks, target: String
  ) {
    let fixture = make(marks)
    let old = fixture.node("d/a")
    reuse("d/a", as: target, marks, fixture)
    #expect(fixture.refresh("").text?.contains("1 added, 1 gone") == true)
    #expect(fixture.node(target) != old)
    #expect(fixture.engine.isDataless(fixture.node(target)))
    #expect(fixture.content(target) == fixture.store.bytes(target))
  }

  @Test(arguments: same) func aRenamedFileIsTheSameIfThatIsCertain(marks: Marks) {
    let fixture = make(marks)
    let old = fixture.node("d/a")
    fixture.store.move("d/a", to: "e/new")
    #expect(fixture.refresh("").text?.contains("1 renamed") == true)
    #expect(fixture.node("e/new") == old)
    #expect(fixture.engine.describe(old)?.state == "resident")
  }

  @Test func withoutAMarkARenamedFileIsTheSameOnlyIfItsChangeTimeHasNotMoved() {
    for moves in [false, true] {
      let fixture = make(Marks(name: "nothing"))
      let old = fixture.node("d/a")
      let times = fixture.store.item("d/a").attributes
      fixture.store.move("d/a", to: "e/new")
      if !moves { fixture.store.edit("e/new") { $0.attributes = times } }
      #expect(fixture.refresh("").text?.contains("1 renamed") == !moves)
      #expect((fixture.node("e/new") == old) == !moves)
      #expect(fixture.content("e/new") == fixture.store.bytes("e/new"))
    }
  }

  @Test(arguments: different) func anotherFileUnderTheSameNameWithAnotherModeIsAnother(marks: Marks) {
    // Born in one tick: what a listing sees of both is the same. The fetch would have to be asked.
    guard marks.oldBirth == 0 || marks.oldBirth != marks.newBirth else { return }
    let fixture = make(marks)
    reuse("d/a", as: "d/a", marks, fixture)
    fixture.store.edit("d/a") { $0.attributes.mode = 0o100600 }
    #expect(fixture.refresh("").text?.contains("1 changed") == true)
    #expect(fixture.engine.isDataless(fixture.node("d/a")))
    #expect(fixture.content("d/a") == fixture.store.bytes("d/a"))
  }

  @Test func aNameThatIsBackIsTheFileThatItWasOnlyIfThatIsCertain() {
    for generation in [UInt32(1), 2] {
      let fixture = make(Marks(name: "generation", oldGeneration: 1))
      let old = fixture.node("d/a")
      guard case .resident = fixture.engine.open(old, process: .unknown, openFlags: 0) else { return }
      let item = fixture.store.item("d/a")
      fixture.store.remove("d/a")
      _ = fixture.refresh("")
      fixture.store.write("d/a", size: 10)
      fixture.store.edit("d/a") {
        $0 = item
        $0.generation = generation
        $0.attributes.changeTime.seconds += 1
      }
      #expect(fixture.refresh("").text?.contains("1 added") == true)
      #expect((fixture.node("d/a") == old) == (generation == 1))
    }
  }

  /// Without a birth time a directory is told by its generation, which is taken when it is listed.
  @Test func aReusedDirectoryIsListedAnewAndARenamedOneKeepsWhatIsInIt() {
    for isRenamed in [false, true] {
      let fixture = EngineFixture(ScriptedStore(["d/a": 10]))
      for path in ["d", "d/a"] {
        fixture.store.edit(path) {
          $0.attributes.birth = 0
          $0.generation = 1
        }
      }
      _ = fixture.content("d/a")
      let (directory, file) = (fixture.node("d"), fixture.node("d/a"))
      fixture.store.move("d", to: "g")
      if !isRenamed { fixture.store.edit("g") { $0.generation = 2 } }
      _ = fixture.refresh("")
      #expect((fixture.node("g") == directory) == isRenamed)
      #expect((fixture.node("g/a") == file) == isRenamed)
      #expect(fixture.content("g/a") == fixture.store.bytes("g/a"))
    }
  }

  @Test func whatDiffersInItsBirthAloneIsAnotherVersion() {
    let old = ItemAttributes.file(inode: 7, size: 10)
    var new = old
    #expect(old.isSameVersion(as: new) && old.relation(to: new) == .same)
    new.birth += 1
    #expect(!old.isSameVersion(as: new) && old.relation(to: new) == .other)
  }

  /// A store may say anything of its names; what a node is counted as goes by its kind.
  @Test func aFileAndALinkWithOneInodeNumberAreTwo() {
    let fixture = EngineFixture(ScriptedStore(["d/a": 10], links: [("d/b", to: "d/a")]))
    fixture.store.edit("d/b") { $0.attributes.mode = 0o120777 }
    let (file, link) = (fixture.node("d/a"), fixture.node("d/b"))
    #expect(file != link)
    #expect(fixture.engine.attributes(of: file)?.attributes.kind == .file)
    #expect(fixture.engine.attributes(of: link)?.attributes.kind == .symlink)
    #expect(fixture.content("d/a") == fixture.store.bytes("d/a"))
  }

  @Test func aVersionThatARelistingBringsIsAnotherNodeWhileTheKernelMayStillHaveTheOldPages() {
    let fixture = EngineFixture(ScriptedStore(["d/a": 10]))
    fixture.kernel.isHeld.store(true, ordering: .relaxed)
    let old = fixture.node("d/a")
    #expect(fixture.content("d/a") != nil)
    fixture.engine.evict(old, by: "command") { _ in }
    fixture.engine.evict(fixture.node("d"), by: "command") { _ in }
    fixture.store.write("d/a", size: 10)
    // The notifier has done nothing yet, and the kernel looks up another name.
    fixture.list("d")
    let new = fixture.node("d/a")
    #expect(new != old)
    #expect(fixture.content("d/a") == fixture.store.bytes("d/a"))
    guard case .failed(.staleNFSFileHandle) = fixture.engine.open(old, process: .unknown, openFlags: 0) else {
      Issue.record("the node with the old pages is opened")
      return
    }
  }

  @Test func namesThatWentWhileTheNotifierWasBusyAreTakenFromTheKernelToo() {
    let fixture = EngineFixture(ScriptedStore(["d/a": 10, "d/b": 10, "d/c": 10]))
    fixture.list("d")
    fixture.kernel.isHeld.store(true, ordering: .relaxed)
    fixture.engine.evict(fixture.node("d"), by: "command") { _ in }
    fixture.store.remove("d/b")
    fixture.list("d")
    fixture.kernel.calls.withLock { $0 = [] }
    fixture.kernel.release()
    #expect(fixture.kernel.calls.withLock { $0 } == ["directory \(fixture.node("d").rawValue) 3"])
  }
}
