import DatalessCore
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import DatalessStores

/// Content that is written to and resized, and what an id is worth.
@Suite struct WritableContentTests {
  private let scratch = Scratch("writable")
  private let session: SessionDirectory
  private let store: DiskContentStore

  init() throws {
    session = try SessionDirectory(cache: scratch.filePath, session: "0123456789ab")
    store = try DiskContentStore(in: session, slabCapacity: 64, places: 4)
  }

  private func put(_ bytes: [UInt8]) throws(FSError) -> ContentID {
    let writer = try store.makeWriter(size: Int64(bytes.count))
    try writer.write(bytes, at: 0)
    return try writer.commit()
  }

  private func all(_ id: ContentID) throws(FSError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0xee, count: Int(try store.size(of: id)) + 10)
    return Array(bytes[..<(try store.readBytes(id, &bytes, 0))])
  }

  private func write(_ bytes: [UInt8], to id: ContentID, at offset: Int64) throws(FSError) {
    let writer = try store.rangeWriter(id)
    defer { writer.finish() }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: max(bytes.count, 1), alignment: 16)
    defer { buffer.deallocate() }
    buffer.copyBytes(from: bytes)
    try writer.write(UnsafeRawBufferPointer(rebasing: buffer[..<bytes.count]), at: offset)
  }

  @Test(arguments: [0, 1, 5000, 300_000])
  func writableContentNeverSharesASlab(size: Int64) throws {
    let id = try store.makeWritable(size: size, copying: nil)
    #expect(store.hasOwnFile(id))
    #expect(try store.size(of: id) == size)
    #expect(try all(id) == [UInt8](repeating: 0, count: Int(size)))
    store.remove(id)
    #expect(store.allocatedBytes == 0)
  }

  /// Each file that a program makes begins like this: it is not renamed for it.
  @Test func whatIsEmptyHasItsNameAtOnce() throws {
    let made = try store.makeWritable(size: 0, copying: nil)
    let emptied = try store.makeWritable(size: 0, copying: try put([1, 2, 3]))
    for id in [made, emptied] {
      #expect(store.hasOwnFile(id))
      #expect(try all(id).isEmpty)
      try store.resize(id, to: 2)
      try write([4, 5], to: id, at: 0)
      #expect(try store.size(of: id) == 2 && all(id) == [4, 5])
    }
    #expect(made != emptied)
  }

  @Test(arguments: [1, 4096, 131_072, 131_073])
  func fewBytesThatAreThereAtOnceShareASlab(count: Int) throws {
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 13 | 1) }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
    defer { buffer.deallocate() }
    buffer.copyBytes(from: bytes)
    guard let id = try store.makeFixed(UnsafeRawBufferPointer(buffer)) else {
      #expect(count > 131_072)
      return
    }
    #expect(count <= 131_072 && !store.hasOwnFile(id))
    #expect(try all(id) == bytes)
    store.remove(id)
    #expect(store.allocatedBytes == 0)
  }

  @Test(arguments: [1000, 131_072, 300_000], [0, 500, 131_072, 400_000])
  func aCopyIsItsOwn(original: Int, size: Int64) throws {
    let bytes = (0..<original).map { UInt8(truncatingIfNeeded: $0 &* 13 | 1) }
    let clean = try put(bytes)
    let copy = try store.makeWritable(size: size, copying: clean)
    #expect(store.hasOwnFile(copy))
    let common = min(original, Int(size))
    #expect(try all(copy) == Array(bytes[..<common]) + [UInt8](repeating: 0, count: Int(size) - common))
    if size > 0 { try write([7], to: copy, at: 0) }
    #expect(try all(clean) == bytes, "what is written to a copy must not reach the original")
    store.remove(clean)
    #expect(try store.size(of: copy) == size)
  }

  @Test func resizedContentEndsWhereItIsTold() throws {
    let id = try store.makeWritable(size: 10, copying: nil)
    try write([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], to: id, at: 0)
    try store.resize(id, to: 4)
    #expect(try all(id) == [1, 2, 3, 4])
    try store.resize(id, to: 6)
    #expect(try all(id) == [1, 2, 3, 4, 0, 0], "what was cut off must not come back")
    #expect(thrown { () throws(FSError) in try write([1], to: id, at: 6) }?.errno == .invalidArgument)
    try store.resize(id, to: 1 << 40)
    #expect(try store.size(of: id) == 1 << 40)
    #expect(try store.seek(id, from: 1 << 30, hole: true) == 1 << 30)
    try write([9], to: id, at: 1 << 40 - 1)
    try store.resize(id, to: 0)
    #expect(try all(id).isEmpty)
    #expect(store.allocatedBytes == 0)
  }

  @Test func aWriterUnderWaySeesTheNewSize() throws {
    let id = try store.makeWritable(size: 0, copying: nil)
    let writer = try store.rangeWriter(id)
    let bytes: [UInt8] = [1, 2, 3]
    func write() -> FSError? {
      bytes.withUnsafeBytes { buffer in thrown { () throws(FSError) in try writer.write(buffer, at: 0) } }
    }
    #expect(write()?.errno == .invalidArgument)
    try store.resize(id, to: 3)
    #expect(write() == nil)
    writer.finish()
    #expect(try all(id) == bytes)
  }

  @Test func whatLiesInASlabIsNotResized() throws {
    let id = try put([1, 2, 3])
    for size: Int64 in [0, 2, 5] {
      #expect(thrown { () throws(FSError) in try store.resize(id, to: size) }?.errno == .invalidArgument)
    }
    let own = try store.makeWritable(size: 3, copying: id)
    #expect(thrown { () throws(FSError) in try store.resize(own, to: -1) }?.errno == .invalidArgument)
    #expect(
      thrown { () throws(FSError) in _ = try store.makeWritable(size: -1, copying: nil) }?.errno == .invalidArgument)
    #expect(try all(id) == [1, 2, 3])
    #expect(try all(own) == [1, 2, 3])
  }

  /// No descriptor says whether fsync(2) was called: what can be seen is that it is refused where it must be.
  @Test func contentOfEachKindCanBeFlushed() throws {
    for id in [
      try put([1]), try put([UInt8](repeating: 1, count: 200_000)), try store.makeWritable(size: 0, copying: nil),
    ] {
      for _ in 0..<2 { try store.sync(id) }
      store.remove(id)
      #expect(thrown { () throws(FSError) in try store.sync(id) }?.errno == .ioError)
    }
  }

  @Test(arguments: TestSeed.seeds)
  func theIdOfWhatIsGoneIsNobodyElses(seed: UInt64) throws {
    var random = TestRandom(seed: seed)
    var gone: Set<ContentID> = [.none]
    for _ in 0..<300 {
      let size = random.element(of: [1, 5000, 100_000, 200_000])
      let id =
        random.oneIn(3)
        ? try store.makeWritable(size: Int64(size), copying: nil) : try put([UInt8](repeating: 3, count: size))
      #expect(!gone.contains(id), "given twice, seed \(seed)")
      store.remove(id)
      gone.insert(id)
    }
    var byte: [UInt8] = [0]
    for id in gone {
      #expect(thrown { () throws(FSError) in _ = try store.readBytes(id, &byte, 0) }?.errno == .ioError)
      #expect(thrown { () throws(FSError) in _ = try store.size(of: id) }?.errno == .noSuchFileOrDirectory)
      #expect(thrown { () throws(FSError) in _ = try store.rangeWriter(id) }?.errno == .ioError)
      store.remove(id)
    }
    #expect(store.allocatedBytes == 0)
  }

  @Test(arguments: TestSeed.seeds)
  func noIdTraps(seed: UInt64) {
    var random = TestRandom(seed: seed)
    var byte: [UInt8] = [0]
    for index in 0..<10_000 {
      let id = ContentID(rawValue: index < 64 ? 1 << UInt64(index) : random.next())
      #expect(thrown { () throws(FSError) in _ = try store.readBytes(id, &byte, 0) } != nil, "id \(id), seed \(seed)")
      #expect(!store.isUsedElsewhere(id))
      store.remove(id)
    }
  }

  @Test func aSlotThatIsUsedUpIsLeft() {
    var table = SlotTable()
    for use in 0..<SlotTable.useMax {
      let isSame = table.commit(5, size: 4096).use == use
      #expect(isSame)
      let freed = table.remove(5, use: use)
      #expect(freed?.isUsable == (use < SlotTable.useMax - 1), "use \(use)")
      if table.remove(5, use: use) != nil { Issue.record("removed twice") }
    }
  }
}
