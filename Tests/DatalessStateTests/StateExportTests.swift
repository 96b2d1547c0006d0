import DatalessCore
@testable import DatalessState
import DatalessStores
import Glibc
import SystemPackage
import Testing

/// What was made or written comes out, beneath the target only, and never over what is there.
@Suite struct StateExportTests {
  private static func make(_ fixture: StateFixture, mode: UInt32 = 0o104755) throws {
    let volume = try fixture.open()
    let (file, directory, link) = (own(node: 50, 1), own(node: 51, 2), own(node: 52, 3))
    let (written, device) = (stored("d/f", node: 53, inode: 11), own(node: 54, 4))
    func content(_ text: String) throws(FSError) -> ContentID { try volume.content.make(text) }
    var special = attributes(inode: file.inode)
    special.mode = mode
    try fixture.keep(
      .together([
        .made(directory, attributes(inode: directory.inode, kind: .directory), target: []),
        .named(directory, name: bytes("new"), in: root),
      ]),
      .together([.made(file, special, target: []), .named(file, name: bytes("file"), in: directory)]),
      .dirty(of: file, try content("made here")), .dirty(of: written, try content("changed")),
      .together([
        .made(link, attributes(inode: link.inode, kind: .symlink), target: bytes("/etc/passwd")),
        .named(link, name: bytes("link"), in: root),
      ]),
      .together([
        .made(device, attributes(inode: device.inode, kind: .characterDevice), target: []),
        .named(device, name: bytes("null"), in: root),
      ]),
      .content(of: stored("clean", node: 55, inode: 12), try content("four")), in: volume)
    try volume.close()
  }

  private static func export(
    _ fixture: StateFixture, to target: Scratch, _ options: StateExport.Options = .init()
  ) throws -> StateExport.Report {
    let descriptor = target.openDirectory()
    defer { close(descriptor) }
    return try StateExport.run(try fixture.directory(.look), to: descriptor, options, scratch: Scratch.base)
  }

  @Test func changedFilesComeOut() throws {
    let (fixture, target) = (StateFixture(), Scratch("export"))
    try Self.make(fixture)
    let report = try Self.export(fixture, to: target)
    #expect(target.read("new/file") == bytes("made here") && target.read("d/f") == bytes("changed"))
    #expect(!target.exists("clean") && !target.exists("null"))
    #expect(report.files == 2 && report.links == 1 && report.directories == 1 && report.bytes == 16)
    #expect(report.skipped.map(\.path) == ["null"])
    var status = stat()
    stat(target.full("new/file"), &status)
    #expect(status.st_mode & 0o7777 == 0o755)
    #expect(status.st_mtim.tv_sec == 3)
  }

  @Test func whatIsThereStays() throws {
    let (fixture, target) = (StateFixture(), Scratch("export"))
    try Self.make(fixture)
    mkdir(target.full("new"), 0o700)
    target.write("new/file", bytes("mine"))
    target.write("link", bytes("mine"))
    let report = try Self.export(fixture, to: target)
    #expect(target.read("new/file") == bytes("mine") && target.read("link") == bytes("mine"))
    #expect(target.read("d/f") == bytes("changed"))
    #expect(Set(report.skipped.map(\.path)) == ["link", "new/file", "null"])
  }

  @Test func noLinkLeadsOut() throws {
    let (fixture, target, outside) = (StateFixture(), Scratch("export"), Scratch("outside"))
    try Self.make(fixture)
    symlink(outside.path, target.full("d"))
    symlink(outside.path, target.full("new"))
    let report = try Self.export(fixture, to: target)
    #expect(!outside.exists("f") && !outside.exists("file"))
    #expect(report.files == 0)
  }

  @Test func namesThatLeadOutAreRefused() throws {
    let (fixture, target) = (StateFixture(), Scratch("export"))
    try Self.make(fixture)
    try StateCheckTests.edit(fixture, "UPDATE name SET name = CAST(x'2e2e2f' || name AS BLOB)")
    let report = try Self.export(fixture, to: target)
    #expect(report.files == 1 && target.read("d/f") == bytes("changed"))
    #expect(report.skippedCount == 4)
  }
}
