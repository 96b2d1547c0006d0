import DatalessCore
@testable import DatalessState
import Glibc
import TestSupport
import Testing

/// A file of SOURCE with several names is one file on the volume, by whichever name it was met first.
@Suite struct KeptOneFileTests {
  private let source = Scratch("source")
  private let states = StateCopies()

  init() {
    for directory in ["d", "e", "e/f"] { mkdir(source.full(directory), 0o755) }
    source.write("e/a", bytes("theirs"), mode: 0o644)
    source.write("e/f/other", bytes("other"), mode: 0o644)
  }

  private func end(_ volume: KeptVolume) throws {
    try volume.unmount()
    let report = try states.next().check()
    #expect(report.findings.isEmpty, "\(report.findings)")
  }

  /// Its directory is renamed when it gets the other name, which is met before the directory is listed again.
  @Test(arguments: SourceMoment.allCases) func aNameThatCameFirst(moment: SourceMoment) throws {
    var volume = try KeptVolume(states.next(), source: source)
    _ = volume.tree()
    #expect(volume.read("e/a") == "theirs")
    volume = try moment.pass(
      volume, states, source: source,
      looks: { volume, isAll in
        _ = volume.names("d")
        if isAll { _ = volume.names("e") }
      }
    ) {
      link(source.full("e/a"), source.full("d/b"))
      rename(source.full("e"), source.full("s"))
    }
    _ = volume.names("d")
    _ = volume.names("s")
    for (round, text) in ["written 1", "written 2"].enumerated() {
      #expect(volume.write(text, to: ["s/a", "d/b"][round]) == nil)
      #expect(volume.read("s/a") == text && volume.read("d/b") == text, "round \(round)")
      #expect(volume.attributes("s/a")?.inode == volume.attributes("d/b")?.inode)
    }
    for round in 0..<2 {
      try end(volume)
      volume = try KeptVolume(states.next(), source: source)
      _ = volume.tree()
      #expect(volume.read("s/a") == "written 2" && volume.read("d/b") == "written 2", "round \(round)")
      #expect(volume.conflicts == [:])
    }
  }

  /// SOURCE has written to what was written to here, and has it by a name alone that is met before the others.
  @Test func inConflictByANameThatCameFirst() throws {
    source.write("d/kept", bytes("theirs"), mode: 0o644)
    link(source.full("e/a"), source.full("d/b"))
    var volume = try KeptVolume(states.next(), source: source)
    _ = volume.tree()
    #expect(volume.write("WRITTEN", to: "d/b") == nil && volume.write("mine", to: "d/kept") == nil)
    #expect(volume.remove("e") == nil)
    try end(volume)
    source.write("e/a", bytes("theirs 2"), mode: 0o644)
    link(source.full("e/a"), source.full("s36"))
    for path in ["d/b", "d/kept", "d"] { remove(source.full(path)) }
    source.write("d", bytes("a file"), mode: 0o644)
    for round in 0..<3 {
      volume = try KeptVolume(states.next(), source: source)
      _ = volume.tree()
      volume.refresh()
      #expect(volume.read("s36") == "WRITTEN", "round \(round)")
      try volume.unmount()
      #expect(try states.next().check().damages == 0)
      if round == 0 { for path in ["e/f/other", "e/f", "e/a", "e"] { remove(source.full(path)) } }
    }
  }

  /// It is met beside a name of it that was removed here, and SOURCE has written to it.
  @Test func besideANameThatWasRemoved() throws {
    link(source.full("e/a"), source.full("d/b"))
    var volume = try KeptVolume(states.next(), source: source)
    _ = volume.tree()
    #expect(volume.write("WRITTEN, and longer", to: "d/b") == nil)
    #expect(volume.rename("e/a", to: "e/f/moved") == nil && volume.unlink("d/b") == nil)
    try end(volume)
    source.write("e/a", bytes("theirs 2"), mode: 0o644)
    link(source.full("e/a"), source.full("d/s41"))
    for round in 0..<3 {
      volume = try KeptVolume(states.next(), source: source)
      for directory in ["d", "e", "e/f"] {
        _ = volume.names(directory)
        #expect(volume.read("d/s41") == "WRITTEN, and longer", "round \(round), \(directory)")
      }
      #expect(volume.read("e/f/moved") == "WRITTEN, and longer" && !volume.conflicts.isEmpty, "round \(round)")
      try end(volume)
    }
  }

  /// It is in conflict, and SOURCE has lost a name of it that was removed here, before the other one is met.
  @Test(arguments: [("d/b", "e/a"), ("e/a", "d/b")]) func withoutANameThatWasRemoved(removed: String, left: String)
    throws
  {
    link(source.full("e/a"), source.full("d/b"))
    var volume = try KeptVolume(states.next(), source: source)
    _ = volume.tree()
    #expect(volume.write("WRITTEN", to: left) == nil)
    source.write("e/a", bytes("theirs 2"), mode: 0o644)
    volume.refresh()
    #expect(volume.unlink(removed) == nil && volume.conflicts[left] == "changed")
    try end(volume)
    unlink(source.full(removed))
    for round in 0..<3 {
      volume = try KeptVolume(states.next(), source: source)
      for path in [removed, left] { _ = volume.names(String(path.prefix(1))) }
      #expect(volume.read(left) == "WRITTEN" && volume.conflicts[left] == "changed", "round \(round)")
      try end(volume)
    }
  }

