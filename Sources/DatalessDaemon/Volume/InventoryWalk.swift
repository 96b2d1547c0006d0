import DatalessControl
import DatalessCore
import Synchronization
import SystemPackage

/// Goes through a tree for `dataless inventory`, as far as it is listed. Fetches and lists nothing: where an
/// earlier run has kept content was looked into before (`VolumeBackend.visitContent`).
final class InventoryWalk: Sendable {
  private struct Level {
    let directory: NodeID
    let hold: DirectoryHold
    var position = DirectoryPosition.start
    /// The directory whose mark holds here; nil: none.
    var marked: [UInt8]?
  }

  private let engine: Engine
  private let use: UInt32
  private let counts = Mutex((items: Int64(0), compared: Int64(0)))
  /// nil where a part of the volume is looked at: nobody has counted what is in that.
  private let total: Int64?

  /// - Parameters:
  ///   - use: As `Engine.storedItems`.
  ///   - isWhole: Whether all of the volume is looked at.
  init(engine: Engine, since use: UInt32, isWhole: Bool) {
    self.engine = engine
    self.use = use
    let counts = engine.counts
    total = isWhole ? Int64(counts.files + counts.directories + counts.others) : nil
  }

  var progress: InventoryProgress {
    counts.withLock { InventoryProgress(items: $0.items, comparedBytes: $0.compared, totalItems: total) }
  }

  /// - Parameter path: Of the root of the tree.
  func run(_ root: NodeID, path: [UInt8]) async throws -> Inventory {
    await withCheckedContinuation { continuation in engine.prepareInventory { continuation.resume() } }
    var inventory = Inventory(engine.simulation.areas, root: path)
    let marked = await markAbove(path)
    guard let item = engine.storedItems([root], since: use).first else { return inventory }
    let inherited = await add(item, marked, to: &inventory)
    if item.kind == .directory, !item.isUnlisted { try await walk(root, inherited, inventory: &inventory) }
    try await compare(&inventory)
    return inventory
  }

  /// The first directory above a path that bears a mark.
  private func markAbove(_ path: [UInt8]) async -> [UInt8]? {
    let names = path.split(separator: UInt8(ascii: "/"))
    for count in 0..<names.count {
      let above = Array(names.prefix(count).joined(separator: [UInt8(ascii: "/")]))
      if case .found(let node) = engine.resolve(above), await mark(of: node) != nil { return above }
    }
    return nil
  }

  private func mark(of node: NodeID) async -> BackupMark? {
    await withCheckedContinuation { continuation in
      engine.backupMark(of: node) { continuation.resume(returning: $0) }
    }
  }

  private func walk(_ root: NodeID, _ marked: [UInt8]?, inventory: inout Inventory) async throws {
    func level(_ directory: NodeID, _ marked: [UInt8]?) -> Level {
      Level(directory: directory, hold: engine.hold(directory), marked: marked)
    }
    var levels = [level(root, marked)]
    while let current = levels.last {
      try Task.checkCancellation()
      guard case .children(let page) = engine.children(of: current.directory, after: current.position, limit: 256),
        let last = page.last
      else {
        levels.removeLast()
        continue
      }
      levels[levels.count - 1].position = last.position
      for item in engine.storedItems(page.map(\.item.node), since: use) {
        let inherited = await add(item, current.marked, to: &inventory)
        if item.kind == .directory, !item.isUnlisted { levels.append(level(item.node, inherited)) }
      }
    }
  }

  /// - Returns: The directory whose mark holds for what is in the item.
  private func add(_ item: StoredItem, _ marked: [UInt8]?, to inventory: inout Inventory) async -> [UInt8]? {
    counts.withLock { $0.items += 1 }
    let isInArea = item.place.map { inventory.areas.area($0).isBackedUp } ?? true
    var backup = Inventory.Backup.included
    var inherited = marked
    if let marked {
      backup = .directory(marked)
    } else if item.kind == .directory || isInArea, let mark = await mark(of: item.node) {
      backup = .mark(mark)
      inherited = item.path
    }
    inventory.add(item, isInArea ? backup : .area)
    return inherited
  }

  // MARK: - Equal content

  private func compare(_ inventory: inout Inventory) async throws {
    for candidates in inventory.takeCandidates() {
      var groups: [ContentDigest: [NodeID]] = [:]
      for node in candidates.nodes {
        try Task.checkCancellation()
        let digest = await withCheckedContinuation { continuation in
          engine.digest(of: node) { continuation.resume(returning: $0) }
        }
        counts.withLock { $0.compared += candidates.size }
        if let digest { groups[digest, default: []].append(node) } else { inventory.addUnknown(size: candidates.size) }
      }
      for nodes in groups.values where nodes.count > 1 {
        inventory.addEquals(size: candidates.size, paths: nodes.compactMap { engine.describe($0)?.path }.sorted(by: <))
      }
    }
  }
}

private func < (left: [UInt8], right: [UInt8]) -> Bool { left.lexicographicallyPrecedes(right) }
