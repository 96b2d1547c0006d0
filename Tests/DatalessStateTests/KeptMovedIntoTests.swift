import DatalessCore
@testable import DatalessState
import Glibc
import Testing

/// A written file that SOURCE has moved into a directory which was moved on the volume: a refresh follows it. By then
/// SOURCE had it under two names, one of which was lost; that is no other name for what comes later.
@Suite struct KeptMovedIntoTests {
  private let source = Scratch("source")
  private let states = StateCopies()

  init() {
    for directory in ["p", "p/q", "p/q/s"] { mkdir(source.full(directory), 0o755) }
    source.write("p/b", bytes("theirs"), mode: 0o644)
    source.write("p/q/s/c", bytes("theirs"), mode: 0o644)
  }

  enum Later: String, CaseIterable {
    case nothing, unlinksIt, renamesTheDirectory, both
  }

  @Test(arguments: Later.allCases, [false, true]) func itStaysWhateverSourceDoesLater(
    later: Later, removesParent: Bool
  ) throws {
    var volume = try KeptVolume(states.next(), source: source)
    _ = volume.tree()
    #expect(volume.write("mine", to: "p/b") == nil)
    #expect(volume.rename("p/q", to: "n") == nil)
    rename(source.full("p/b"), source.full("p/q/a"))
    volume.refresh()
    #expect(volume.read("n/a") == "miners")
    if removesParent { volume.remove("p") }
    try volume.unmount()
    if later == .unlinksIt || later == .both { unlink(source.full("p/q/a")) }
    if later == .renamesTheDirectory || later == .both { rename(source.full("p/q"), source.full("other")) }
    for round in 0..<3 {
      volume = try KeptVolume(states.next(), source: source)
      let texts = volume.paths().filter { $0.hasSuffix("/a") }.map { volume.read($0) }
      #expect(texts.contains("miners"), "round \(round): \(volume.tree())")
      try volume.unmount()
      let report = try states.next().check()
      #expect(report.damages == 0, "round \(round): \(report.findings)")
    }
  }
}
