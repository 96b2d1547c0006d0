import DatalessCore
@testable import DatalessState
import Glibc
import Testing

/// What a program has still open when it is removed goes with the daemon, however that ends.
@Suite struct UnlinkedContentTests {
  private let source = Scratch("source")
  private var last = StateFixture()
  private var isUsed = false

  init() { for file in ["a", "b"] { source.write(file, bytes("source \(file)")) } }

  /// Each time another copy of the state directory: what was not closed is then as a crash has left it.
  private mutating func mount() throws -> KeptVolume {
    if isUsed {
      let fixture = StateFixture()
      last.scratch.copy(to: fixture.scratch)
      last = fixture
    }
    isUsed = true
    return try KeptVolume(last, source: source)
  }

  /// Writes to a file of SOURCE, removes it while it is open, and ends as a crash does.
  private mutating func crash(isReplaced: Bool) throws {
    let volume = try mount()
    #expect(volume.write("MINE", to: "a", closes: false) == nil)
    if isReplaced {
      #expect(volume.write("new", to: "n") == nil && volume.rename("n", to: "a") == nil)
    } else {
      #expect(volume.unlink("a") == nil)
    }
    try volume.state.journal.commit()
    #expect(volume.contents == (isReplaced ? 2 : 1), "it is open")
  }

  @Test(arguments: [false, true]) mutating func nothingIsLeftOfIt(isReplaced: Bool) throws {
    try crash(isReplaced: isReplaced)
    let after = try mount()
    #expect(after.names("") == (isReplaced ? ["a", "b"] : ["b"]))
    after.passSecond()
    #expect(after.contents == (isReplaced ? 1 : 0))
    if isReplaced { #expect(after.read("a") == "new") }
    try after.unmount()
    let again = try mount()
    #expect(again.names("") == (isReplaced ? ["a", "b"] : ["b"]))
    #expect(again.contents == (isReplaced ? 1 : 0))
    try again.unmount()
  }

  @Test mutating func itDoesNotComeBackAsTheContentOfAnother() throws {
    try crash(isReplaced: false)
    source.write("other", bytes("another item"))
    #expect(rename(source.full("other"), source.full("a")) == 0)
    for _ in 0..<2 {
      let after = try mount()
      #expect(after.names("") == ["a", "b"])
      #expect(after.read("a") == "another item")
      try after.unmount()
    }
  }

  /// By a name that is not hidden it is the file that was written.
  @Test mutating func whatHasAnotherNameInTheSourceStays() throws {
    mkdir(source.full("d"), 0o755)
    #expect(link(source.full("a"), source.full("d/a2")) == 0)
    let volume = try mount()
    #expect(volume.names("d") == ["a2"])
    #expect(volume.write("MINE", to: "a", closes: false) == nil)
    #expect(volume.unlink("a") == nil)
    try volume.state.journal.commit()
    for _ in 0..<2 {
      let after = try mount()
      #expect(after.names("") == ["b", "d"])
      #expect(after.read("d/a2") == "MINEce a")
      try after.unmount()
    }
  }
}
