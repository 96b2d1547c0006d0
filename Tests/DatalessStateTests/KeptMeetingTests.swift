import DatalessCore
@testable import DatalessState
import Glibc
import Testing

/// What was moved here, to a name that SOURCE gives to something, too: to the same item, or to another one when it has
/// lost that.
@Suite struct KeptMeetingTests {
  private let source = Scratch("source")
  private let states = StateCopies()

  init() {
    for directory in ["d", "d/dir"] { mkdir(source.full(directory), 0o755) }
    source.write("d/x", bytes("content"))
    source.write("d/dir/f", bytes("in a directory"))
    source.write("other", bytes("another item"))
    mkdir(source.full("others"), 0o755)
    source.write("others/g", bytes("in another directory"))
  }

  struct Story: CustomTestStringConvertible, Sendable {
    /// Whether SOURCE is seen by a refresh, and not by the next mount.
    var isMounted = false
    /// Whether it goes to another directory than its own.
    var isFar = false
    /// What is looked at first by the next mount: the directory that it came from, or what is kept anywhere.
    var look = Look.nothing
    enum Look { case nothing, behind, saved }

    var testDescription: String { "mounted: \(isMounted), far: \(isFar), looks first: \(look)" }

    static let all = [
      Story(), Story(isFar: true), Story(isFar: true, look: .behind), Story(isFar: true, look: .saved),
      Story(isMounted: true), Story(isMounted: true, isFar: true),
    ]

    func name(_ text: String) -> String { isFar ? text : "d/" + text }
  }

  /// Lets SOURCE change, and this be seen.
  private func change(_ volume: KeptVolume, _ story: Story, _ body: () -> Void) throws -> KeptVolume {
    var volume = volume
    if story.isMounted {
      body()
      volume.refresh()
    } else {
      try volume.unmount()
      body()
      volume = try KeptVolume(states.next(), source: source)
    }
    switch story.look {
    case .nothing: break
    case .behind: _ = volume.names("d")
    case .saved: volume.visitSaved()
    }
    return volume
  }

  private func remount(_ volume: KeptVolume, _ note: String) throws -> KeptVolume {
    try volume.unmount()
    let findings = try states.next().check().findings
    #expect(findings.isEmpty, "\(note): \(findings)")
    return try KeptVolume(states.next(), source: source)
  }

