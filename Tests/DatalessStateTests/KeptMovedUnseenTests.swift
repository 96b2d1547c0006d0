import DatalessCore
@testable import DatalessState
import Glibc
import TestSupport
import Testing

/// SOURCE moves a directory, with what was written to in it, to where nobody sees it: into one that was removed here.
@Suite struct KeptMovedUnseenTests {
  private let source = Scratch("source")
  private let states = StateCopies()
  private static let names = ["d1/y/s3", "d1/h1"]

  init() {
    for directory in ["d1", "d1/y", "d2"] { mkdir(source.full(directory), 0o755) }
    source.write("d1/y/s3", bytes("theirs"), mode: 0o644)
    source.write("d2/x", bytes("other"), mode: 0o644)
    link(source.full("d1/y/s3"), source.full("d1/h1"))
  }

  private func mount() throws -> KeptVolume { try KeptVolume(states.next(), source: source) }

  private func end(_ volume: KeptVolume) throws {
    try volume.unmount()
    let report = try states.next().check()
    #expect(report.findings.isEmpty, "\(report.findings)")
    #expect(try states.last.texts() == ["WRITTEN"])
  }

  struct Calls {
    let written: String
    let removed: String?
    let isListedFirst: Bool
  }

  private static let calls = names.flatMap { written in
    [nil, "d1/h1", "d1/y/s3"].flatMap { removed in
      [false, true].map { Calls(written: written, removed: removed, isListedFirst: $0) }
    }
  }

  /// The file has another name, which may have been removed here, too; or the one by which it was written.
  @Test(arguments: calls)
  func whatWasWrittenStays(_ calls: Calls) throws {
    let volume = try mount()
    if calls.isListedFirst { _ = volume.names("d1") }
    _ = volume.tree()
    #expect(volume.write("WRITTEN", to: calls.written) == nil)
    if let removed = calls.removed { #expect(volume.unlink(removed) == nil) }
    #expect(volume.remove("d2") == nil)
    try end(volume)
    #expect(rename(source.full("d1"), source.full("d2/d1n")) == 0)
    for round in 0..<3 {
      let again = try mount()
      if round != 1 { again.visitSaved() }
      let files = again.paths().filter { Self.names.contains($0) }
      #expect(!files.isEmpty && files.allSatisfy { $0 != calls.removed }, "round \(round): \(again.paths())")
      for file in files {
        #expect(again.read(file) == "WRITTEN", "round \(round)")
        #expect(again.conflicts[file] == "gone_in_source", "round \(round)")
      }
      try end(again)
    }
  }
}

/// What was written to a file of SOURCE of which all names but one were removed here.
@Suite struct KeptRemovedNamesTests {
  private let source = Scratch("source")
  private let states = StateCopies()

  init() {
    for directory in ["p", "p/q"] { mkdir(source.full(directory), 0o755) }
    source.write("p/hl", bytes("theirs"), mode: 0o644)
    source.write("p/q/other", bytes("other"), mode: 0o644)
    link(source.full("p/hl"), source.full("p/q/b"))
  }

  private func mount() throws -> KeptVolume { try KeptVolume(states.next(), source: source) }

  private func end(_ volume: KeptVolume) throws -> Set<String> {
    try volume.unmount()
    let report = try states.next().check()
    #expect(report.findings.isEmpty, "\(report.findings)")
    return try states.last.texts()
  }

