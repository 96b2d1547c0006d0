import DatalessCore
@testable import DatalessState
import Glibc
import TestSupport
import Testing

/// Directories in which something was written, and whose names SOURCE gives to one another in one refresh, beside what
/// was made here.
@Suite struct KeptDisplacedTests {
  private let source = Scratch("source")
  private let states = StateCopies()

  /// All texts of a volume, sorted.
  private func texts(_ volume: KeptVolume, in directory: String = "") -> [String] {
    volume.names(directory).flatMap { name -> [String] in
      let path = directory.isEmpty ? name : "\(directory)/\(name)"
      guard volume.attributes(path)?.kind == .directory else { return [volume.read(path)] }
      return texts(volume, in: path)
    }.sorted()
  }

  /// One has to stay, as its new name is taken by what was made here; the name that it had is another one's by then,
  /// which callers would not find any more behind it.
  @Test func whatStaysHidesNothingThatWasWritten() throws {
    for name in ["a", "b"] { mkdir(source.full(name), 0o755) }
    var volume = try KeptVolume(states.next(), source: source)
    #expect(volume.names("") == ["a", "b"] && volume.names("a") == [] && volume.names("b") == [])
    #expect(volume.write("in a", to: "a/new") == nil && volume.write("in b", to: "b/new") == nil)
    #expect(volume.makeDirectory("c") == nil && volume.write("in c", to: "c/new") == nil)
    rename(source.full("b"), source.full("c"))
    rename(source.full("a"), source.full("b"))
    volume.refresh()
    let all = ["in a", "in b", "in c"]
    #expect(texts(volume) == all, "\(volume.tree())")
    // What has come goes again, and something else comes in its place.
    rename(source.full("b"), source.full("d"))
    mkdir(source.full("b"), 0o755)
    volume.refresh()
    #expect(texts(volume) == all, "\(volume.tree())")
    for _ in 0..<2 {
      try volume.unmount()
      #expect(try states.next().check().findings.filter { $0.kind != .unlinked } == [])
      volume = try KeptVolume(states.next(), source: source)
      #expect(texts(volume) == all, "\(volume.tree())")
      volume.refresh()
      #expect(texts(volume) == all, "\(volume.tree())")
    }
    try volume.unmount()
  }

  /// A directory that was moved here stands before the one that SOURCE has moved to its name, until it turns out that
  /// SOURCE has the first one elsewhere: what is new in the other one is seen at once.
  @Test func whatIsSeenAgainIsSeenWithWhatIsNewInIt() throws {
    for name in ["b", "b/b"] { mkdir(source.full(name), 0o755) }
    var volume = try KeptVolume(states.next(), source: source)
    _ = volume.tree()
    #expect(volume.rename("b/b", to: "c") == nil && volume.change("b") { $0.mode = 0o700 } == nil)
    rename(source.full("b/b"), source.full("moved"))
    rename(source.full("b"), source.full("c"))
    rename(source.full("moved"), source.full("b"))
    symlink("t", source.full("c/new"))
    for _ in 0..<2 {
      volume.refresh()
      #expect(volume.names("") == ["b", "c"] && volume.names("c") == ["new"], "\(volume.tree())")
      #expect(volume.attributes("c")?.mode == S_IFDIR | 0o700)
    }
    try volume.unmount()
    #expect(try states.next().check().findings == [])
    volume = try KeptVolume(states.next(), source: source)
    #expect(volume.names("") == ["b", "c"] && volume.names("c") == ["new"], "\(volume.tree())")
    try volume.unmount()
  }

  /// SOURCE has renamed a directory to a name that something has here, and given its own to a link: it stays, with its
  /// rights, also after a mount that has shown it to nobody.
  @Test(arguments: 0..<3) func whatStaysHasItsAttributes(mounts: Int) throws {
    mkdir(source.full("c"), 0o755)
    source.write("c/a", bytes("theirs"), mode: 0o644)
    var volume = try KeptVolume(states.next(), source: source)
    _ = volume.tree()
    #expect(volume.write("MINE", to: "c/a") == nil && volume.makeDirectory("b") == nil)
    rename(source.full("c"), source.full("b"))
    symlink("t", source.full("c"))
    volume.refresh()
    let tree = volume.tree()
    #expect(volume.attributes("c")?.mode == S_IFDIR | 0o755 && volume.read("c/a") == "MINErs")
    for _ in 0..<mounts {
      try volume.unmount()
      volume = try KeptVolume(states.next(), source: source)
      volume.visitSaved()
    }
    #expect(volume.tree() == tree)
    volume.refresh()
    #expect(volume.tree() == tree)
    try volume.unmount()
    #expect(try states.next().check().findings == [])
  }
}
