import DatalessCore
@testable import DatalessState
import Glibc
import Testing

/// Conflicts that stay until somebody decides, and what is there when somebody has.
@Suite struct KeptDecisionTests {
  private let source = Scratch("source")
  private let states = StateCopies()

  init() {
    mkdir(source.full("d"), 0o755)
    source.write("d/a", bytes("theirs"), mode: 0o644)
    source.write("x", bytes("theirs"), mode: 0o644)
  }

  private func meet(
    isRemounted: Bool, here: (KeptVolume) -> Void, there: () -> Void
  ) throws -> KeptVolume {
    let volume = try KeptVolume(states.next(), source: source)
    _ = volume.tree()
    here(volume)
    return try (isRemounted ? SourceMoment.mounts : .refresh).pass(volume, states, source: source, there)
  }

  private func remount(_ volume: KeptVolume) throws -> KeptVolume {
    try volume.unmount()
    let report = try states.next().check()
    #expect(report.damages == 0, "\(report.findings)")
    return try KeptVolume(states.next(), source: source)
  }

  /// SOURCE has a file where it had a directory in which something was written.
  @Test(arguments: [false, true], [ConflictChoice.keepMine, .takeTheirs, .keepBoth])
  func aFileInThePlaceOfADirectory(isRemounted: Bool, choice: ConflictChoice) throws {
    var volume = try meet(isRemounted: isRemounted) { volume in
      #expect(volume.write("mine", to: "d/a") == nil)
    } there: {
      unlink(source.full("d/a"))
      rmdir(source.full("d"))
      source.write("d", bytes("a file"))
    }
    _ = volume.tree()
    let found = volume.engine.conflicts(at: [[]]).first { $0.path == bytes("d") }
    #expect(found?.theirs?.kind == .file)
    let answer = volume.resolve("d", choice)
    #expect(answer.failures == [])
    for round in 0..<2 {
      switch choice {
      case .keepMine: #expect(volume.read("d/a") == "miners", "round \(round)")
      case .takeTheirs: #expect(volume.read("d") == "a file", "round \(round)")
      case .keepBoth:
        let copy = try #require(answer.copy)
        #expect(volume.read("d") == "a file" && volume.read(copy + "/a") == "miners", "round \(round)")
      }
      if choice == .takeTheirs { #expect(volume.conflicts.isEmpty) }
      volume = try remount(volume)
    }
    try volume.unmount()
  }

  /// SOURCE has another version of it by now.
  @Test(arguments: [false, true]) func rightsInConflictStayInConflict(isMoved: Bool) throws {
    let name = isMoved ? "y" : "x"
    var volume = try meet(isRemounted: false) { volume in
      #expect(volume.change("x") { $0.mode = 0o100600 } == nil)
      if isMoved { #expect(volume.rename("x", to: "y") == nil) }
    } there: {
      chmod(source.full("x"), 0o640)
    }
    #expect(volume.conflicts == [name: "metadata"])
    for round in 0..<4 {
      if round < 2 { source.write("x", bytes("theirs \(round)"), mode: 0o640) }
      volume.refresh()
      _ = volume.tree()
      #expect(volume.conflicts == [name: "metadata"], "round \(round)")
      #expect(volume.attributes(name)?.mode == 0o100600, "round \(round)")
      if round % 2 == 1 { volume = try remount(volume) }
    }
    _ = volume.tree()
    #expect(volume.resolve(name, .takeTheirs).failures == [])
    #expect(volume.attributes(name)?.mode == 0o100640 && volume.conflicts.isEmpty)
    source.write("x", bytes("theirs, at last"), mode: 0o640)
    volume.refresh()
    #expect(volume.conflicts.isEmpty)
    try volume.unmount()
  }

  /// SOURCE has the same by now.
  @Test func rightsThatAgreeAreInConflictNoMore() throws {
    var volume = try meet(isRemounted: false) { volume in
      #expect(volume.change("x") { $0.mode = 0o100600 } == nil)
    } there: {
      chmod(source.full("x"), 0o640)
    }
    #expect(volume.conflicts == ["x": "metadata"])
    source.write("x", bytes("newer"), mode: 0o640)
    chmod(source.full("x"), 0o600)
    volume.refresh()
    #expect(volume.conflicts.isEmpty)
    volume = try remount(volume)
    _ = volume.tree()
    #expect(volume.conflicts.isEmpty && volume.attributes("x")?.mode == 0o100600)
    try volume.unmount()
  }

  /// What a program has replaced is not shown again beside what it put there; and what is shown again has a link.
  @Test(arguments: [ConflictChoice.takeTheirs, .keepBoth]) func whatWasReplacedHere(choice: ConflictChoice) throws {
    source.write("y", bytes("replaced"), mode: 0o644)
    let volume = try meet(isRemounted: false) { volume in
      #expect(volume.write("mine", to: "x") == nil && volume.rename("x", to: "y") == nil)
    } there: {
      unlink(source.full("x"))
    }
    #expect(volume.conflicts == ["y": "gone_in_source"])
    #expect(volume.resolve("y", choice).failures == [])
    #expect(volume.read("y") == (choice == .keepBoth ? "miners" : "replaced"))
    #expect(volume.attributes("y")?.linkCount == 1 && volume.names("").count == 2)
    try volume.unmount()
  }
}