  /// SOURCE loses the one that is left. It has the file in a directory that was removed here, too, and under a name
  /// that came later.
  @Test(arguments: [false, true], SourceMoment.allCases)
  func theLastOneStays(hasNewer: Bool, moment: SourceMoment) throws {
    var volume = try mount()
    _ = volume.tree()
    #expect(volume.write("WRITTEN", to: "p/q/b") == nil && volume.unlink("p/q/b") == nil)
    #expect(try end(volume) == ["WRITTEN"])
    volume = try mount()
    _ = volume.tree()
    #expect(volume.remove("p/q") == nil)
    if hasNewer {
      link(source.full("p/q/b"), source.full("s31"))
      volume.refresh()
      #expect(volume.read("s31") == "WRITTEN" && volume.unlink("s31") == nil)
    }
    volume = try moment.pass(volume, states, source: source) { unlink(source.full("p/hl")) }
    for round in 0..<3 {
      #expect(volume.paths() == ["p", "p/hl"] && volume.read("p/hl") == "WRITTEN", "round \(round)")
      #expect(try end(volume) == ["WRITTEN"], "round \(round)")
      volume = try mount()
    }
    #expect(volume.read("p/hl") == "WRITTEN" && volume.conflicts == ["p/hl": "gone_in_source"])
    #expect(try end(volume) == ["WRITTEN"])
  }

  /// SOURCE has written to it, and has it by one name by now: with the directory in which that is all of it goes.
  @Test(arguments: [false, true]) func nothingStaysOfWhatWasRemoved(isForgotten: Bool) throws {
    mkdir(source.full("r"), 0o755)
    #expect(link(source.full("p/hl"), source.full("r/hl")) == 0 && unlink(source.full("p/q/b")) == 0)
    var volume = try mount()
    _ = volume.tree()
    #expect(volume.write("WRITTEN", to: "r/hl") == nil)
    source.write("p/hl", bytes("theirs, newer"), mode: 0o644)
    volume.refresh()
    #expect(try end(volume) == ["WRITTEN"])
    unlink(source.full("r/hl"))
    volume = try mount()
    _ = volume.tree()
    let node = volume.node("p/hl")
    #expect(volume.read("p/hl") == "WRITTEN" && volume.remove("p") == nil)
    if isForgotten { volume.forget(node) }
    #expect(try end(volume) == [])
    rename(source.full("p"), source.full("moved"))
    volume = try mount()
    #expect(volume.read("moved/hl") == "theirs, newer")
    #expect(try end(volume) == [])
  }

  /// The place of what was written is in a directory that was removed here, and SOURCE has only the other name, in the
  /// root, by now.
  @Test func itIsFoundInTheRoot() throws {
    link(source.full("p/hl"), source.full("y"))
    unlink(source.full("p/q/b"))
    var volume = try mount()
    _ = volume.names("p")
    #expect(volume.write("WRITTEN", to: "p/hl") == nil)
    _ = volume.tree()
    #expect(volume.remove("p") == nil && volume.read("y") == "WRITTEN")
    #expect(try end(volume) == ["WRITTEN"])
    unlink(source.full("p/hl"))
    for round in 0..<3 {
      volume = try mount()
      #expect(volume.paths() == ["y"] && volume.read("y") == "WRITTEN", "round \(round)")
      #expect(try end(volume) == ["WRITTEN"], "round \(round)")
    }
  }

