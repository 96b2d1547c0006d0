import DatalessCore
@testable import DatalessState
import Glibc
import Synchronization
import Testing

/// What was used least recently goes first, also if that was before the last mount.
@Suite struct KeptUseTests {
  private let source = Scratch("source")
  private let states = StateCopies()

  /// - Parameter bytes: That are to go.
  private func relieve(_ volume: KeptVolume, _ bytes: Int64) -> PressureResult? {
    let result = Mutex<PressureResult?>(nil)
    volume.engine.relieve(PressureSweep(bytes)) { pressure in result.withLock { $0 = pressure } }
    volume.run()
    return result.withLock { $0 }
  }

  /// Opens a file and closes it.
  private func use(_ volume: KeptVolume, _ path: String) {
    let node = volume.node(path)
    #expect(volume.bring(node, .read) == nil)
    switch volume.engine.open(node, process: .unknown, openFlags: 0) {
    case .resident(let handle), .dataless(let handle), .passthrough(_, let handle):
      volume.engine.release(node, handle: handle)
    default: Issue.record("\(path) cannot be opened")
    }
    volume.run()
  }

  private func resident(_ volume: KeptVolume, _ paths: [String]) -> [String] {
    paths.filter { volume.engine.describe(volume.node($0))?.state == "resident" }
  }

  /// - Parameter order: In which the files are read.
  @Test(arguments: [["a", "b", "c", "d"], ["d", "c", "b", "a"], ["c", "a", "d", "b"]])
  func theOrderOfEvictionIsThatOfTheLastUses(order: [String]) throws {
    for name in order { source.write(name, bytes("content of \(name)")) }
    var volume = try KeptVolume(states.next(), source: source)
    // Of several uses the last one counts.
    for name in order.reversed() + order { use(volume, name) }
    let last = volume.engine.lastUse
    try volume.unmount()
    volume = try KeptVolume(states.next(), source: source)
    _ = volume.tree()
    #expect(volume.engine.lastUse == last && volume.fetched.files == 0)
    // A use of this run is later than those before.
    use(volume, order[0])
    #expect(relieve(volume, 1)?.files == 1)
    #expect(Set(resident(volume, order)) == Set(order).subtracting([order[1]]))
    #expect(relieve(volume, 1)?.files == 1)
    #expect(Set(resident(volume, order)) == [order[0], order[3]])
    try volume.unmount()
    volume = try KeptVolume(states.next(), source: source)
    #expect(volume.names("") == order.sorted())
    #expect(relieve(volume, 1)?.files == 1)
    #expect(resident(volume, order) == [order[0]])
    try volume.unmount()
    #expect(try states.next().check().findings == [])
  }

  /// An app's last use is its own, whatever has become of the file.
  @Test(arguments: [false, true]) func theAppThatWasUsedLastIsPurgedLast(isUsedAgain: Bool) throws {
    for app in ["A", "B"] {
      for directory in ["apps", "apps/\(app)", "apps/\(app)/Caches"] { mkdir(source.full(directory), 0o755) }
    }
    source.write("apps/A/Caches/fetched", bytes("fetched"))
    func mount() throws -> KeptVolume {
      try KeptVolume(states.next(), source: source) { configuration in
        let path: [Area.Component] = [.name(bytes("apps")), .any, .name(bytes("Caches"))]
        configuration.simulation.areas = Areas([Area(name: "caches", path: path, category: .caches)])
      }
    }
    var volume = try mount()
    for app in ["A", "B"] { #expect(volume.write("cache of \(app)", to: "apps/\(app)/Caches/made") == nil) }
    if isUsedAgain {
      #expect(volume.read("apps/A/Caches/fetched") == "fetched")
      volume.evict("apps/A/Caches/fetched")
    }
    try volume.unmount()
    volume = try mount()
    for path in ["", "apps", "apps/A", "apps/A/Caches", "apps/B", "apps/B/Caches"] { _ = volume.names(path) }
    #expect(relieve(volume, 1)?.purgedFiles == 1)
    let left = ["A", "B"].filter { volume.find("apps/\($0)/Caches/made").node != nil }
    #expect(left == (isUsedAgain ? ["A"] : ["B"]))
    try volume.unmount()
  }

  /// Records of the first format do not say when something was used, and are read all the same.
  @Test func recordsOfTheFirstFormatAreRead() throws {
    var record = ItemRecord()
    record.attributes = attributes(inode: 7, size: 5)
    record.use = 9
    var bytes = record.encoded(home: 0)
    #expect(try ItemRecord(decoding: bytes, home: 0) == record)
    bytes[0] = 1
    bytes.removeLast(4)
    record.use = 0
    #expect(try ItemRecord(decoding: bytes, home: 0) == record)
  }
}
