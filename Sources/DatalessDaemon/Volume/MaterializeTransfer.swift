import DatalessControl
import DatalessCore
import SystemPackage

/// `dataless materialize`: paths, and directories with all that is below them. One item's failure does not stop the
/// others.
struct MaterializeTransfer: Sendable {
  let engine: Engine
  let makeWaiter: @Sendable () -> WaiterID
  let tally = TransferTally()

  /// LIMIT: files asked for at once. More would only queue up in memory; a slower store still sees them in parallel.
  private static let concurrencyMax = 64

  init(engine: Engine, makeWaiter: @escaping @Sendable () -> WaiterID) {
    self.engine = engine
    self.makeWaiter = makeWaiter
  }

  /// All directories are listed first: so it is known how much there is, and told with the progress.
  func run(_ paths: [[UInt8]]) async -> TransferResult {
    var survey = Survey()
    var failed: Set<Int> = []
    for (index, path) in paths.enumerated() {
      do {
        try await list(below: try await locate(path), &survey)
      } catch let error as FSError {
        tally.fail(path, error)
        failed.insert(index)
      } catch {
        tally.interrupt(unfinished: paths[...])
        return tally.result
      }
    }
    tally.setTotal(files: survey.files, bytes: survey.bytes)
    for (index, path) in paths.enumerated() where !failed.contains(index) {
      do {
        try Task.checkCancellation()
        try await walk(try await locate(path), survey)
      } catch let error as FSError {
        tally.fail(path, error)
      } catch {
        tally.interrupt(unfinished: paths[index...])
        break
      }
    }
    return tally.result
  }

  /// What there is to be done.
  private struct Survey {
    var files: Int64 = 0
    var bytes: Int64 = 0
    /// Directories that could not be listed, which was said.
    var unlisted: Set<NodeID> = []
    /// Files with several names, which are fetched once.
    private var linked: Set<NodeID> = []

    mutating func add(_ item: ItemDescription) {
      guard item.attributes.kind == .file, item.attributes.size > 0, item.state != "resident",
        item.attributes.linkCount <= 1 || linked.insert(item.node).inserted
      else { return }
      files += 1
      bytes += max(0, item.attributes.size - item.localBytes)
    }
  }

  /// Lists a directory with all that are below it, and counts what is to be fetched.
  private func list(below root: NodeID, _ survey: inout Survey) async throws {
    try Task.checkCancellation()
    guard let item = engine.describe(root) else { return }
    guard item.attributes.kind == .directory else { return survey.add(item) }
    var directories = [root]
    while let directory = directories.popLast() {
      do {
        try await one(directory, .directory, bytes: 0)
      } catch let error as FSError {
        tally.fail(engine.describe(directory)?.path ?? [], error)
        survey.unlisted.insert(directory)
        continue
      }
      let hold = engine.hold(directory)
      defer { withExtendedLifetime(hold) {} }
      var position = DirectoryPosition.start
      // Evicted meanwhile, it is listed again when its files are fetched.
      while case .children(let children) = engine.children(of: directory, after: position, limit: 256),
        let last = children.last
      {
        try Task.checkCancellation()
        position = last.position
        for child in children {
          if child.item.attributes.kind == .directory {
            directories.append(child.item.node)
          } else {
            survey.add(child.item)
          }
        }
      }
    }
  }

  /// Does something with each of some paths, listing the directories on the way to it.
  func forEach(_ paths: [[UInt8]], _ body: (NodeID) throws(FSError) -> Void) async -> TransferResult {
    for (index, path) in paths.enumerated() {
      do {
        try Task.checkCancellation()
        try body(try await locate(path))
      } catch let error as FSError {
        tally.fail(path, error)
      } catch {
        tally.interrupt(unfinished: paths[index...])
        break
      }
    }
    return tally.result
  }

  /// Finds a path, listing the directories on the way.
  private func locate(_ path: [UInt8]) async throws -> NodeID {
    while true {
      switch engine.resolve(path) {
      case .found(let node): return node
      case .absent: throw FSError(.noSuchFileOrDirectory, "no such file or directory on this volume")
      case .insideDataless(let directory, _, _): try await one(directory, .directory, bytes: 0)
      }
    }
  }

