import DatalessCore
@testable import DatalessState
import Glibc
import TestSupport
import Testing

/// Items that were changed, moved or removed on the volume, and that the store has under another name since.
@Suite struct KeptRenameTests {
  private let source = Scratch("source")
  private let states = StateCopies()

  private func mount() throws -> KeptVolume { try KeptVolume(states.next(), source: source) }

  private func expectSound() throws { #expect(try states.next().check().findings == []) }

  enum Order: CaseIterable {
    /// The new name comes before the former one in a listing, or behind it.
    case before, behind
  }

  /// As an editor saves that keeps the file of before: `mv b b~`, and a new `b`.
  @Test(arguments: Order.allCases, [false, true])
  func whatWasRemovedStaysSoWhenTheStoreRenamesIt(_ order: Order, isWritten: Bool) throws {
    let other = order == .before ? "a" : "c"
    source.write("b", bytes("theirs"), mode: 0o644)
    var volume = try mount()
    if isWritten { #expect(volume.write("what I wrote", to: "b") == nil) }
    #expect(volume.names("") == ["b"])
    #expect(volume.unlink("b") == nil)
    rename(source.full("b"), source.full(other))
    source.write("b", bytes("new"), mode: 0o644)
    volume.refresh()
    #expect(volume.names("") == ["b"])
    #expect(volume.read("b") == "new")
    #expect(volume.attributes("b")?.linkCount == 1)
    let conflicts = volume.conflicts
    try volume.unmount()
    try expectSound()
    volume = try mount()
    #expect(volume.names("") == ["b"])
    #expect(volume.read("b") == "new")
    #expect(volume.conflicts == conflicts)
    try volume.unmount()
    try expectSound()
  }

  enum Place: String, CaseIterable {
    case same = "d", other = "p/d"
  }

  @Test(arguments: Place.allCases)
  func metadataThatWasSetFollowsTheItem(_ place: Place) throws {
    mkdir(source.full("p"), 0o755)
    source.write("c", bytes("theirs"), mode: 0o644)
    var volume = try mount()
    _ = volume.names("p")
    #expect(volume.names("").contains("c"))
    #expect(volume.change("c") { $0.mode = 0o600 } == nil)
    volume.setAttribute("user.a", to: "1", of: "c")
    rename(source.full("c"), source.full(place.rawValue))
    volume.refresh()
    for round in 0..<3 {
      #expect(volume.attributes(place.rawValue).map { $0.mode & 0o7777 } == 0o600, "round \(round)")
      #expect(volume.attribute("user.a", of: place.rawValue) == "1", "round \(round)")
      try volume.unmount()
      try expectSound()
      volume = try mount()
      _ = volume.names("p")
    }
    try volume.unmount()
  }

  @Test func metadataFollowsItemsThatTheStoreExchanges() throws {
    source.write("c", bytes("one"), mode: 0o644)
    source.write("d", bytes("two"), mode: 0o644)
    var volume = try mount()
    _ = volume.names("")
    #expect(volume.change("c") { $0.mode = 0o600 } == nil)
    rename(source.full("c"), source.full("x"))
    rename(source.full("d"), source.full("c"))
    rename(source.full("x"), source.full("d"))
    volume.refresh()
    for round in 0..<2 {
      #expect(volume.attributes("d").map { $0.mode & 0o7777 } == 0o600, "round \(round)")
      #expect(volume.attributes("c").map { $0.mode & 0o7777 } == 0o644, "round \(round)")
      try volume.unmount()
      try expectSound()
      volume = try mount()
    }
    try volume.unmount()
  }

  @Test(arguments: [false, true]) func namesThatWereMadeStay(isFile: Bool) throws {
    if isFile { source.write("b", bytes("theirs"), mode: 0o644) } else { symlink("t", source.full("b")) }
    var volume = try mount()
    _ = volume.names("")
    #expect(volume.rename("b", to: "a") == nil)
    #expect(volume.link("a", to: "b") == nil)
    rename(source.full("b"), source.full("c"))
    volume.refresh()
    // The store's name was there again, and is another one now.
    let names = ["a", "c"]
    #expect(volume.names("") == names)
    let conflicts = volume.conflicts
    for round in 0..<2 {
      try volume.unmount()
      try expectSound()
      volume = try mount()
      #expect(volume.names("") == names, "round \(round)")
      #expect(volume.conflicts == conflicts, "round \(round)")
    }
    try volume.unmount()
  }

  /// One content is one node's: else evicting it by one name would take it from the other.
  @Test(arguments: [false, true]) func aSecondNameInTheStoreIsTheSameFile(isWritten: Bool) throws {
    source.write("a", bytes("theirs"), mode: 0o644)
    var volume = try mount()
    let text = isWritten ? "what I wrote" : "theirs"
    if isWritten { #expect(volume.write(text, to: "a") == nil) } else { #expect(volume.read("a") == text) }
    try volume.unmount()
    link(source.full("a"), source.full("c"))
    volume = try mount()
    #expect(volume.names("") == ["a", "c"])
    #expect(volume.attributes("a")?.inode == volume.attributes("c")?.inode)
    #expect(volume.read("c") == text)
    volume.evict("c")
    #expect(volume.read("a") == text)
    #expect(volume.write("and more", to: "c") == nil)
    #expect(volume.read("a") == volume.read("c"))
    try volume.unmount()
    try expectSound()
  }

  /// `find` looks into each directory once.
  @Test(arguments: [false, true]) func aMovedDirectoryIsListedByTheFirstLook(isRenamed: Bool) throws {
    mkdir(source.full("d"), 0o755)
    for file in ["d/a", "d/b"] { source.write(file, bytes("theirs"), mode: 0o644) }
    var volume = try mount()
    #expect(volume.rename("d", to: "here") == nil)
    #expect(volume.write("what I wrote", to: "here/a") == nil)
    try volume.unmount()
    if isRenamed { rename(source.full("d"), source.full("there")) } else { Scratch.removeTree(source.full("d")) }
    volume = try mount()
    // Who has the root open meanwhile keeps the names that have gone from it.
    _ = volume.engine.openDirectory(.root)
    #expect(volume.names("") == (isRenamed ? ["here", "there"] : ["here"]))
    #expect(volume.names("here") == ["a"])
    #expect(volume.read("here/a") == "what I wrote")
    try volume.unmount()
    try expectSound()
  }
}
