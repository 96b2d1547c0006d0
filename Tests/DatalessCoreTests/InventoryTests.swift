@testable import DatalessCore
import Synchronization
import SystemPackage
import Testing

/// What is stored, added up; and what the engine tells of it.
@Suite struct InventoryTests {
  private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  private static let areas = DatalessCore.Areas(Area.ios(in: []))

  private static func item(
    _ node: UInt64, _ path: String, size: Int64, local: Int64 = 0, isDirty: Bool = false, purge: PurgeReason? = nil,
    isTouched: Bool = false, hasOtherNames: Bool = false
  ) -> StoredItem {
    StoredItem(
      node: NodeID(rawValue: node), path: bytes(path), kind: .file, size: size, localBytes: local,
      isResident: local >= size, isDirty: isDirty, purge: purge, isEvictable: false,
      place: areas.place(of: bytes(path)),
      formerArea: nil, isTouched: isTouched, hasOtherNames: hasOtherNames, isUnlisted: false)
  }

  @Test func sumsAreByAreaAndCategory() {
    var inventory = Inventory(Self.areas)
    inventory.add(Self.item(2, "Documents/a", size: 10, local: 4096, isDirty: true, isTouched: true), .included)
    inventory.add(Self.item(3, "Documents/d/b", size: 20), .mark(.excludeItem))
    inventory.add(Self.item(4, "Library/Caches/c", size: 5000, local: 8192, purge: .cache), .area)
    inventory.add(Self.item(5, "else/x", size: 7), .directory(Self.bytes("else")))
    inventory.add(Self.item(6, "else/y", size: 1, hasOtherNames: true), .included)
    inventory.add(Self.item(6, "else/z", size: 1, hasOtherNames: true), .included)
    let total = inventory.total
    #expect(total.files == 5 && total.stored == 5038 && total.local == 12_288 && total.dirty == 10)
    #expect(total.dataless == 28 && total.purgeable == 8192 && total.backedUp == 11 && total.counted == 38)
    let places = inventory.places.map { place, sum in
      "\(place.map { Self.areas.area($0).name } ?? "-") \(sum.files) \(sum.stored)"
    }
    #expect(places == ["Library/Caches 1 5000", "Documents 2 30", "- 2 8"])
    let categories = inventory.categories.map { "\($0.category?.rawValue ?? "-") \($0.sum.stored)" }
    #expect(categories == ["documents 30", "caches 5000", "- 8"])
    let reasons = inventory.exclusions.map { "\($0.reason) \($0.files) \($0.bytes)" }
    #expect(reasons == ["area 1 5000", "directory 1 7", "mark 1 20"])
    #expect(inventory.largest.map(\.item.size) == [5000, 20, 10, 7, 1])
    #expect(inventory.untouched.files == 4 && inventory.untouched.bytes == 5028)
    let tree = inventory.tree.map { "\(String(decoding: $0.path, as: UTF8.self)) \($0.stored)" }
    #expect(tree == ["Library 5000", "Library/Caches 5000", "Documents 30", "Documents/d 20", "else 8"])
  }

  @Test func onlyTheLargestAreTold() {
    var inventory = Inventory(.none)
    for size in 1...100 as ClosedRange<Int64> {
      inventory.add(Self.item(UInt64(size) + 1, "f\(size * 37 % 101)", size: size * 37 % 101), .included)
    }
    #expect(inventory.largest.map(\.item.size) == (81...100).reversed())
    #expect(inventory.total.stored == 5050)
  }

  @Test func whatIsDatalessIsNotCompared() {
    var inventory = Inventory(.none)
    inventory.add(Self.item(2, "a", size: 10, local: 4096), .included)
    inventory.add(Self.item(3, "b", size: 10, local: 4096), .included)
    inventory.add(Self.item(4, "c", size: 10), .included)
    inventory.add(Self.item(5, "d", size: 11), .included)
    inventory.add(Self.item(6, "e", size: 12), .included)
    inventory.add(Self.item(7, "f", size: 12), .included)
    let candidates = inventory.takeCandidates()
    #expect(candidates.map(\.nodes.count) == [2] && candidates.first?.size == 10)
    #expect(inventory.unknown == (3, 34))
    inventory.addEquals(size: 10, paths: [Self.bytes("a"), Self.bytes("b")])
    #expect(inventory.repeated == (1, 10) && inventory.equals.count == 1)
  }

  // MARK: - The engine

  private static let page = EngineFixture.page

  private static func fixture(_ files: [String: Int]) -> EngineFixture {
    let fixture = EngineFixture.limited(nil, files, writing: .scratch)
    var simulation = fixture.engine.simulation
    simulation.areas = areas
    fixture.engine.apply(simulation, restartsClock: false)
    return fixture
  }

  private static func stored(_ path: String, _ fixture: EngineFixture, since: UInt32 = 0) throws -> StoredItem {
    try #require(fixture.engine.storedItems([fixture.node(path)], since: since).first)
  }

