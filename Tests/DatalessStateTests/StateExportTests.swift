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
    #expect(report.skipped.map(\.text) == ["null"])
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
    #expect(Set(report.skipped.map(\.text)) == ["link", "new/file", "null"])
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

  @Test func whatIsNoDirectoryIsSaid() throws {
    let (fixture, target) = (StateFixture(), Scratch("export"))
    try fixture.run { volume in
      let directory = own(node: 51, 2)
      try fixture.keep(
        .together([
          .made(directory, attributes(inode: directory.inode, kind: .directory), target: []),
          .named(directory, name: bytes("new"), in: root),
        ]), in: volume)
    }
    // No file is to be in it: nothing else would say that it could not be made.
    target.write("new", bytes("mine"))
    let report = try Self.export(fixture, to: target)
    #expect(target.read("new") == bytes("mine"))
    #expect(report.directories == 0 && report.skipped.map(\.text) == ["new"])
  }

  @Test(.enabled(if: isRoot, "mounting a small tmpfs needs root")) func whatCannotBeMadeIsSaid() {
    withPrivateMounts {
      do {
        let (fixture, target) = (StateFixture(), Scratch("export"))
        try Self.make(fixture)
        #expect(mount("tmpfs", target.path, "tmpfs", UInt(MS_RDONLY), "size=1m") == 0)
        defer { umount2(target.path, CInt(MNT_DETACH)) }
        let report = try Self.export(fixture, to: target)
        #expect(report.files == 0 && report.directories == 0 && report.links == 0)
        #expect(Set(report.skipped.map(\.text)) == ["new", "d", "link", "null"])
      } catch { Issue.record("\(error)") }
    }
  }

  @Test func directoriesThatOthersCanChangeAreNotFilled() throws {
    let (fixture, target) = (StateFixture(), Scratch("export"))
    try Self.make(fixture)
    mkdir(target.full("d"), 0o700)
    chmod(target.full("d"), 0o777)
    let report = try Self.export(fixture, to: target)
    #expect(!target.exists("d/f") && target.read("new/file") == bytes("made here"))
    #expect(Set(report.skipped.map(\.text)) == ["d", "null"])
    #expect(report.skipped.allSatisfy { $0.error.errno == .notPermitted })
  }

  @Test func holesStayHoles() throws {
    let (fixture, target) = (StateFixture(), Scratch("export"))
    let offsets: [Int64] = [1 << 20, 1 << 33, 1 << 34 - 5]
    try fixture.run { volume in
      let file = own(node: 50, 1)
      let content = try volume.content.makeWritable(size: 1 << 34, copying: nil)
      let writer = try volume.content.rangeWriter(content)
      for offset in offsets {
        try bytes("hello").withUnsafeBytes { try writer.write($0, at: offset) }
      }
      writer.finish()
      try fixture.keep(
        .together([.made(file, attributes(inode: file.inode), target: []), .named(file, name: bytes("f"), in: root)]),
        .dirty(of: file, content), in: volume)
    }
    let report = try Self.export(fixture, to: target)
    #expect(report.files == 1 && report.bytes == 1 << 34 && report.skipped == [])
    var status = stat()
    stat(target.full("f"), &status)
    #expect(status.st_size == 1 << 34 && status.st_blocks < 4096)
    let copy = open(target.full("f"), O_RDONLY)
    defer { close(copy) }
    for offset in offsets {
      var found = [UInt8](repeating: 0, count: 5)
      #expect(pread(copy, &found, 5, off_t(offset)) == 5 && found == bytes("hello"))
    }
  }

  @Test func aFileWithTwoNamesHasThemInTheTarget() throws {
    let (fixture, target) = (StateFixture(), Scratch("export"))
    try fixture.run { volume in
      let (file, changed) = (own(node: 50, 1), stored("d/f", node: 53, inode: 11))
      try fixture.keep(
        .together([.made(file, attributes(inode: file.inode), target: []), .named(file, name: bytes("a"), in: root)]),
        .dirty(of: file, try volume.content.make("made here")), .named(file, name: bytes("b"), in: root),
        .dirty(of: changed, try volume.content.make("changed")), .made(changed, attributes(inode: 11), target: []),
        .named(changed, name: bytes("c"), in: root), in: volume)
    }
    let report = try Self.export(fixture, to: target)
    #expect(target.files() == ["a", "b", "c", "d/f"] && report.files == 2 && report.links == 2)
    #expect(target.read("b") == bytes("made here") && target.read("c") == bytes("changed"))
    var (first, second) = (stat(), stat())
    stat(target.full("c"), &first)
    stat(target.full("d/f"), &second)
    #expect(first.st_ino == second.st_ino && first.st_nlink == 2)
  }

  /// As deep as nobody's descriptors and paths reach.
  @Test func directoriesMayBeDeep() throws {
    let (fixture, target) = (StateFixture(), Scratch("export"))
    let levels: UInt64 = 3000
    try fixture.run { volume in
      var changes: [StateChange] = []
      var parent = root
      for level in 1...levels {
        let directory = own(node: 100 + level, level)
        let file = own(node: 100_000 + level, 100_000 + level)
        changes += [
          .made(directory, attributes(inode: directory.inode, kind: .directory), target: []),
          .named(directory, name: bytes("d"), in: parent), .made(file, attributes(inode: file.inode), target: []),
          .named(file, name: bytes("z"), in: parent),
        ]
        parent = directory
      }
      try fixture.keep(.together(changes), in: volume)
    }
    let report = try Self.export(fixture, to: target)
    #expect(report.files == Int(levels) && report.directories == Int(levels) && report.skipped == [])
    let check = try fixture.check()
    #expect(check.findings == [] && check.items == 2 * Int(levels) + 1)
  }

  @Test func progressIsTold() throws {
    let (fixture, target) = (StateFixture(), Scratch("export"))
    try fixture.run { volume in
      for number in 1...UInt64(200) {
        let file = own(node: 100 + number, number)
        try fixture.keep(
          .together([
            .made(file, attributes(inode: file.inode), target: []), .named(file, name: bytes("\(number)"), in: root),
          ]), in: volume)
      }
    }
    let descriptor = target.openDirectory()
    defer { close(descriptor) }
    var told: [[Int]] = []
    _ = try StateExport.run(try fixture.directory(.look), to: descriptor, scratch: Scratch.base) {
      told.append([$0, $1])
    }
    #expect(told == [[64, 200], [128, 200], [192, 200]])
  }
}

extension StateExport.Skipped {
  fileprivate var text: String { String(decoding: path, as: UTF8.self) }
}
