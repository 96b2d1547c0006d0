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