  @Test(arguments: Story.all, [false, true]) func bothGiveItTheSameName(story: Story, isFetched: Bool) throws {
    var volume = try KeptVolume(states.next(), source: source)
    if isFetched { #expect(volume.read("d/x") == "content" && volume.read("d/dir/f") == "in a directory") }
    #expect(volume.rename("d/x", to: story.name("y")) == nil && volume.rename("d/dir", to: story.name("dir2")) == nil)
    volume = try change(volume, story) {
      rename(source.full("d/x"), source.full(story.name("y")))
      rename(source.full("d/dir"), source.full(story.name("dir2")))
    }
    for round in 0..<3 {
      #expect(volume.names(story.isFar ? "" : "d").filter { ["y", "dir2"].contains($0) }.count == 2, "round \(round)")
      #expect(volume.read(story.name("y")) == "content", "round \(round)")
      #expect(volume.read(story.name("dir2/f")) == "in a directory", "round \(round)")
      #expect(volume.conflicts.isEmpty, "round \(round): \(volume.conflicts)")
      volume = try remount(volume, "round \(round)")
    }
  }

  /// What is nowhere any more does not stand before what there is.
  @Test(arguments: Story.all) func sourceLosesItAndGivesTheNameToAnother(story: Story) throws {
    var volume = try KeptVolume(states.next(), source: source)
    #expect(volume.rename("d/x", to: story.name("y")) == nil && volume.rename("d/dir", to: story.name("dir2")) == nil)
    volume = try change(volume, story) {
      loseBoth()
      rename(source.full("other"), source.full(story.name("y")))
      rename(source.full("others"), source.full(story.name("dir2")))
    }
    try expectOthers(volume, story)
  }

  /// The conflict is known before it is lost.
  @Test(arguments: Story.all) func sourceGivesTheNameToAnotherAndLosesItLater(story: Story) throws {
    var volume = try KeptVolume(states.next(), source: source)
    #expect(volume.rename("d/x", to: story.name("y")) == nil && volume.rename("d/dir", to: story.name("dir2")) == nil)
    rename(source.full("other"), source.full(story.name("y")))
    rename(source.full("others"), source.full(story.name("dir2")))
    volume.refresh()
    #expect(volume.conflicts == [story.name("y"): "made", story.name("dir2"): "made"])
    volume = try change(volume, story) { loseBoth() }
    try expectOthers(volume, story)
  }

  /// LIMIT: which number it has then is not exact.
  @Test(arguments: [false, true]) func aDirectoryHasItsLinks(isMounted: Bool) throws {
    for name in ["1", "2", "3"] { mkdir(source.full("d/" + name), 0o755) }
    var volume = try KeptVolume(states.next(), source: source)
    _ = volume.tree()
    for name in ["1", "2", "3"] { #expect(volume.rename("d/" + name, to: "others/" + name) == nil) }
    volume = try change(volume, Story(isMounted: isMounted)) {
      for name in ["1", "2", "3"] { rename(source.full("d/" + name), source.full("others/" + name)) }
    }
    for round in 0..<2 {
      _ = volume.tree()
      #expect(volume.attributes("d")?.linkCount ?? 0 >= 2, "round \(round)")
      volume = try remount(volume, "round \(round)")
    }
  }

  /// What was moved out of a directory is there, whatever that is called by now.
  @Test(arguments: [false, true]) func whatWasMovedOutIsInTheDirectoryUnderItsNewName(isMounted: Bool) throws {
    source.write("d/dir/g", bytes("g"))
    var volume = try KeptVolume(states.next(), source: source)
    _ = volume.tree()
    #expect(volume.rename("d/dir/f", to: "f") == nil && volume.rename("d/dir/g", to: "g") == nil)
    #expect(volume.rename("d/dir", to: "dir2") == nil)
    volume = try change(volume, Story(isMounted: isMounted)) { rename(source.full("d/dir"), source.full("dir2")) }
    #expect(volume.read("f") == "in a directory")
    #expect(volume.change("g") { $0.mode = 0o100600 } == nil && volume.rename("f", to: "f2") == nil)
    for round in 0..<3 {
      volume = try remount(volume, "round \(round)")
      _ = volume.names("")
      _ = volume.names("d")
      #expect(volume.read("f2") == "in a directory" && volume.read("g") == "g", "round \(round)")
      #expect(volume.names("dir2") == [] && volume.conflicts.isEmpty, "round \(round): \(volume.conflicts)")
    }
    try volume.unmount()
  }

  /// A program had removed what one of the names stood before.
  @Test func whatWasRemovedHereStaysRemoved() throws {
    source.write("z", bytes("removed here"))
    link(source.full("d/x"), source.full("d/x2"))
    let volume = try KeptVolume(states.next(), source: source)
    #expect(volume.rename("d/x2", to: "z") == nil && volume.rename("d/x", to: "y") == nil)
    rename(source.full("other"), source.full("y"))
    volume.refresh()
    #expect(volume.conflicts.values.contains("made"))
    unlink(source.full("d/x"))
    unlink(source.full("d/x2"))
    volume.refresh()
    #expect(volume.names("").sorted() == ["d", "others", "y"])
    #expect(volume.read("y") == "another item" && volume.attributes("y")?.linkCount == 1)
    try volume.unmount()
  }

  /// The store gives it the name of the item itself, after another one had that.
  @Test(arguments: [false, true]) func aConflictEndsWhenBothHaveDoneTheSame(isMounted: Bool) throws {
    var volume = try KeptVolume(states.next(), source: source)
    #expect(volume.rename("d/x", to: "y") == nil)
    rename(source.full("other"), source.full("y"))
    volume.refresh()
    #expect(volume.conflicts == ["y": "made"])
    volume = try change(volume, Story(isMounted: isMounted)) {
      rename(source.full("y"), source.full("other"))
      rename(source.full("d/x"), source.full("y"))
    }
    for round in 0..<2 {
      _ = volume.tree()
      #expect(volume.read("y") == "content" && volume.conflicts.isEmpty, "round \(round): \(volume.conflicts)")
      volume = try remount(volume, "round \(round)")
    }
  }

  /// Nobody has looked where it was: who reads it is the first to see that it is not there.
  @Test func whatIsNowhereGoesWhenItIsAskedFor() throws {
    var volume = try KeptVolume(states.next(), source: source)
    #expect(volume.rename("d/x", to: "y") == nil && volume.rename("d/dir", to: "dir2") == nil)
    try volume.unmount()
    loseBoth()
    volume = try KeptVolume(states.next(), source: source)
    #expect(volume.names("").sorted() == ["d", "dir2", "other", "others", "y"])
    #expect(volume.read("y") == "ESTALE")
    #expect(volume.names("").sorted() == ["d", "other", "others"])
    volume = try remount(volume, "")
    #expect(volume.names("").sorted() == ["d", "other", "others"])
  }

  private func loseBoth() {
    unlink(source.full("d/x"))
    unlink(source.full("d/dir/f"))
    rmdir(source.full("d/dir"))
  }

  private func expectOthers(_ first: KeptVolume, _ story: Story) throws {
    var volume = first
    for round in 0..<3 {
      #expect(volume.names(story.isFar ? "" : "d").filter { ["y", "dir2"].contains($0) }.count == 2, "round \(round)")
      #expect(volume.read(story.name("y")) == "another item", "round \(round)")
      #expect(volume.read(story.name("dir2/g")) == "in another directory", "round \(round)")
      #expect(volume.conflicts.isEmpty, "round \(round): \(volume.conflicts)")
      volume = try remount(volume, "round \(round)")
    }
  }
}
