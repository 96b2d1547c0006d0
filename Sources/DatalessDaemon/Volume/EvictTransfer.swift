import DatalessControl
import DatalessCore
import SystemPackage

/// `dataless evict`: paths, and directories with all that is below them, children first. Stops at the first refusal and
/// says which item it was; what was evicted before stays evicted.
struct EvictTransfer: Sendable {
  let engine: Engine
  let tally = TransferTally()

  init(engine: Engine) {
    self.engine = engine
  }

  func run(_ paths: [[UInt8]]) async -> TransferResult {
    for path in paths {
      switch engine.resolve(path) {
      case .absent:
        tally.refuse(path, FSError(.noSuchFileOrDirectory, "no such file or directory on this volume"))
        return tally.result
      case .insideDataless: continue
      case .found(let node):
        guard await walk(node) else { return tally.result }
      }
    }
    return tally.result
  }

  private struct Level {
    let directory: NodeID
    var cookie: UInt64 = 0
  }

  /// - Returns: False when it stopped.
  private func walk(_ root: NodeID) async -> Bool {
    guard let item = engine.describe(root) else { return true }
    guard item.attributes.kind == .directory else { return await one(item) }
    var levels = [Level(directory: root)]
    walk: while let level = levels.last {
      if Task.isCancelled { return false }
      for child in engine.children(of: level.directory, after: level.cookie, limit: 256) {
        levels[levels.count - 1].cookie = child.cookie
        let isDirectory = child.item.attributes.kind == .directory
        if isDirectory, child.item.state == "listed" || child.item.state == "materializing" {
          levels.append(Level(directory: child.item.node))
          continue walk
        }
        if !isDirectory, child.item.state != "none", child.item.state != "dataless" {
          guard await one(child.item) else { return false }
        }
      }
      if levels[levels.count - 1].cookie != level.cookie { continue }
      guard let directory = engine.describe(level.directory), await one(directory) else { return false }
      levels.removeLast()
    }
    return true
  }

  private func one(_ item: ItemDescription) async -> Bool {
    let kind: MaterializationKind = item.attributes.kind == .directory ? .directory : .file
    let result = await withCheckedContinuation { continuation in
      engine.evict(item.node, by: "command") { continuation.resume(returning: $0) }
    }
    switch result {
    case .refused(let error):
      tally.refuse(item.path, error)
      return false
    case .evicted(let bytes, let wasResident):
      if wasResident { tally.add(kind, bytes: bytes) }
      return true
    }
  }
}
