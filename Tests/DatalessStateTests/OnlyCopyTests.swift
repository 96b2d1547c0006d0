import DatalessCore
@testable import DatalessState
import DatalessStores
import Glibc
import Testing

/// What SOURCE has no more, and a name here still leads to, is the only copy: no loss of power takes it, and it is
/// exported.
@Suite struct OnlyCopyTests {
  private let source = Scratch("source")

  init() { mkdir(source.full("e"), 0o755) }

  /// As power that is lost now leaves it: nothing has been flushed but what a commit did.
  private static func losePower(_ fixture: StateFixture) throws -> StateFixture {
    let copy = StateFixture()
    fixture.scratch.copy(to: copy.scratch)
    try StateCheckTests.edit(copy, "UPDATE epoch SET boot = x'00' WHERE sealed = 0")
    return copy
  }

  /// Small content lies beside others in a slab, large content in a file of its own.
  @Test(arguments: [10, 600_000]) func itOutlivesALossOfPower(size: Int) throws {
    let moved = String(repeating: "a", count: size)
    let linked = String(repeating: "b", count: size)
    source.write("a", bytes(moved))
    source.write("b", bytes(linked))
    let fixture = StateFixture()
    let volume = try KeptVolume(fixture, source: source)
    #expect(volume.read("a") == moved && volume.read("b") == linked)
    #expect(volume.rename("a", to: "e/moved") == nil)
    #expect(volume.link("b", to: "e/linked") == nil)
    try volume.state.journal.commit()
    unlink(source.full("a"))
    source.write("b", bytes("another version"))
    volume.refresh()
    #expect(volume.conflicts == ["e/moved": "gone_in_source"])
    #expect(volume.read("e/linked") == linked && volume.read("b") == "another version")
    for path in ["e/moved", "e/linked"] {
      volume.evict(path)
      #expect(volume.engine.describe(volume.node(path))?.state == "resident", "\(path) is evicted")
    }
    try volume.state.journal.commit()

    let lost = try Self.losePower(fixture)
    let after = try KeptVolume(lost, source: source)
    // What was dropped just before, and copied out of a slab.
    _ = try after.state.reconcile()
    #expect(after.names("") == ["b", "e"])
    #expect(after.names("e") == ["linked", "moved"])
    #expect(after.read("e/moved") == moved && after.read("e/linked") == linked && after.read("b") == "another version")
    #expect(after.conflicts == ["e/moved": "gone_in_source"])
    try after.unmount()

    let (closed, target) = (StateFixture(), Scratch("export"))
    lost.scratch.copy(to: closed.scratch)
    let findings = try closed.check().findings
    #expect(findings.isEmpty, "\(findings)")
    let descriptor = target.openDirectory()
    defer { close(descriptor) }
    let report = try StateExport.run(try closed.directory(.look), to: descriptor, .init(), scratch: Scratch.base)
    #expect(report.files == 2 && report.skipped == [])
    #expect(target.read("e/moved") == bytes(moved) && target.read("e/linked") == bytes(linked))
  }
}
