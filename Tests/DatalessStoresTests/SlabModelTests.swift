import DatalessCore
@testable import DatalessStores
import Glibc
import SystemPackage
import TestSupport
import Testing

/// Random operations on the content store against a plain model of it: a dictionary of byte arrays.
@Suite struct SlabModelTests {
  /// The seed is printed with each failure.
  private static let seeds = TestSeed.given.map { [$0] } ?? TestSeed.seeds + [2, 3]

  @Test(arguments: seeds)
  func storeAgreesWithItsModel(seed: UInt64) throws {
    let scratch = Scratch("model")
    let session = try SessionDirectory(cache: scratch.filePath, session: "0123456789ab")
    let store = try DiskContentStore(in: session, slabCapacity: 100, places: 3)
    var random = TestRandom(seed: seed)
    var model: [(reference: ContentID, bytes: [UInt8])] = []
    for step in 0..<1000 {
      let note: Comment = "seed \(seed), step \(step)"
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<4:
        if let (reference, bytes) = try write(to: store, &random) {
          #expect(!model.contains { $0.reference == reference }, note)
          model.append((reference, bytes))
        }
      case 4..<6 where !model.isEmpty:
        let (reference, _) = model.remove(at: Int.random(in: 0..<model.count, using: &random))
        store.remove(reference)
      default:
        guard let (reference, bytes) = model.randomElement(using: &random) else { continue }
        let start = Int.random(in: 0..<bytes.count, using: &random)
        let length = Int.random(in: 1...20_000, using: &random)
        var found = [UInt8](repeating: 0xaa, count: length)
        let count = try store.readBytes(reference, &found, Int64(start))
        #expect(count == min(length, bytes.count - start), note)
        // memcmp, because comparing slices takes most of the time of an unoptimized test.
        let difference = bytes.withUnsafeBytes { expected in
          found.withUnsafeBytes { memcmp($0.baseAddress!, expected.baseAddress! + start, count) }
        }
        #expect(difference == 0, note)
      }
    }
    for (reference, _) in model { store.remove(reference) }
    #expect(store.allocatedBytes == 0, "seed \(seed)")
  }

  /// Writes random parts of content of a random size, often at a page boundary; nil if the writer was discarded.
  private func write(
    to store: DiskContentStore, _ random: inout TestRandom
  ) throws -> (ContentID, [UInt8])? {
    let edge = Int.random(in: 1...34, using: &random) * 4096
    let size =
      Bool.random(using: &random)
      ? edge + Int.random(in: -1...1, using: &random) : Int.random(in: 1...200_000, using: &random)
    let writer = try store.makeWriter(size: Int64(size))
    var bytes = [UInt8](repeating: 0, count: size)
    for _ in 0..<Int.random(in: 0...4, using: &random) {
      let start = Int.random(in: 0..<size, using: &random)
      let end = Int.random(in: start...size, using: &random)
      let value = UInt8.random(in: 1...255, using: &random)
      _ = bytes.withUnsafeMutableBytes { memset($0.baseAddress! + start, CInt(value), end - start) }
      try writer.write([UInt8](repeating: value, count: end - start), at: Int64(start))
    }
    if Int.random(in: 0..<5, using: &random) == 0 {
      writer.discard()
      return nil
    }
    return (try writer.commit(), bytes)
  }

  @Test(arguments: seeds)
  func allocatorNeverGivesAPageTwice(seed: UInt64) {
    var random = TestRandom(seed: seed)
    var allocator = SlabAllocator(capacity: 500)
    var owners = [Int](repeating: 0, count: 500)
    var slots: [(page: UInt32, pages: Int)] = []
    for step in 1...20_000 {
      if Bool.random(using: &random), let slot = slots.indices.randomElement(using: &random) {
        let (page, pages) = slots.remove(at: slot)
        for index in Int(page)..<Int(page) + pages { owners[index] = 0 }
        allocator.free(page, pages)
        continue
      }
      let pages = Int.random(in: 1...SlabAllocator.classes, using: &random)
      guard let page = allocator.allocate(pages)?.page else { continue }
      for index in Int(page)..<Int(page) + pages {
        #expect(owners[index] == 0, "seed \(seed), step \(step), page \(index)")
        owners[index] = step
      }
      slots.append((page, pages))
    }
  }

  @Test func threadsShareAStore() throws {
    let scratch = Scratch("threads")
    let session = try SessionDirectory(cache: scratch.filePath, session: "0123456789ab")
    let store = try DiskContentStore(in: session, slabCapacity: 200, places: 4)
    let threads = (0..<4).map { thread in
      OneShot {
        var random = TestRandom(seed: UInt64(thread))
        do {
          for round in 0..<200 {
            let size = Int.random(in: 1...180_000, using: &random)
            let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: thread * 64 + round % 64), count: size)
            let writer = try store.makeWriter(size: Int64(size))
            try writer.write(bytes, at: 0)
            let reference = try writer.commit()
            var found = [UInt8](repeating: 0, count: size)
            #expect(try store.readBytes(reference, &found, 0) == size)
            #expect(found == bytes)
            store.remove(reference)
          }
        } catch {
          Issue.record(error)
        }
      }
    }
    threads.forEach { $0.join() }
    #expect(store.allocatedBytes == 0)
  }
}
