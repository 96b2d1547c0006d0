import DatalessCore
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import DatalessStores

/// A store that takes over what an earlier run has left, however that run ended and whoever was there since.
@Suite struct ContentAdoptionTests {
  private let scratch = Scratch("adopted")

  private func open(_ capacity: UInt32 = 64) throws(FSError) -> DiskContentStore {
    let parent = Glibc.open(scratch.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer { close(parent) }
    return try DiskContentStore(
      in: parent, path: scratch.filePath, lifetime: .kept, slabCapacity: capacity, places: 4)
  }

  private func full(_ name: String) -> String { scratch.full("content/\(name)") }

  private func bytes(_ size: Int, _ salt: Int) -> [UInt8] {
    (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ salt) | 1 }
  }

  private func put(_ bytes: [UInt8], in store: DiskContentStore) throws(FSError) -> ContentID {
    let writer = try store.makeWriter(size: Int64(bytes.count))
    try writer.write(bytes, at: 0)
    return try writer.commit()
  }

  private func get(_ id: ContentID, from store: DiskContentStore) throws(FSError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0xee, count: Int(try store.size(of: id)))
    return Array(bytes[..<(try store.readBytes(id, &bytes, 0))])
  }

  private func contents(_ store: DiskContentStore) -> [ContentID: Int64] {
    var found: [ContentID: Int64] = [:]
    store.forEachContent { found[$0] = $1 }
    return found
  }

  private func isGone(_ id: ContentID, from store: DiskContentStore) -> Bool {
    thrown { () throws(FSError) in _ = try store.size(of: id) } != nil
  }

  /// Random contents, through several runs of the store, each of which ends without a word.
  @Test(arguments: TestSeed.seeds)
  func everythingIsFoundAgain(seed: UInt64) throws {
    var random = TestRandom(seed: seed)
    var model: [ContentID: [UInt8]] = [:]
    var given: Set<ContentID> = []
    var unfinished: [any ContentWriter] = []
    for run in 0..<6 {
      let store = try open()
      let found = contents(store)
      #expect(found == model.mapValues { Int64($0.count) }, "run \(run), seed \(seed)")
      #expect(store.adoption.contents == model.count && store.adoption.refusedNames.isEmpty, "seed \(seed)")
      for (id, bytes) in model { #expect(try get(id, from: store) == bytes, "run \(run), seed \(seed)") }
      for step in 0..<60 {
        let size = random.element(of: [1, 4096, 20_000, 131_072, 140_000])
        switch random.below(6) {
        case 0 where !model.isEmpty:
          let id = random.element(of: model.keys.sorted { $0.rawValue < $1.rawValue })
          store.remove(id)
          model[id] = nil
        case 1:
          // Never finished; it must not be among what is found, nor its bytes in what comes to its place.
          let writer = try store.makeWriter(size: Int64(size))
          try writer.write(bytes(size, 0xbad), at: 0)
          unfinished.append(writer)
        case 2:
          let id = try store.makeWritable(size: Int64(size), copying: nil)
          #expect(given.insert(id).inserted, "seed \(seed)")
          model[id] = [UInt8](repeating: 0, count: size)
        default:
          // The second half stays a hole.
          let half = bytes((size + 1) / 2, step)
          let writer = try store.makeWriter(size: Int64(size))
          try writer.write(half, at: 0)
          let id = try writer.commit()
          #expect(given.insert(id).inserted, "given twice, run \(run), seed \(seed)")
          model[id] = half + [UInt8](repeating: 0, count: size - half.count)
        }
      }
    }
    for writer in unfinished { _ = withExtendedLifetime(writer) {} }
  }

  @Test func aSessionsStoreIsNotTakenOver() throws {
    let parent = Glibc.open(scratch.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer { close(parent) }
    _ = try open()
    let error = thrown { () throws(FSError) in
      _ = try DiskContentStore(in: parent, path: scratch.filePath, lifetime: .session)
    }
    #expect(error?.errno == .fileExists)
  }

  @Test func whatIsNotOursIsRefusedAndLeftAlone() throws {
    let first = try open()
    let ids = try (0..<7).map { try put(bytes(140_000, $0), in: first) }
    _ = try put(bytes(10, 1), in: first)
    let outside = scratch.full("outside")
    scratch.write("outside", bytes(140_000, 99))
    // A symbolic link, a hard link, a FIFO, a directory, one that others can write to, and one that is whole.
    #expect(unlink(full("0")) == 0 && symlink(outside, full("0")) == 0)
    #expect(unlink(full("1")) == 0 && link(outside, full("1")) == 0)
    #expect(unlink(full("2")) == 0 && mkfifo(full("2"), 0o600) == 0)
    #expect(unlink(full("3")) == 0 && mkdir(full("3"), 0o700) == 0)
    #expect(chmod(full("4"), 0o666) == 0)
    for name in ["notes.txt", "007", "-1", "99999999999999999999", "5.part.part", "slab-x", "slab-70000"] {
      scratch.write("content/\(name)", [1])
    }
    scratch.write("content/8.part", [1])
    #expect(mkdir(full("9.part"), 0o700) == 0)
    scratch.write("content/slab-3", [UInt8](repeating: 0, count: 4096))
    #expect(symlink(outside, full("slab-5")) == 0 && symlink(outside, full("slab-5.table")) == 0)

    let store = try open()
    #expect(store.adoption.unfinished == 1)
    #expect(
      store.adoption.refusedNames.sorted() == [
        "-1", "0", "007", "1", "2", "3", "4", "5.part.part", "9.part", "99999999999999999999", "notes.txt", "slab-3",
        "slab-5", "slab-70000", "slab-x",
      ])
    #expect(store.adoption.contents == 3)
    for id in ids[..<5] { #expect(isGone(id, from: store)) }
    for (salt, id) in ids.enumerated() where salt >= 5 { #expect(try get(id, from: store) == bytes(140_000, salt)) }
    for id in ids { store.remove(id) }
    // What is made now meets none of their names.
    for salt in 0..<20 {
      let id = try put(bytes(140_000, salt), in: store)
      #expect(!ids.contains(id))
      #expect(try get(id, from: store) == bytes(140_000, salt))
    }
    for salt in 0..<40 {
      #expect(try get(try put(bytes(131_072, salt), in: store), from: store) == bytes(131_072, salt))
    }
    #expect(try FilePath(full("")).names().filter { $0 == "notes.txt" || $0 == "1" || $0 == "3" }.count == 3)
    #expect(scratch.status("outside").st_size == 140_000)
  }

  @Test func aDirectoryOfOthersIsNotUsed() throws {
    _ = try open()
    #expect(chmod(scratch.full("content"), 0o777) == 0)
    #expect(thrown { () throws(FSError) in _ = try open() }?.errno == .notPermitted)
    #expect(rename(scratch.full("content"), scratch.full("elsewhere")) == 0)
    #expect(symlink(scratch.full("elsewhere"), scratch.full("content")) == 0)
    #expect(thrown { () throws(FSError) in _ = try open() }?.errno == .notDirectory)
  }

  @Test func aTornSlabKeepsWhatIsWhole() throws {
    let first = try open()
    let ids = try (0..<4).map { try put(bytes(40_000, $0), in: first) }
    // Ten pages each: the slab ends in the middle of the third, its table is cut after the third's entry.
    #expect(truncate(full("slab-0"), 25 * 4096) == 0)
    #expect(truncate(full("slab-0.table"), 21 * 4 + 2) == 0)
    let store = try open()
    #expect(store.adoption.refusedSlots == 1 && store.adoption.contents == 2)
    for (salt, id) in ids.enumerated() {
      if salt < 2 { #expect(try get(id, from: store) == bytes(40_000, salt)) } else { #expect(isGone(id, from: store)) }
    }
    for salt in 0..<4 { #expect(try get(try put(bytes(40_000, salt), in: store), from: store) == bytes(40_000, salt)) }
  }

  /// Nobody knows whose bytes are in slots that were refused: once that is said, they are met no more.
  @Test func refusedSlotsAreForgotten() throws {
    let first = try open()
    let ids = try (0..<3).map { try put(bytes(40_000, $0), in: first) }
    let table = Glibc.open(full("slab-0.table"), O_RDWR)
    defer { close(table) }
    // The first reaches into the second.
    var entry = SlotTable.Entry(size: 80_000, use: 0, isLive: true).rawValue.littleEndian
    #expect(pwrite(table, &entry, 4, 0) == 4)
    let store = try open()
    #expect(store.adoption.refusedSlots == 2 && store.adoption.contents == 1)
    store.dropRefusedSlots()
    let next = try open()
    #expect(next.adoption.refusedSlots == 0 && next.adoption.contents == 1)
    for id in ids[..<2] { #expect(isGone(id, from: next)) }
    #expect(try get(ids[2], from: next) == bytes(40_000, 2))
    for salt in 0..<10 {
      let id = try put(bytes(40_000, salt), in: next)
      #expect(!ids.contains(id))
      #expect(try get(id, from: next) == bytes(40_000, salt))
    }
  }

  @Test(arguments: [0, 1, 4095, 4097]) func aSlabThatIsCutOffIsStillOne(size: Int) throws {
    let first = try open()
    let id = try put(bytes(40_000, 1), in: first)
    #expect(truncate(full("slab-0"), size) == 0)
    let store = try open()
    #expect(store.adoption.refusedNames == [] && isGone(id, from: store))
    #expect(try get(try put(bytes(40_000, 2), in: store), from: store) == bytes(40_000, 2))
  }

  /// A table that anybody has written: whatever is believed of it, no two contents share a page.
  @Test(arguments: TestSeed.seeds)
  func aTableOfNoiseGivesNoPageTwice(seed: UInt64) {
    var random = TestRandom(seed: seed)
    for _ in 0..<500 {
      let capacity = UInt32(1 + random.below(300))
      let isSparse = random.oneIn(2)
      let entries = (0..<random.below(400)).map { _ in
        isSparse && !random.oneIn(20) ? 0 : UInt32(truncatingIfNeeded: random.next())
      }
      let found = FoundSlots(entries, capacity: capacity)
      var allocator = found.allocator
      var owners = Set<UInt32>()
      func own(_ page: UInt32, _ pages: Int) {
        for page in page..<page + UInt32(pages) {
          #expect(page < capacity && owners.insert(page).inserted, "page \(page), seed \(seed)")
        }
      }
      var live = 0
      for page in 0..<capacity where found.table[page].isLive {
        own(page, found.table[page].pages)
        live += 1
      }
      #expect(live == found.live)
      for pages in 1...SlabAllocator.classes {
        while let slot = allocator.allocate(pages) { own(slot.page, pages) }
      }
    }
  }

  /// Each byte of the table changed in turn: what is read is what was written there, or gone, or has another length.
  @Test func aChangedTableNeverMixesContents() throws {
    let first = try open(16)
    for salt in 0..<3 { _ = try put(bytes(5000, salt), in: first) }
    let size = scratch.status("content/slab-0.table").st_size
    for place in 0..<Int(size) {
      let table = Glibc.open(full("slab-0.table"), O_RDWR)
      defer { close(table) }
      var byte: UInt8 = 0
      #expect(pread(table, &byte, 1, place) == 1)
      for flip: UInt8 in [1, 0x40, 0x80, 0xff] {
        var changed = byte ^ flip
        #expect(pwrite(table, &changed, 1, place) == 1)
        let store = try open(16)
        var owners: [Int: Int] = [:]
        store.forEachContent { id, size in
          guard case .slot(_, let page, _) = ContentLocation(id) else { return }
          for index in 0..<ContentLocation.pages(for: size) { owners[Int(page) + index, default: 0] += 1 }
        }
        #expect(owners.values.allSatisfy { $0 == 1 }, "byte \(place)")
      }
      #expect(pwrite(table, &byte, 1, place) == 1)
    }
    #expect(contents(try open(16)).count == 3)
  }
}
