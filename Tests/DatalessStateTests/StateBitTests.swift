import DatalessCore
@testable import DatalessState
import DatalessStores
import Glibc
import SystemPackage
import TestSupport
import Testing

/// A bit that turns in any file of a state directory: nothing traps or hangs, and nothing that was written is lost
/// without a word of `check`.
@Suite struct StateBitTests {
  private static let texts: Set<String> = ["made here", "changed", "renamed", "linked"]

  /// With something of everything, and with what the last commits wrote in the WAL if it is not closed.
  private static func make(isClosed: Bool) throws -> StateFixture {
    let fixture = StateFixture()
    let volume = try fixture.open()
    let directory = try keepSomeFiles(fixture, in: volume)
    let (link, moved) = (own(node: 60, 3), stored("g", node: 53, inode: 12))
    let fetched = stored("d/fetched", node: 54, inode: 14)
    let writer = try volume.content.makeWriter(size: 4)
    try bytes("four").withUnsafeBytes { try writer.write($0, at: 0) }
    try fixture.keep(
      .dirty(of: moved, try volume.content.make("renamed")),
      .together([
        .made(moved, attributes(inode: 12), target: []), .hidden(moved, name: bytes("g"), in: root),
        .named(moved, name: bytes("h"), in: directory),
      ]),
      .together([
        .made(link, attributes(inode: link.inode), target: []), .named(link, name: bytes("one"), in: root),
        .named(link, name: bytes("two"), in: directory),
      ]),
      .dirty(of: link, try volume.content.make("linked")), .content(of: fetched, try writer.commit()),
      .attribute(of: fetched, name: bytes("user.x"), value: bytes("y")), in: volume)
    try volume.keepListing(
      [StoreEntry(name: bytes("d"), item: ListedItem(attributes(inode: 13, kind: .directory)))], of: root)
    fixture.scratch.write("log", bytes("a line\n"))
    if isClosed {
      try volume.close()
    } else {
      // As a process that was killed leaves it.
      let copy = fixture.copy()
      try? volume.close()
      return copy
    }
    return fixture
  }

  /// All that a mount would see, and what it does in the background.
  private static func mount(_ fixture: StateFixture, _ text: String) {
    do {
      let volume = try fixture.open()
      let items = [
        root, stored("d", node: 54, inode: 13, kind: .directory), own(node: 51, 2), stored("d/f", node: 52, inode: 11),
      ]
      for item in items {
        do {
          _ = try volume.saved(of: item)
          _ = try volume.savedItem(item)
          _ = try volume.listing(of: item)
        } catch { #expect(error.errno == .ioError, "\(text): \(error)") }
      }
      _ = try? volume.reconcile()
      try? volume.close()
    } catch {
      let expected: [Errno] = [.ioError, .protocolNotSupported, .readOnlyFileSystem, .invalidArgument]
      #expect(expected.contains(error.errno), "\(text): \(error)")
    }
  }

  private static func exported(_ fixture: StateFixture) throws -> Set<String> {
    let target = Scratch("export")
    let descriptor = target.openDirectory()
    defer { close(descriptor) }
    _ = try StateExport.run(try fixture.directory(.look), to: descriptor, scratch: Scratch.base)
    return Set(target.files().map { String(decoding: target.read($0), as: UTF8.self) })
  }

  /// Files whose bytes have sums, or may be lost: not the bytes of content, which have none.
  private static let files = [
    "catalog.sqlite", "catalog.sqlite-wal", "dataless-state", "lock", "log", "content/slab-0.table",
  ]

  private static let rounds = getenv("DATALESS_STATE_BITS").flatMap { Int(String(cString: $0)) } ?? 2

  @Test(arguments: TestSeed.seeds) func nothingIsLostWithoutAWord(seed: UInt64) throws {
    var random = TestRandom(seed: seed)
    let originals = [try Self.make(isClosed: true), try Self.make(isClosed: false)]
    for round in 0..<Self.rounds {
      for (number, original) in originals.enumerated() {
        for file in Self.files {
          let scratch = Scratch()
          original.scratch.copy(to: scratch)
          var found = scratch.read(file)
          guard !found.isEmpty else { continue }
          var place = random.below(found.count)
          for _ in 0..<200 where found[place] == 0 { place = random.below(found.count) }
          found[place] ^= UInt8(1 << random.below(8))
          scratch.write(file, found)
          let text = "\(file) byte \(place), \(number == 0 ? "closed" : "killed"), round \(round), seed \(seed)"
          let fixture = StateFixture(scratch)
          // Some are looked at as they are, others after a mount that did not know.
          if random.oneIn(2) { Self.mount(fixture, text) }
          try Self.look(fixture, text)
        }
      }
    }
  }

  private static func look(_ fixture: StateFixture, _ text: String) throws {
    let report: StateCheckReport
    do {
      let dry = try fixture.check(isDryRun: true)
      report = try fixture.check()
      #expect(report.findings == dry.findings, "\(text)")
    } catch {
      // The marker, or the number of a format: said, and nothing is changed.
      #expect([.ioError, .protocolNotSupported].contains(error.errno), "\(text): \(error)")
      return
    }
    let again = try fixture.check()
    #expect(again.findings == [], "\(text): \(again.findings)")
    let there = try exported(fixture)
    #expect(there.isSuperset(of: texts), "\(text): \(there), \(report.findings)")
    Self.mount(fixture, text)
  }
}
