import DatalessCore
@testable import DatalessState
import SystemPackage
import TestSupport
import Testing

/// What is written into a row is read back; whatever else is there throws.
@Suite struct RecordTests {
  private static func record(_ random: inout TestRandom) -> ItemRecord {
    var record = ItemRecord()
    if random.oneIn(2) {
      var listed = attributes(inode: random.next(), size: Int64(random.below(1 << 40)))
      listed.modificationTime = Timestamp(
        seconds: Int64.random(in: .min ... .max, using: &random), nanoseconds: 999_999_999)
      record.version = StoreVersion(listed, token: VersionToken((0..<random.below(9)).map { _ in random.byte() }))
    }
    if random.oneIn(2) { record.attributes = attributes(inode: random.next(), kind: .directory, device: .max) }
    record.isDirty = random.oneIn(2)
    record.epoch = Int64(random.below(1000))
    record.target = (0..<random.below(300)).map { _ in UInt8.random(in: 1...255, using: &random) }
    return record
  }

  @Test(arguments: TestSeed.seeds) func whatIsWrittenIsRead(seed: UInt64) throws {
    var random = TestRandom(seed: seed)
    for _ in 0..<500 {
      let record = Self.record(&random)
      #expect(try ItemRecord(decoding: record.encoded(home: 5), home: 5) == record, "seed \(seed)")
    }
  }

  @Test func sourcesOwnDeviceMayHaveAnotherNumberNextTime() throws {
    var record = ItemRecord()
    record.version = StoreVersion(attributes(inode: 9, device: 77))
    let read = try ItemRecord(decoding: record.encoded(home: 77), home: 78)
    #expect(read.version?.device == 78)
  }

  @Test func whatIsCutOffOrChangedThrowsOrIsAnotherRecord() throws {
    try Fuzz.run("records", seed: TestSeed.one, cases: 2000) { random, _ throws in
      var bytes = Self.record(&random).encoded(home: 0)
      switch random.below(3) {
      case 0: bytes.removeLast(1 + random.below(bytes.count))
      case 1: for _ in 0...random.below(4) { bytes[random.below(bytes.count)] = random.byte() }
      default: bytes = (0..<random.below(200)).map { _ in random.byte() }
      }
      guard let read = try? ItemRecord(decoding: bytes, home: 0) else { return }
      let again = try ItemRecord(decoding: read.encoded(home: 0), home: 0)
      #expect(again == read)
    }
  }

  @Test func aByteThatIsAnotherIsNoticed() {
    var random = TestRandom(seed: TestSeed.one)
    for _ in 0..<1000 {
      var bytes = (0..<1 + random.below(200)).map { _ in random.byte() }
      let sum = Checksum.of([.integer(7), .bytes(bytes), .null])
      bytes[random.below(bytes.count)] ^= UInt8(1 << random.below(8))
      #expect(Checksum.of([.integer(7), .bytes(bytes), .null]) != sum)
    }
    #expect(Checksum.of([.bytes([1]), .bytes([2, 3])]) != Checksum.of([.bytes([1, 2]), .bytes([3])]))
    #expect(Checksum.of([.null]) != Checksum.of([.bytes([])]))
  }

  @Test(arguments: ["", ".", "..", "a/b", "/", "a\u{0}b"]) func namesThatLeadElsewhereAreNone(name: String) {
    #expect(throws: Damage.self) { try SavedName.check(bytes(name)) }
    #expect(throws: Damage.self) {
      try ListingPart.decode(
        ListingPart.encode(
          [StoreEntry(name: bytes(name), item: ListedItem(attributes(inode: 1)))], home: 0), home: 0)
    }
  }

  @Test func keysAreMadeOfNames() throws {
    #expect(try SavedName.components(of: []) == [])
    #expect(try SavedName.components(of: bytes("a/b")) == [bytes("a"), bytes("b")])
    for key in ["/a", "a/", "a//b", "a/../b"] {
      #expect(throws: Damage.self) { try SavedName.components(of: bytes(key)) }
    }
    #expect(throws: Damage.self) { try SavedName.check([UInt8](repeating: 1, count: SavedName.lengthMax + 1)) }
  }

  @Test func markersAreReadAsTheyAreWritten() throws {
    let marker = StateMarker.random()
    #expect(try StateMarker(parsing: marker.text) == marker)
    #expect(throws: StateMarker.Failure.newer(9)) {
      try StateMarker(parsing: bytes("dataless state directory\nformat 9\nwhatever"))
    }
    for text in [
      "", "dataless state directory\n", "dataless state directory\nformat 0\nvolume 1\n",
      "dataless state directory\nformat 1\nvolume xyz\n", String(decoding: marker.text.dropLast(), as: UTF8.self),
    ] {
      #expect(throws: StateMarker.Failure.damaged) { try StateMarker(parsing: bytes(text)) }
    }
  }
}
