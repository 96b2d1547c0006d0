import DatalessCore
@testable import DatalessState
import DatalessStores
import Glibc
import SystemPackage
import Testing

/// A state directory, copied: the copy is one of its own, and what is cut off is none.
@Suite struct StateCopyTests {
  private static func make(_ fixture: StateFixture) throws {
    try fixture.run { volume in
      let file = own(node: 50, 1)
      try fixture.keep(
        .together([.made(file, attributes(inode: file.inode), target: []), .named(file, name: bytes("file"), in: root)]
        ),
        .dirty(of: file, try volume.content.make("made here")),
        .dirty(of: stored("f", node: 51, inode: 11), try volume.content.make("changed")), in: volume)
    }
  }

  private static func copy(
    _ fixture: StateFixture, to target: Scratch,
    _ progress: (Int64, Int64) throws(FSError) -> Void = { (_, _) throws(FSError) in }
  ) throws(FSError) {
    let descriptor = target.openDirectory()
    defer { close(descriptor) }
    try StateCopy.copy(try fixture.directory(.look), to: descriptor, progress: progress)
  }

  private static func exported(_ fixture: StateFixture) throws -> [String] {
    let target = Scratch("export")
    let descriptor = target.openDirectory()
    defer { close(descriptor) }
    _ = try StateExport.run(try fixture.directory(.look), to: descriptor, scratch: Scratch.base)
    return ["file", "f"].map { String(decoding: target.read($0), as: UTF8.self) }
  }

  @Test func aCopyHasWhatIsKept() throws {
    let (fixture, target) = (StateFixture(), Scratch("copy"))
    try Self.make(fixture)
    #expect(try StateCopy.source(of: try fixture.directory(.look), scratch: Scratch.base) == "/source")
    try Self.copy(fixture, to: target)
    let copy = StateFixture(target)
    #expect(try Self.exported(copy) == ["made here", "changed"])
    #expect(try copy.check().findings.isEmpty)
    // Each is changed alone.
    try copy.run { volume in try copy.keep(.unnamed(name: bytes("file"), in: root), in: volume) }
    #expect(try Self.exported(copy).first == "")
    #expect(try Self.exported(fixture) == ["made here", "changed"])
  }

  @Test func itIsToldHowMuchIsCopiedOfAll() throws {
    let (fixture, target) = (StateFixture(), Scratch("copy"))
    try Self.make(fixture)
    var told: [[Int64]] = []
    try Self.copy(fixture, to: target) { told.append([$0, $1]) }
    let all = Int64("made here".utf8.count + "changed".utf8.count)
    #expect(told.last == [all, all])
    #expect(told.map { $0[0] } == told.map { $0[0] }.sorted())
    #expect(told.filter { $0[0] > 0 }.allSatisfy { $0[1] == all })
  }

  @Test func whatIsThereStaysAsItIs() throws {
    let (fixture, target) = (StateFixture(), Scratch("copy"))
    try Self.make(fixture)
    try Self.copy(fixture, to: target)
    let error = #expect(throws: FSError.self) { try Self.copy(fixture, to: target) }
    #expect(error?.errno == .directoryNotEmpty)
  }

  @Test func whatIsCutOffIsNoStateDirectory() throws {
    let (fixture, target) = (StateFixture(), Scratch("copy"))
    try Self.make(fixture)
    let error = #expect(throws: FSError.self) {
      try Self.copy(fixture, to: target) { (_, _) throws(FSError) in throw FSError(.interrupted, "interrupted") }
    }
    #expect(error?.errno == .interrupted)
    let descriptor = target.openDirectory()
    defer { close(descriptor) }
    #expect(try StateFiles(directory: descriptor).names().isEmpty)
    try Self.copy(fixture, to: target)
    #expect(try Self.exported(StateFixture(target)) == ["made here", "changed"])
  }

  /// Whoever mounted it would see everything, and a test of a backup would pass with what the backup has not.
  @Test func aCopyWithSomethingStillToBeDoneIsNotMounted() throws {
    let (fixture, target) = (StateFixture(), Scratch("copy"))
    try Self.make(fixture)
    let descriptor = target.openDirectory()
    defer { close(descriptor) }
    try StateCopy.copy(try fixture.directory(.look), to: descriptor, isFinished: false)
    let copy = StateFixture(target)
    for use in [StateDirectory.Use.keep, .look] {
      #expect(#expect(throws: FSError.self) { try copy.directory(use) }?.errno == .ioError)
    }
    _ = try copy.directory(.repair)
    try StateCopy.finish(descriptor)
    #expect(try Self.exported(copy) == ["made here", "changed"])
    StateCopy.discard(descriptor)
    #expect(try StateFiles(directory: descriptor).names().isEmpty)
  }
}
