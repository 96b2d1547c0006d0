@testable import DatalessCore
@testable import DatalessState
import Glibc
import Synchronization
import Testing

/// Removing a tree says how much is lost with it, also of what this run has not looked into.
@Suite struct KeptRemovalTests {
  private let source = Scratch("source")
  private let fixture = StateFixture()
  private let copy = StateFixture()

  init() {
    for directory in ["d", "d/sub", "e"] { mkdir(source.full(directory), 0o755) }
    for file in ["d/f", "d/g", "d/sub/deep", "e/h"] { source.write(file, bytes("source \(file)")) }
  }

  private func removed(_ path: String, from volume: KeptVolume) -> RemovedItems? {
    let found = Mutex<RemovedItems?>(nil)
    var caller = KeptVolume.caller
    caller.uid = 0
    while true {
      let directory = Mutex<NodeID?>(nil)
      volume.engine.remove([bytes(path)], by: Remover(caller)) { answer in
        switch answer {
        case .removed(let items): found.withLock { $0 = items }
        case .needsListing(let node): directory.withLock { $0 = node }
        case .refused: break
        }
      }
      volume.run()
      guard let node = directory.withLock({ $0 }), volume.bring(node) == nil else { return found.withLock { $0 } }
    }
  }

  private func remounted(_ body: (KeptVolume) -> Void) throws -> KeptVolume {
    let before = try KeptVolume(fixture, source: source)
    body(before)
    try before.unmount()
    fixture.scratch.copy(to: copy.scratch)
    return try KeptVolume(copy, source: source)
  }

  @Test func filesThatAnEarlierRunHasWrittenAreCounted() throws {
    let volume = try remounted { volume in
      #expect(volume.write("WRITTEN", to: "d/f") == nil)
      #expect(volume.makeDirectory("d/sub/made") == nil)
      #expect(volume.write("new", to: "d/sub/made/file") == nil)
      // None of these is lost.
      #expect(volume.read("d/g") == "source d/g")
      #expect(volume.write("moved", to: "d/sub/deep") == nil)
      #expect(volume.rename("d/sub/deep", to: "e/deep") == nil)
      #expect(volume.write("linked", to: "d/linked") == nil)
      #expect(volume.link("d/linked", to: "e/linked") == nil)
    }
    let found = removed("d", from: volume)
    #expect(found?.dirtyItems == 2)
    #expect(found?.dirtyBytes == 13)
    #expect(found?.dirtyPaths.first == bytes("d/f"))
    #expect(volume.fetched.directories == 1, "SOURCE is not asked for it")
    #expect(volume.names("e") == ["deep", "h", "linked"])
    #expect(volume.read("e/deep") == "movede d/sub/deep")
    #expect(volume.read("e/linked") == "linked")
    try volume.unmount()
  }

  @Test func aDirectoryThatWasMadeIsCountedToo() throws {
    let volume = try remounted { volume in
      #expect(volume.makeDirectory("made") == nil)
      #expect(volume.makeDirectory("made/below") == nil)
      #expect(volume.write("new", to: "made/below/file") == nil)
    }
    let found = removed("made", from: volume)
    #expect(found?.dirtyItems == 1 && found?.dirtyBytes == 3)
    #expect(found?.dirtyPaths == [bytes("made/below/file")])
    try volume.unmount()
  }

  @Test func whatNobodyHasWrittenToIsNotCounted() throws {
    let volume = try remounted { volume in
      #expect(volume.read("d/f") == "source d/f")
      #expect(volume.unlink("d/g") == nil)
    }
    let found = removed("d", from: volume)
    #expect(found?.dirtyItems == 0 && found?.dirtyPaths == [])
    try volume.unmount()
  }

  /// A crash, or the end of the volume, comes while what was in a removed tree goes: some of its directories have lost
  /// their names by then, and are not emptied. The next run goes on with them.
  @Test(arguments: [1, 2, 4], [false, true]) func theNextRunGoesOnWithATree(steps: Int, isChecked: Bool) throws {
    let states = StateCopies()
    var volume = try KeptVolume(states.next(), source: source)
    #expect(volume.makeDirectory("d/made") == nil && volume.makeDirectory("d/made/deep") == nil)
    for number in 0..<300 {
      let directory = number < 150 ? "d/made/\(number)" : "d/made/deep/\(number)"
      #expect(volume.makeDirectory(directory) == nil && volume.write("secret", to: "\(directory)/f") == nil)
    }
    #expect(volume.rename("d/sub", to: "d/made/sub") == nil && volume.write("MINE", to: "d/made/sub/deep") == nil)
    volume.passSecond()
    #expect(volume.remove("d", empties: false) == nil)
    for _ in 0..<steps { _ = volume.engine.state.withLock { $0.emptySome(volume.engine.timer.now) } }
    try volume.state.journal.commit()
    let left = volume.contents
    let next = states.next()
    if isChecked {
      let report = try next.check()
      #expect(report.damages == 0, "\(report.findings)")
    }
    volume = try KeptVolume(next, source: source)
    #expect(volume.names("") == ["e"])
    volume.run()
    try volume.state.journal.commit()
    volume.run()
    // Whose rows went before the crash.
    try volume.state.reconcile()
    #expect(volume.contents == 0, "of \(left)")
    try volume.unmount()
    let findings = try states.next().check().findings
    #expect(findings == [], "\(findings)")
  }
}
