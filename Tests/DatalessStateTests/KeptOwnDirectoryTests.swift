import DatalessCore
@testable import DatalessState
import Glibc
import Testing

/// A directory that was moved on the volume, has something that was made in it, and is lost in SOURCE with the one that
/// it was moved out of. It is the volume's own; what was only fetched in it goes, and nothing is written to that.
@Suite struct KeptOwnDirectoryTests {
  private let source = Scratch("source")
  private let states = StateCopies()

  init() {
    for directory in ["p", "p/q", "r"] { mkdir(source.full(directory), 0o755) }
    for file in ["p/a", "p/q/a", "p/q/b", "r/a"] { source.write(file, bytes("theirs \(file)"), mode: 0o644) }
  }

  @Test(
    arguments: [["", "n", "p"], ["", "n"], ["", "p", "n"], ["", "p"]],
    ["p", "p/q"]
  ) func whatWasFetchedInItGoes(looks: [String], lost: String) throws {
    var volume = try KeptVolume(states.next(), source: source)
    _ = volume.tree()
    #expect(volume.rename("p/q", to: "n") == nil && volume.makeDirectory("n/made") == nil)
    try volume.unmount()
    volume = try KeptVolume(states.next(), source: source)
    for look in looks { _ = volume.names(look) }
    Scratch.removeTree(source.full(lost))
    volume.refresh()
    #expect(volume.names("n") == ["made"])
    #expect(volume.write("mine", to: "n/b") == nil)
    for round in 0..<2 {
      #expect(volume.names("n") == ["b", "made"] && volume.read("n/b") == "mine", "round \(round)")
      #expect(volume.read("r/a") == "theirs r/a", "round \(round)")
      #expect(volume.conflicts == ["n": "gone_in_source"], "round \(round)")
      try volume.unmount()
      let findings = try states.next().check().findings
      #expect(findings == [], "round \(round)")
      volume = try KeptVolume(states.next(), source: source)
      _ = volume.tree()
    }
    try volume.unmount()
  }

  /// SOURCE loses a directory between two mounts in which something was written, and of which nothing else is kept:
  /// what its owner had let nobody see, nobody sees, whatever the directory above lets them.
  @Test(arguments: [false, true]) func whatNobodyKnowsTheRightsOfIsForNobodyElse(isReplaced: Bool) throws {
    chmod(source.full("p"), 0o1777)
    chmod(source.full("p/q"), 0o700)
    var volume = try KeptVolume(states.next(), source: source)
    #expect(volume.write("MINE", to: "p/q/a") == nil)
    try volume.unmount()
    Scratch.removeTree(source.full("p/q"))
    if isReplaced { source.write("p/q", bytes("a file")) }
    for _ in 0..<2 {
      volume = try KeptVolume(states.next(), source: source)
      #expect(volume.read("p/q/a") == "MINErs p/q/a", "\(volume.tree())")
      let attributes = volume.attributes("p/q")
      #expect(attributes?.mode == S_IFDIR | 0o700 && attributes?.uid == geteuid() && attributes?.gid == getegid())
      try volume.unmount()
      #expect(try states.next().check().findings == [])
    }
  }
}