  @Test func itemsSayWhereTheyLieAndWereUsed() throws {
    let fixture = Self.fixture(["Documents/a": Self.page, "tmp/b": Self.page, "c": 10])
    for path in ["Documents/a", "tmp/b"] { #expect(fixture.read(path) == nil) }
    fixture.engine.prepareInventory {}
    fixture.lane.runAll()
    let (first, second) = (try Self.stored("Documents/a", fixture), try Self.stored("tmp/b", fixture))
    #expect(first.isEvictable && first.purge == nil && first.isTouched && first.localBytes == Int64(Self.page))
    #expect(second.purge == .temporary && !second.isEvictable)
    let third = try Self.stored("c", fixture)
    #expect(!third.isTouched && !third.isResident)
    let mark = fixture.engine.lastUse
    #expect(fixture.read("c") == nil)
    #expect(!(try Self.stored("tmp/b", fixture, since: mark).isTouched))
    #expect(try Self.stored("c", fixture, since: mark).isTouched)
  }

  @Test func renamesIntoAnotherAreaAreRemembered() throws {
    let fixture = Self.fixture(["Documents/a": 10, "Documents/d/x": 10, "tmp/b": 10])
    let (documents, temporary) = (fixture.node("Documents"), fixture.node("tmp"))
    #expect(fixture.rename("a", in: documents, to: "a", into: temporary) == .ok)
    #expect(fixture.rename("d", in: documents, to: "d2", into: documents) == .ok)
    let moved = try Self.stored("tmp/a", fixture)
    #expect(moved.formerArea == .some(Self.areas.place(of: Self.bytes("Documents"))))
    #expect(try Self.stored("Documents/d2", fixture).formerArea == nil)
    #expect(fixture.rename("a", in: temporary, to: "b", into: documents, []) == .ok)
    #expect(try Self.stored("Documents/b", fixture).formerArea == nil)
    #expect(fixture.rename("b", in: temporary, to: "b", into: .root) == .ok)
    #expect(fixture.rename("b", in: .root, to: "b", into: documents, .exchange) == .ok)
    #expect(try Self.stored("b", fixture).formerArea == .some(Self.areas.place(of: Self.bytes("Documents"))))
  }

  @Test func equalContentHasOneDigest() {
    let fixture = Self.fixture(["a": 10, "b": 10, "c": 10])
    var nodes: [String: NodeID] = [:]
    for (name, byte) in [("x", UInt8(1)), ("y", 1), ("z", 2)] {
      let (done, handle) = fixture.create(name)
      guard let node = done.node else { continue }
      fixture.write([UInt8](repeating: byte, count: 5000), to: node, handle, at: 0)
      fixture.close(node, handle)
      nodes[name] = node
    }
    let digests = ["x", "y", "z"].compactMap { nodes[$0].flatMap { fixture.engine.digest(of: $0) } }
    #expect(digests.count == 3 && digests[0] == digests[1] && digests[0] != digests[2])
    #expect(fixture.engine.digest(of: fixture.node("a")) == nil)
  }

  @Test func totalsAreWhatASweepWouldTake() {
    let fixture = Self.fixture([
      "Documents/a": Self.page, "tmp/b": 2 * Self.page, "Library/Caches/c": 3 * Self.page, "tmp/open": Self.page,
      "dataless": Self.page,
    ])
    for path in ["Documents/a", "tmp/b", "Library/Caches/c"] { #expect(fixture.read(path) == nil) }
    #expect(fixture.read("tmp/open", keepsOpen: true) == nil)
    let answer = Locked(StorageTotals())
    fixture.engine.storageTotals { answer.set($0) }
    fixture.lane.runAll()
    let page = Int64(Self.page)
    #expect(answer.value == StorageTotals(temporary: 2 * page, caches: 3 * page, evictable: page))
    let capacity = StorageCapacity(total: 100 * page, free: 50 * page, totals: answer.value, reserve: page)
    #expect(capacity.important == 56 * page && capacity.opportunistic == 51 * page)
    let full = StorageCapacity(total: 52 * page, free: 0, totals: answer.value, reserve: 90 * page)
    #expect(full.important == 6 * page && full.opportunistic == 0)
  }

  // MARK: - Backup marks

  private static func mark(_ node: NodeID, _ fixture: EngineFixture) -> BackupMark? {
    let answer = Locked<BackupMark?>(nil)
    fixture.engine.backupMark(of: node) { answer.set($0) }
    fixture.lane.runAll()
    return answer.value
  }

  @Test func marksAreTheStoresOrSetHere() throws {
    let fixture = Self.fixture(["Documents/a": 10])
    let node = fixture.node("Documents/a")
    #expect(Self.mark(node, fixture) == nil)
    for (name, value, mark) in [
      (BackupMark.mobileBackup.name, [UInt8(0)], BackupMark?.none), (BackupMark.mobileBackup.name, [1], .mobileBackup),
      (BackupMark.excludeItem.name, Self.bytes("com.apple.backupd"), .excludeItem),
    ] {
      let answer = Locked<FSError?>(nil)
      fixture.engine.setExtendedAttribute(
        name, to: value, how: .any, of: node, by: EngineFixture.maker, waiter: fixture.makeWaiter()
      ) { answer.set($0) }
      fixture.lane.runAll()
      #expect(answer.value == nil)
      #expect(Self.mark(node, fixture) == mark)
    }
    let made = try #require(fixture.makeFile("own").node)
    #expect(Self.mark(made, fixture) == nil)
  }
}

/// A value that a completion sets.
private final class Locked<Value: Sendable>: Sendable {
  private let state: Mutex<Value>
  init(_ value: Value) { state = Mutex(value) }
  func set(_ value: Value) { state.withLock { $0 = value } }
  var value: Value { state.withLock { $0 } }
}
