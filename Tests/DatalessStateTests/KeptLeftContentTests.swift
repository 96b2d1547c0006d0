import DatalessCore
@testable import DatalessState
import Glibc
import Testing

/// Content that no name leads to any more, by whatever way that came about: it goes, with the room that it takes.
@Suite struct KeptLeftContentTests {
  private let source = Scratch("source")
  private let states = StateCopies()

  init() {
    for directory in ["d", "d/e", "k"] { mkdir(source.full(directory), 0o755) }
    for file in ["d/e/b", "d/e/c", "k/a"] { source.write(file, bytes("source \(file)")) }
  }

  private func mount() throws -> KeptVolume {
    let volume = try KeptVolume(states.next(), source: source)
    _ = try volume.state.reconcile()
    return volume
  }

  private func expectNothingWrong() throws {
    let report = try states.next().check()
    #expect(report.findings.isEmpty, "\(report.findings)")
  }

  /// Its directory is removed after it: nobody looks into that any more.
  @Test(arguments: [false, true], [false, true])
  func aFileThatIsOpenWhenItAndItsDirectoryAreRemoved(isWritten: Bool, isCrash: Bool) throws {
    let volume = try mount()
    if isWritten {
      #expect(volume.write("MINE", to: "d/e/b", closes: false) == nil)
    } else {
      #expect(volume.hold("d/e/b") == nil)
    }
    #expect(volume.unlink("d/e/b") == nil && volume.unlink("d/e/c") == nil)
    #expect(volume.removeDirectory("d/e") == nil)
    #expect(volume.contents == 1)
    if isCrash { try volume.state.journal.commit() } else { try volume.unmount() }
    if !isCrash { try expectNothingWrong() }
    let again = try mount()
    #expect(again.names("d") == [])
    again.passSecond()
    #expect(again.contents == 0)
    try again.unmount()
    try expectNothingWrong()
  }

  /// What was written to it after that is nobody's, either.
  @Test func aFileThatIsWrittenAfterItsLastNameHasGone() throws {
    let volume = try mount()
    #expect(volume.write("MINE", to: "k/a", closes: false) == nil)
    #expect(volume.unlink("k/a") == nil)
    try volume.unmount()
    try expectNothingWrong()
    let again = try mount()
    #expect(again.names("k") == [] && again.contents == 0)
    try again.unmount()
  }

  /// A name that comes back, as by a choice for the store's, is of the file.
  @Test func aFileThatIsClosedInTimeIsNoLeftover() throws {
    let volume = try mount()
    #expect(volume.read("k/a") == "source k/a")
    #expect(volume.rename("k/a", to: "k/b") == nil)
    #expect(volume.rename("k/b", to: "k/a") == nil)
    try volume.unmount()
    let again = try mount()
    #expect(again.read("k/a") == "source k/a" && again.fetched.files == 0)
    try again.unmount()
    try expectNothingWrong()
  }

  /// SOURCE has moved it between two mounts, and what an earlier run has fetched is not met before the new one is read.
  @Test(arguments: [false, true]) func fetchedContentOfWhatSourceHasMoved(isListedFirst: Bool) throws {
    let first = try mount()
    #expect(first.read("d/e/b") == "source d/e/b")
    #expect(first.read("k/a") == "source k/a")
    try first.unmount()
    #expect(rename(source.full("d/e/b"), source.full("d/moved")) == 0)
    #expect(rename(source.full("k/a"), source.full("k/other")) == 0)
    let second = try mount()
    second.visitSaved()
    if isListedFirst { #expect(second.names("d/e") == ["c"]) }
    #expect(second.read("d/moved") == "source d/e/b")
    #expect(second.names("d/e") == ["c"])
    #expect(second.read("k/other") == "source k/a")
    try second.unmount()
    try expectNothingWrong()
    let third = try mount()
    #expect(third.contents == 2)
    #expect(third.read("d/moved") == "source d/e/b" && third.read("k/other") == "source k/a")
    try third.unmount()
    try expectNothingWrong()
  }
}
