import DatalessCore
@testable import DatalessState
import TestSupport
import Testing

/// What a volume shows before it is unmounted it shows after the next mount, whatever was done on it and in SOURCE:
/// names, links, attributes and content. `check` finds nothing in between.
@Suite struct KeptViewTests {
  private let source = Scratch("source")
  private let states = StateCopies()

  private static func differences(_ before: [String], _ after: [String]) -> [String] {
    before.filter { !after.contains($0) }.map { "before \($0)" }
      + after.filter { !before.contains($0) }.map { "after \($0)" }
  }

  @Test(arguments: TestSeed.first(100)) func isTheSameAfterARemount(seed: UInt64) throws {
    var calls = RandomCalls(TestRandom(seed: seed), story: "seed \(seed)")
    let there = SourceCalls(source: source)
    for _ in 0..<3 + calls.below(6) { calls.perform(on: there) }
    var volume = try KeptVolume(states.next(), source: source)
    calls.tell("mount")
    for round in 0..<2 {
      _ = volume.tree()
      for _ in 0...calls.below(4) { calls.perform(on: VolumeCalls(volume: volume)) }
      for _ in 0...calls.below(4) { calls.perform(on: there) }
      volume.refresh()
      calls.tell("refresh")
      let tree = volume.tree()
      let wrong = tree.filter { line in ["ESTALE", "ENOENT", "gone", "links 0", "short"].contains { line.contains($0) }
      }
      #expect(wrong == [], "\(calls.story)")
      try volume.unmount()
      // What was unlinked the kernel may still know, and this volume has none. Of a directory that both sides have
      // removed, a row may be left.
      let findings = try states.next().check().findings.filter { finding in
        finding.kind != .unlinked && !(finding.kind == .leftover && "\(finding)".contains("a directory"))
      }
      #expect(findings == [], "\(calls.story)")
      for _ in 0..<calls.below(3) {
        // A mount that looks no further than this.
        volume = try KeptVolume(states.next(), source: source)
        let isVisited = calls.below(2) == 0
        if isVisited { volume.visitSaved() } else { _ = volume.names("") }
        calls.tell(isVisited ? "mount and visit" : "mount and list the root")
        try volume.unmount()
      }
      volume = try KeptVolume(states.next(), source: source)
      calls.tell("remount")
      let differences = Self.differences(tree, volume.tree())
      #expect(differences == [], "round \(round): \(calls.story)")
      volume.refresh()
      #expect(Self.differences(tree, volume.tree()) == differences, "round \(round), refreshed: \(calls.story)")
    }
    try volume.unmount()
  }
}