  /// Both names are in a directory that was renamed here, and that SOURCE has moved, and lost, between mounts.
  @Test(arguments: [false, true]) func itStaysInADirectoryThatSourceHasLost(isLookedInto: Bool) throws {
    for directory in ["s", "r"] { mkdir(source.full(directory), 0o755) }
    source.write("s/a", bytes("theirs"), mode: 0o644)
    link(source.full("s/a"), source.full("s/b"))
    var volume = try mount()
    _ = volume.tree()
    #expect(volume.rename("s", to: "here") == nil && volume.write("WRITTEN", to: "here/a") == nil)
    #expect(rename(source.full("s"), source.full("r/there")) == 0)
    volume.refresh()
    #expect(volume.names("r").isEmpty && volume.read("here/b") == "WRITTEN")
    #expect(try end(volume) == ["WRITTEN"])
    for name in ["r/there/a", "r/there/b"] { unlink(source.full(name)) }
    for name in ["r/there", "r"] { rmdir(source.full(name)) }
    mkdir(source.full("r"), 0o755)
    for round in 0..<3 {
      volume = try mount()
      if isLookedInto { #expect(volume.names("r").isEmpty) }
      let files = volume.paths().filter { $0.hasPrefix("here/") }
      #expect(!files.isEmpty && files.allSatisfy { volume.read($0) == "WRITTEN" }, "round \(round): \(files)")
      #expect(try end(volume) == ["WRITTEN"], "round \(round)")
    }
  }

  /// The name by which it was written was removed here, and SOURCE removes the directory that has the other one.
  @Test(arguments: ["p/q/b", "p/q"], SourceMoment.allCases)
  func itStaysUnderItsOtherName(removed: String, moment: SourceMoment) throws {
    mkdir(source.full("d"), 0o755)
    rename(source.full("p/hl"), source.full("d/hl"))
    var volume = try mount()
    _ = volume.names("p/q")
    #expect(volume.write("WRITTEN", to: "p/q/b") == nil)
    _ = volume.tree()
    #expect((removed == "p/q" ? volume.remove(removed) : volume.unlink(removed)) == nil)
    #expect(volume.read("d/hl") == "WRITTEN")
    volume = try moment.pass(volume, states, source: source) {
      unlink(source.full("d/hl"))
      rmdir(source.full("d"))
    }
    for round in 0..<3 {
      #expect(volume.read("d/hl") == "WRITTEN", "round \(round)")
      #expect(volume.conflicts["d/hl"] == "gone_in_source", "round \(round)")
      #expect(try end(volume) == ["WRITTEN"], "round \(round)")
      volume = try mount()
    }
    #expect(volume.read("d/hl") == "WRITTEN")
    #expect(try end(volume) == ["WRITTEN"])
  }

  /// SOURCE gives one of its names to another file, which was written to as well or came now, and puts a file in the
  /// place of the directory that has the other name, which is kept for what was made in it.
  @Test(arguments: [false, true], [false, true])
  func itStaysWhereSourceHasOtherFiles(isLookedInto: Bool, isKnown: Bool) throws {
    source.write("p/known", bytes("another"), mode: 0o644)
    var volume = try mount()
    _ = volume.names("p")
    #expect(volume.write("WRITTEN", to: "p/hl") == nil)
    _ = volume.tree()
    #expect(volume.makeDirectory("p/q/made") == nil)
    if isKnown { #expect(volume.write("WRITTEN, TOO", to: "p/known") == nil) }
    let written: Set<String> = isKnown ? ["WRITTEN", "WRITTEN, TOO"] : ["WRITTEN"]
    #expect(try end(volume) == written)
    for name in ["p/q/b", "p/q/other"] { unlink(source.full(name)) }
    rmdir(source.full("p/q"))
    for name in ["p/q", "new"] { source.write(name, bytes("new"), mode: 0o644) }
    rename(source.full(isKnown ? "p/known" : "new"), source.full("p/hl"))
    for round in 0..<3 {
      volume = try mount()
      if isLookedInto || round > 0 {
        let texts = Set(volume.paths().map { volume.read($0) })
        #expect(texts.isSuperset(of: written), "round \(round): \(volume.paths()): \(texts)")
      } else {
        _ = volume.names("p")
      }
      #expect(try end(volume) == written, "round \(round)")
    }
  }

  /// All its names were removed here, the last one where SOURCE had moved it to. `check` finds nothing wrong with it
  /// when SOURCE has lost that.
  @Test func whatWasRemovedByAllItsNamesIsNoDamage() throws {
    mkdir(source.full("r"), 0o755)
    var volume = try mount()
    _ = volume.tree()
    #expect(volume.remove("p") == nil)
    _ = try end(volume)
    rename(source.full("p/q"), source.full("r/moved"))
    volume = try mount()
    #expect(volume.read("r/moved/b") == "theirs")
    #expect(volume.write("WRITTEN", to: "r/moved/b") == nil && volume.unlink("r/moved/b") == nil)
    _ = try end(volume)
    for name in ["r/moved/b", "r/moved/other"] { unlink(source.full(name)) }
    for name in ["r/moved", "r"] { rmdir(source.full(name)) }
    for round in 0..<3 {
      volume = try mount()
      #expect(volume.paths() == [], "round \(round)")
      _ = try end(volume)
    }
  }
}
