@testable import DatalessCore
import Glibc
import Synchronization
import SystemPackage
import Testing

/// Names that come and go for ever, on a tree that is computed and another one at each look: memory stays where it was.
///
/// `DATALESS_NAMES=N` says how many names (default 100,000; `make names`: 100 million).
@Suite struct ManyNamesTests {
  private static let atOnce = 20_000
  private static let wanted = getenv("DATALESS_NAMES").flatMap { Int(String(cString: $0)) }
  private static let total = wanted ?? 100_000

  @Test func namesThatComeAndGoLeaveMemoryWhereItWas() throws {
    let store = ChangingStore(count: Self.atOnce)
    let lane = ManualLane()
    let engine = Engine(
      configuration: EngineConfiguration(), store: .blocking(store), content: MemoryContentStore(),
      timer: ManualTimer(),
      blocking: lane, metadata: lane, kernel: DeafKernel(), events: NoEvents(), signals: ScriptedSignals(),
      processes: ScriptedProcesses())
    func list() {
      let request = TriggerRequest(trigger: .readdir, caller: EngineFixture.caller())
      _ = engine.materialize(.root, request, waiter: WaiterID(rawValue: 1), completion: { _ in })
      lane.runAll()
    }
    func change() {
      store.round.add(1, ordering: .relaxed)
      engine.refresh([[]], by: .command) { _ in }
      lane.runAll()
      // The kernel asks for some of them, and gives them back after they are gone.
      let name = store.name(7)
      let found = name.withUnsafeBufferPointer { engine.lookup($0, in: .root) }
      if case .found(let item) = found { given.append(item.node) }
      engine.forget(given.dropLast(2).map { (node: $0, count: UInt64(1)) })
      given = given.suffix(2)
      lane.runAll()
    }
    var given: [NodeID] = []
    list()
    // All that is allocated once.
    for _ in 0..<4 { change() }
    let (before, memory) = (Self.places(engine), try Self.residentKilobytes())
    var count = 4 * Self.atOnce
    var most = memory
    while count < Self.total {
      change()
      count += Self.atOnce
      if count % 10_000_000 < Self.atOnce {
        most = max(most, try Self.residentKilobytes())
        print("\(count) names: \(try Self.residentKilobytes()) KiB, \(Self.places(engine))")
      }
    }
    let (after, now) = (Self.places(engine), try Self.residentKilobytes())
    #expect(after.nodes <= before.nodes + 16 && after.names <= before.names + 16, "\(before), then \(after)")
    #expect(engine.counts.files == Self.atOnce)
    // Of 20,000 names each time, which are about 4 MB. Beside other tests the process' memory is not this one's alone.
    if Self.wanted != nil { #expect(now <= memory + 8192, "\(memory) KiB, then \(now), at most \(most)") }
  }

  private static func places(_ engine: Engine) -> (nodes: UInt32, names: UInt32) {
    engine.state.withLock { ($0.namespace.nodeEnd, $0.namespace.nameEnd) }
  }

  private static func residentKilobytes() throws -> Int {
    let file = try #require(fopen("/proc/self/statm", "r"))
    defer { fclose(file) }
    var text = [CChar](repeating: 0, count: 256)
    _ = fgets(&text, 255, file)
    let fields = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }.split(separator: UInt8(ascii: " "))
    return try #require(fields.count > 1 ? Int(String(decoding: fields[1], as: UTF8.self)) : nil) * 4
  }
}

/// A store whose root has so many files, all of them others in each round, with names of different lengths.
private final class ChangingStore: BackingStore {
  let root = ItemAttributes.directory(inode: 1)
  let sourceName = "changing"
  let isFastLocal = true
  let round = Atomic<Int>(0)
  private let count: Int

  init(count: Int) { self.count = count }

  func name(_ index: Int) -> [UInt8] {
    let number = round.load(ordering: .relaxed) * count + index
    // 8 to 39 bytes.
    let length = 8 + (number &* 2_654_435_761) >> 7 & 31
    var name = [UInt8](repeating: UInt8(ascii: "n"), count: length)
    var rest = number
    for place in 0..<8 {
      name[place] = UInt8(ascii: "a") + UInt8(rest & 15)
      rest >>= 4
    }
    return name
  }

  func list(_ directory: StoreBinding, into sink: (ListingBatch) throws(FSError) -> Void) throws(FSError) {
    let first = UInt64(round.load(ordering: .relaxed) * count)
    var batch = ListingBatch()
    for index in 0..<count {
      batch.append(name(index), .file(inode: 100 + first + UInt64(index), size: 10))
      guard batch.isFull else { continue }
      try sink(batch)
      batch.removeAll()
    }
    if !batch.isEmpty { try sink(batch) }
  }

  func open(_ file: StoreBinding) throws(FSError) -> any StoreContent { throw FSError(.ioError, "it has no content") }
  func readLink(_ link: StoreBinding) throws(FSError) -> [UInt8] { throw FSError(.invalidArgument, "no link") }
  func extendedAttribute(_ name: [UInt8], of item: StoreBinding) throws(FSError) -> [UInt8] {
    throw FSError(.noData, "no attribute")
  }
  func extendedAttributeNames(of item: StoreBinding) throws(FSError) -> [[UInt8]] { [] }
}

/// Takes all and remembers nothing.
private final class DeafKernel: KernelCache {
  func invalidateAttributes(of node: NodeID) -> Bool { true }
  func expireNames() {}
  func invalidateContent(of node: NodeID, completion: @escaping @Sendable (Bool) -> Void) { completion(true) }
  func invalidateDirectory(
    _ node: NodeID, names: @escaping @Sendable () -> [[UInt8]], completion: @escaping @Sendable () -> Void
  ) { completion() }
}

private struct NoEvents: EventSink {
  func record(_ event: Event) {}
}