  /// Lists a directory.
  func list(_ directory: NodeID) async throws { try await one(directory, .directory, bytes: 0) }

  private func walk(_ root: NodeID, _ survey: Survey) async throws {
    guard let item = engine.describe(root) else { return }
    guard item.attributes.kind == .directory else {
      if item.attributes.kind == .file { try await one(root, .file, bytes: item.attributes.size) }
      return
    }
    var directories = [root]
    while let directory = directories.popLast() {
      try Task.checkCancellation()
      if survey.unlisted.contains(directory) { continue }
      do {
        try await one(directory, .directory, bytes: 0)
      } catch let error as FSError {
        tally.fail(engine.describe(directory)?.path ?? [], error)
        continue
      }
      do {
        directories += try await files(in: directory)
      } catch let error as FSError {
        tally.fail(engine.describe(directory)?.path ?? [], error)
      }
      try Task.checkCancellation()
    }
  }

  /// Materializes the files of a listed directory, several at a time. - Returns: Its directories.
  private func files(in directory: NodeID) async throws -> [NodeID] {
    var directories: [NodeID] = []
    let window = TransferWindow(limit: Self.concurrencyMax)
    let hold = engine.hold(directory)
    defer { withExtendedLifetime(hold) {} }
    try await withTaskCancellationHandler {
      var position = DirectoryPosition.start
      while !Task.isCancelled {
        guard case .children(let children) = engine.children(of: directory, after: position, limit: 256) else {
          // Evicted meanwhile: its names have kept their places.
          guard engine.isDataless(directory) else { break }
          do {
            try await one(directory, .directory, bytes: 0)
          } catch {
            await window.drain()
            throw error
          }
          continue
        }
        guard let last = children.last else { break }
        position = last.position
        for child in children {
          if child.item.attributes.kind == .directory { directories.append(child.item.node) }
          guard child.item.attributes.kind == .file, child.item.state != "resident" else { continue }
          let waiter = makeWaiter()
          guard await window.enter(waiter) else { break }
          start(child.item, waiter: waiter, window: window)
        }
      }
      await window.drain()
    } onCancel: {
      for waiter in window.cancel() { engine.leave(waiter, Self.interrupted) }
    }
    return directories
  }

  private func start(_ item: ItemDescription, waiter: WaiterID, window: TransferWindow) {
    let bytes = item.attributes.size
    let admission = engine.materialize(item.node, request, waiter: waiter) { [tally] result in
      switch result {
      case .ready: tally.add(.file, bytes: bytes)
      // Given up, which is no failure of the item's.
      case .failed(let error): if !window.isCancelled || error.errno != .interrupted { tally.fail(item.path, error) }
      }
      window.leave(waiter)
    }
    switch admission {
    case .parked:
      // Cancelled before it was parked: nobody else ends it.
      if window.isCancelled { engine.leave(waiter, Self.interrupted) }
    case .ready: window.leave(waiter)
    case .failed(let error):
      tally.fail(item.path, error)
      window.leave(waiter)
    }
  }

  /// Materializes one item and counts it, if there was anything to do.
  private func one(_ node: NodeID, _ kind: MaterializationKind, bytes: Int64) async throws {
    try Task.checkCancellation()
    guard engine.isDataless(node) else { return }
    let waiter = makeWaiter()
    let result: WaitResult = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let admission = engine.materialize(node, request, waiter: waiter) { continuation.resume(returning: $0) }
        switch admission {
        case .parked: if Task.isCancelled { engine.leave(waiter, Self.interrupted) }
        case .ready: continuation.resume(returning: .ready)
        case .failed(let error): continuation.resume(returning: .failed(error))
        }
      }
    } onCancel: {
      engine.leave(waiter, Self.interrupted)
    }
    if case .failed(let error) = result {
      if error.errno == .interrupted { try Task.checkCancellation() }
      throw error
    }
    tally.add(kind, bytes: bytes)
  }

  private static let interrupted = FSError(.interrupted, "the command was interrupted")

  private var request: TriggerRequest {
    let caller = Caller(process: .unknown, threadID: 0, pid: 0, isMainThread: false, uid: 0, gid: 0)
    return TriggerRequest(trigger: .command, caller: caller)
  }
}
