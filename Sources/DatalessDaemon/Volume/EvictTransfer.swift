import DatalessControl
import DatalessCore
import SystemPackage

/// `dataless evict`: paths, and directories with all that is below them, children first.
///
/// One item's refusal does not stop the others, unless that is asked for. A directory that keeps a refused item, at any
/// depth, stays listed and is not refused itself.
struct EvictTransfer: Sendable {
  let engine: Engine
  let tally = TransferTally(failuresMax: .max)
  /// Ends at the first refusal.
  let stops: Bool
  /// Close(2) returns before RELEASE arrives. What was closed before the command is waited for, for the same time in
  /// all: a thousand open files are not a thousand waits.
  private let askedAt: MonotonicTime

  init(engine: Engine, stops: Bool, askedAt: MonotonicTime) {
    self.engine = engine
    self.stops = stops
    self.askedAt = askedAt
  }

  private enum End: Error {
    case stopped
  }

  func run(_ paths: [[UInt8]]) async -> TransferResult {
    let total = count(paths)
    tally.setTotal(files: total.files, bytes: total.bytes)
    var refused: Set<NodeID> = []
    for (index, path) in paths.enumerated() {
      do {
        try Task.checkCancellation()
        switch engine.resolve(path) {
        case .absent:
          try refuse(path, FSError(.noSuchFileOrDirectory, "no such file or directory on this volume"))
        case .insideDataless: continue
        case .found(let node): try await walk(node, &refused)
        }
      } catch is CancellationError {
        tally.interrupt(unfinished: paths[index...])
        break
      } catch {
        break
      }
    }
    return tally.result
  }

  /// Files that have something local, below some paths.
  private func count(_ paths: [[UInt8]]) -> (files: Int64, bytes: Int64) {
    var total: (files: Int64, bytes: Int64) = (0, 0)
    func add(_ item: ItemDescription) {
      guard item.attributes.kind == .file, item.state != "other", item.state != "dataless" else { return }
      total = (total.files + 1, total.bytes + item.localBytes)
    }
    var directories: [NodeID] = []
    for path in paths {
      guard case .found(let node) = engine.resolve(path), let item = engine.describe(node) else { continue }
      if item.attributes.kind == .directory { directories.append(node) } else { add(item) }
    }
    while let directory = directories.popLast() {
      let hold = engine.hold(directory)
      defer { withExtendedLifetime(hold) {} }
      var position = DirectoryPosition.start
      while !Task.isCancelled,
        case .children(let children) = engine.children(of: directory, after: position, limit: 256),
        let last = children.last
      {
        position = last.position
        for child in children {
          if child.item.attributes.kind == .directory { directories.append(child.item.node) } else { add(child.item) }
        }
      }
    }
    return total
  }

  private struct Level {
    let directory: NodeID
    let hold: DirectoryHold
    var position = DirectoryPosition.start
    /// Whether something below was refused.
    var keepsItems = false
  }

  /// - Parameter refused: Files that were refused, which is said once whatever names they have.
  private func walk(_ root: NodeID, _ refused: inout Set<NodeID>) async throws {
    guard let item = engine.describe(root) else { return }
    guard item.attributes.kind == .directory else {
      _ = try await one(item, &refused)
      return
    }
    func level(_ directory: NodeID) -> Level { Level(directory: directory, hold: engine.hold(directory)) }
    var levels = [level(root)]
    walk: while let current = levels.last {
      let page = engine.children(of: current.directory, after: current.position, limit: 256)
      // Dataless by now: so is all that is below it.
      var children: [(position: DirectoryPosition, item: ItemDescription)] = []
      if case .children(let found) = page { children = found }
      for child in children {
        try Task.checkCancellation()
        levels[levels.count - 1].position = child.position
        let isDirectory = child.item.attributes.kind == .directory
        if isDirectory, child.item.state == "listed" || child.item.state == "materializing" {
          levels.append(level(child.item.node))
          continue walk
        }
        if !isDirectory, child.item.state != "other", child.item.state != "dataless" {
          if try await !one(child.item, &refused) { levels[levels.count - 1].keepsItems = true }
        }
      }
      if !children.isEmpty { continue }
      let done = levels.removeLast()
      var isKept = done.keepsItems
      if !isKept, let directory = engine.describe(done.directory) { isKept = try await !one(directory, &refused) }
      if isKept, !levels.isEmpty { levels[levels.count - 1].keepsItems = true }
    }
  }

  /// - Returns: False when it was refused.
  private func one(_ item: ItemDescription, _ refused: inout Set<NodeID>) async throws -> Bool {
    if refused.contains(item.node) { return false }
    let kind: MaterializationKind = item.attributes.kind == .directory ? .directory : .file
    let result = await withCheckedContinuation { continuation in
      engine.evict(item.node, by: "command", askedAt: askedAt) { continuation.resume(returning: $0) }
    }
    switch result {
    case .refused(let refusal):
      refused.insert(item.node)
      try refuse(item.path, refusal.error, reason: refusal.reason.rawValue)
      return false
    case .evicted(let bytes, let wasResident):
      if wasResident { tally.add(kind, bytes: bytes) }
      return true
    }
  }

  private func refuse(_ path: [UInt8], _ error: FSError, reason: String? = nil) throws {
    tally.fail(path, error, reason: reason)
    guard stops else { return }
    tally.stop()
    throw End.stopped
  }
}
