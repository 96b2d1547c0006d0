import DatalessCore
@testable import DatalessStores
import Glibc
import SystemPackage
import Testing

@Suite struct DiskContentStoreTests {
  private let scratch = Scratch("cache")
  private let session: SessionDirectory
  private let store: DiskContentStore
  private static let limit = Int(ContentLocation.slabLimit)

  init() throws {
    session = try SessionDirectory(cache: scratch.filePath, session: "0123456789ab")
    store = try DiskContentStore(in: session, slabCapacity: 64, places: 4)
  }

  private func pattern(_ count: Int, _ salt: Int = 1) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: ($0 &* 31 &+ salt) ^ ($0 >> 8)) }
  }

  private func put(_ bytes: [UInt8]) throws(FSError) -> ContentID {
    let writer = try store.makeWriter(size: Int64(bytes.count))
    try writer.write(bytes, at: 0)
    return try writer.commit()
  }

  private func get(_ reference: ContentID, _ size: Int, _ range: Range<Int>? = nil) throws(FSError) -> [UInt8] {
    let range = range ?? 0..<size
    var bytes = [UInt8](repeating: 0xee, count: range.count)
    let count = try store.readBytes(reference, &bytes, Int64(range.lowerBound))
    return Array(bytes[..<count])
  }

  private var contentFiles: [String] {
    let directory = scratch.full("0123456789ab/content")
    return try! FilePath(directory).names().sorted()
  }

  @Test(arguments: [1, 4095, 4096, 4097, 100_000, 131_072, 131_073, 1_000_003])
  func roundTrip(size: Int) throws {
    let bytes = pattern(size)
    let reference = try put(bytes)
    #expect(try get(reference, size) == bytes)
    #expect(try get(reference, size, size / 2..<size / 2 + 10) == Array(bytes[(size / 2)...].prefix(10)))
    #expect(try get(reference, size, size..<size + 5).isEmpty)
    #expect(store.allocatedBytes >= Int64(size))
    let descriptor = try store.openDescriptor(reference)
    #expect((descriptor != nil) == (size > Self.limit))
    if let descriptor {
      var status = stat()
      #expect(fstat(descriptor, &status) == 0)
      #expect(Int(status.st_size) == size)
      close(descriptor)
    }
    store.remove(reference)
    #expect(store.allocatedBytes == 0)
  }

  @Test(arguments: [100_000, 10_000_000])
  func unwrittenRangesReadAsZeros(size: Int) throws {
    // First with content, so that a slot or a number is used twice.
    store.remove(try put(pattern(size)))
    let writer = try store.makeWriter(size: Int64(size))
    try writer.write([1, 2, 3], at: Int64(size / 2))
    let reference = try writer.commit()
    var expected = [UInt8](repeating: 0, count: size)
    expected.replaceSubrange(size / 2..<size / 2 + 3, with: [1, 2, 3])
    #expect(try get(reference, size) == expected)
    if size > Self.limit { #expect(store.allocatedBytes < 1 << 20) }
  }

  @Test(arguments: [50_000, 5_000_000])
  func seekTellsDataFromHoles(size: Int) throws {
    let writer = try store.makeWriter(size: Int64(size))
    try writer.write([1], at: 0)
    let reference = try writer.commit()
    #expect(try store.seek(reference, from: 0, hole: false) == 0)
    let hole = try store.seek(reference, from: 0, hole: true)
    #expect(hole > 0 && hole <= size)
    let error = thrown { () throws(FSError) in
      _ = try store.seek(reference, from: Int64(size), hole: false)
    }
    #expect(error?.errno == .noSuchAddressOrDevice)
    guard hole < size else { return }
    let last = thrown { () throws(FSError) in
      _ = try store.seek(reference, from: hole, hole: false)
    }
    #expect(last?.errno == .noSuchAddressOrDevice)
    #expect(try store.seek(reference, from: hole, hole: true) == hole)
  }

  @Test(arguments: [60_000, 3_000_000])
  func copiesFromADescriptor(size: Int) throws {
    let bytes = scratch.write("f", pattern(size))
    let file = open(scratch.full("f"), O_RDONLY)
    defer { close(file) }
    let writer = try store.makeWriter(size: Int64(size))
    #expect(try writer.copy(from: file, range: 0..<Int64(size / 2)) == Int64(size / 2))
    #expect(try writer.copy(from: file, range: Int64(size / 2)..<Int64(size)) == Int64(size - size / 2))
    #expect(try get(try writer.commit(), size) == bytes)
    // A source that ends early is no error: the engine sees it from the count.
    let short = try store.makeWriter(size: Int64(size + 1000))
    #expect(try short.copy(from: file, range: 0..<Int64(size + 1000)) == Int64(size))
    short.discard()
  }

  /// /proc files have no size and no in-kernel copy; a pipe-like source must fall back to reading.
  @Test func copyFallsBackToReading() throws {
    let file = open("/proc/self/maps", O_RDONLY)
    defer { close(file) }
    let writer = try store.makeWriter(size: 1 << 20)
    let count = try writer.copy(from: file, range: 0..<1 << 20)
    #expect(count > 0)
    writer.discard()
  }

  @Test func cloneSaysWhetherItWorked() throws {
    let bytes = scratch.write("f", pattern(200_000))
    let file = open(scratch.full("f"), O_RDONLY)
    defer { close(file) }
    let writer = try store.makeWriter(size: 200_000)
    if writer.clone(from: file) {
      #expect(try get(try writer.commit(), 200_000) == bytes)
    } else {
      let reference = try writer.commit()
      #expect(try get(reference, 200_000) == [UInt8](repeating: 0, count: 200_000))
    }
    let small = try store.makeWriter(size: 1000)
    #expect(!small.clone(from: file))
    small.discard()
  }

  @Test func nothingUnfinishedIsLeft() throws {
    for size in [1000, 200_000] {
      let writer = try store.makeWriter(size: Int64(size))
      try writer.write(pattern(size), at: 0)
      writer.discard()
      writer.discard()
      #expect(thrown { () throws(FSError) in try writer.write([1], at: 0) }?.errno == .invalidArgument)
      #expect(thrown { () throws(FSError) in _ = try writer.commit() }?.errno == .invalidArgument)
      do {
        let dropped = try store.makeWriter(size: Int64(size))
        try dropped.write([1], at: 0)
      }
    }
    #expect(contentFiles == ["slab-0"])
    #expect(store.allocatedBytes == 0)
  }

  @Test func unfinishedContentHasAnotherName() throws {
    let writer = try store.makeWriter(size: 200_000)
    #expect(contentFiles == ["0.part"])
    _ = try writer.commit()
    #expect(contentFiles == ["0"])
  }

  @Test func writesBeyondTheEndAreRefused() throws {
    for size in [1000, 200_000] {
      let writer = try store.makeWriter(size: Int64(size))
      let error = thrown { () throws(FSError) in try writer.write([1, 2], at: Int64(size - 1)) }
      #expect(error?.errno == .invalidArgument)
    }
  }

  @Test func fullSlabsAreFollowedByOthers() throws {
    // 64 pages hold two slots of 32.
    let references = try (0..<5).map { try put(pattern(Self.limit, $0)) }
    #expect(contentFiles == ["slab-0", "slab-1", "slab-2"])
    for (salt, reference) in references.enumerated() {
      #expect(try get(reference, Self.limit) == pattern(Self.limit, salt))
    }
    for reference in references { store.remove(reference) }
    _ = try (0..<6).map { try put(pattern(Self.limit, $0)) }
    #expect(contentFiles == ["slab-0", "slab-1", "slab-2"])
  }

  @Test func removingGivesTheSpaceBack() throws {
    let references = try (0..<2).map { try put(pattern(Self.limit, $0)) }
    let slab = scratch.full("0123456789ab/content/slab-0")
    func blocks() -> Int {
      var status = stat()
      return stat(slab, &status) == 0 ? Int(status.st_blocks) * 512 : -1
    }
    #expect(blocks() >= 2 * Self.limit)
    for reference in references { store.remove(reference) }
    #expect(blocks() < Self.limit)
  }

  @Test func descriptorsAreBounded() throws {
    let references = try (0..<20).map { try put(pattern(150_000, $0)) }
    for (salt, reference) in references.enumerated() {
      #expect(try get(reference, 150_000, 0..<100) == Array(pattern(150_000, salt)[..<100]))
      #expect(store.openDescriptors <= 4)
    }
    for reference in references { store.remove(reference) }
    #expect(store.openDescriptors == 0)
    #expect(contentFiles.isEmpty)
  }

  @Test func readersRaceWithReplacementOfTheirDescriptor() throws {
    let references = try (0..<12).map { try put(pattern(150_000, $0)) }
    let (store, expected) = (store, (0..<12).map { pattern(150_000, $0) })
    let threads = (0..<4).map { thread in
      OneShot {
        for round in 0..<300 {
          let index = (round * 7 + thread * 5) % 12
          var bytes = [UInt8](repeating: 0, count: 100)
          let count = try? store.readBytes(references[index], &bytes, 1000)
          #expect(count == 100)
          #expect(bytes == Array(expected[index][1000..<1100]))
        }
      }
    }
    threads.forEach { $0.join() }
  }

  @Test func mappingsOfAContentFileAreSeen() throws {
    let slot = try put(pattern(1000))
    #expect(!store.hasOwnFile(slot))
    #expect(!store.isUsedElsewhere(slot))
    let reference = try put(pattern(200_000))
    #expect(store.hasOwnFile(reference))
    #expect(!store.isUsedElsewhere(reference))
    let descriptor = try #require(try store.openDescriptor(reference))
    let mapping = mmap(nil, 4096, PROT_READ, MAP_SHARED, descriptor, 0)
    close(descriptor)
    #expect(mapping != MAP_FAILED)
    #expect(store.isUsedElsewhere(reference))
    munmap(mapping, 4096)
    #expect(!store.isUsedElsewhere(reference))
  }

  @Test func idsSurviveTheirRoundTrip() {
    for location: ContentLocation in [
      .slot(slab: 0, page: 0, use: 0), .slot(slab: .max, page: .max, use: SlotTable.useMax), .file(0),
      .file(ContentLocation.numberMax), .file(7), .slot(slab: 1, page: 2, use: 3),
    ] {
      #expect(ContentLocation(location.id) == location)
      #expect(location.id != .none)
    }
    #expect(ContentLocation(.none) == nil)
  }
}