  /// SOURCE loses the directory of its other name: the one that was removed here does not come back.
  @Test(arguments: [false, true], SourceMoment.allCases)
  func aNameThatWasRemovedStaysSo(isWritten: Bool, moment: SourceMoment) throws {
    link(source.full("e/a"), source.full("d/b"))
    var volume = try KeptVolume(states.next(), source: source)
    _ = volume.tree()
    if isWritten { #expect(volume.write("WRITTEN", to: "e/a") == nil) }
    #expect(volume.read("e/a").count > 5 && volume.unlink("d/b") == nil)
    volume = try moment.pass(volume, states, source: source) {
      for path in ["e/f/other", "e/f", "e/a", "e"] { remove(source.full(path)) }
    }
    for round in 0..<2 {
      #expect(volume.paths() == (isWritten ? ["d", "e", "e/a"] : ["d"]), "round \(round): \(volume.paths())")
      if isWritten { #expect(volume.read("e/a") == "WRITTEN", "round \(round)") }
      try end(volume)
      volume = try KeptVolume(states.next(), source: source)
    }
    unlink(source.full("d/b"))
    source.write("d/b", bytes("another"), mode: 0o644)
    volume.refresh()
    #expect(volume.read("d/b") == "another" && (!isWritten || volume.read("e/a") == "WRITTEN"))
    try end(volume)
  }

  /// SOURCE gives another name to what was written to and removed here: there is nothing of that in it.
  @Test func afterItWasRemoved() throws {
    let volume = try KeptVolume(states.next(), source: source)
    _ = volume.tree()
    #expect(volume.write("WRITTEN, and longer", to: "e/a") == nil && volume.unlink("e/a") == nil)
    link(source.full("e/a"), source.full("d/b"))
    volume.refresh()
    let (text, size) = (volume.read("d/b"), volume.attributes("d/b")?.size)
    #expect(text == "theirs" && size == 6, "\(text), \(size ?? -1)")
    try end(volume)
  }

  /// The name that it had is met after one that came later, and is removed here; SOURCE loses the later one.
  @Test func byALaterNameAlone() throws {
    var volume = try KeptVolume(states.next(), source: source)
    _ = volume.tree()
    #expect(volume.write("WRITTEN", to: "e/a") == nil)
    try end(volume)
    link(source.full("e/a"), source.full("d/b"))
    volume = try KeptVolume(states.next(), source: source)
    for directory in ["d", "e"] { _ = volume.names(directory) }
    #expect(volume.remove("e") == nil && volume.write("written 2", to: "d/b") == nil)
    try end(volume)
    rename(source.full("d/b"), source.full("e/y"))
    for round in 0..<3 {
      volume = try KeptVolume(states.next(), source: source)
      #expect(volume.paths() == ["d", "d/b"] && volume.read("d/b") == "written 2", "round \(round)")
      try end(volume)
    }
  }

  /// SOURCE loses all names of it, which are in a directory that was moved here.
  @Test func allNamesInADirectoryThatWasMoved() throws {
    link(source.full("e/f/other"), source.full("e/f/x"))
    var volume = try KeptVolume(states.next(), source: source)
    _ = volume.tree()
    #expect(volume.write("WRITTEN", to: "e/f/x") == nil && volume.rename("e/f", to: "moved") == nil)
    try end(volume)
    for path in ["e/f/other", "e/f/x"] { unlink(source.full(path)) }
    for round in 0..<3 {
      volume = try KeptVolume(states.next(), source: source)
      let names = volume.names("moved")
      #expect(
        !names.isEmpty && names.allSatisfy { volume.read("moved/\($0)") == "WRITTEN" }, "round \(round): \(names)")
      _ = volume.tree()
      #expect(volume.names("moved") == names, "round \(round)")
      try end(volume)
    }
  }

  /// SOURCE moves what was written to into a directory that was removed here: nobody would see it there.
  @Test(arguments: ["e", "e/a"], SourceMoment.allCases)
  func movedIntoWhatWasRemoved(moved: String, moment: SourceMoment) throws {
    source.write("d/out", bytes("out"), mode: 0o644)
    var volume = try KeptVolume(states.next(), source: source)
    _ = volume.tree()
    // What was moved out of it has the store look into it still.
    #expect(volume.write("WRITTEN", to: "e/a") == nil && volume.rename("d/out", to: "out") == nil)
    #expect(volume.remove("d") == nil)
    volume = try moment.pass(volume, states, source: source) {
      rename(source.full(moved), source.full("d/s"))
    }
    for round in 0..<3 {
      let paths = Set(volume.paths())
      #expect(paths.isSuperset(of: ["e", "e/a", "out"]) && !paths.contains("d"), "round \(round): \(paths)")
      #expect(volume.read("e/a") == "WRITTEN" && volume.conflicts["e/a"] == "gone_in_source", "round \(round)")
      try end(volume)
      volume = try KeptVolume(states.next(), source: source)
    }
  }
}
