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
}
