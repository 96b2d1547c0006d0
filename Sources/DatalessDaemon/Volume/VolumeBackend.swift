import DatalessControl
import DatalessCore
import SystemPackage

/// The control API over the engine: reads snapshots and sends commands; materializes nothing but in `materialize`.
final class VolumeBackend: ControlBackend {
  let volume: Volume
  var engine: Engine { volume.engine }

  init(volume: Volume) {
    self.volume = volume
  }

  func status() async throws -> VolumeStatus {
    var status = volume.status()
    status.coordination = await coordinationInStatus()
    return status
  }

  func items(_ query: ItemQuery) async throws -> ItemPage {
    var walk: ItemWalk
    if let after = query.after {
      guard let resumed = ItemWalk(cursor: after) else {
        throw FSError(.invalidArgument, "'\(after)' is not a cursor of this volume")
      }
      walk = resumed
    } else {
      walk = ItemWalk(root: try known(try await followed([query.path], lists: false).all()[0]))
    }
    return try walk.page(engine, recursive: query.recursive, limit: max(1, min(query.limit, ItemQuery.limitMax)))
  }

  /// The node of a path, if the namespace knows it without listing anything.
  func known(_ path: [UInt8]) throws(FSError) -> NodeID {
    switch engine.resolve(path) {
    case .found(let node): return node
    case .absent:
      throw FSError(.noSuchFileOrDirectory, "no '\(String(decoding: path, as: UTF8.self))' on this volume")
    case .insideDataless(_, let directory, _):
      let name = directory.isEmpty ? "the volume's root" : "'\(String(decoding: directory, as: UTF8.self))'"
      throw FSError(
        .noSuchFileOrDirectory,
        "cannot tell what '\(String(decoding: path, as: UTF8.self))' is: \(name) is a dataless directory. "
          + "Look into it first, as `ls` does, or name the directory itself")
    }
  }

  func materialize(
    _ paths: [[UInt8]], progress: @escaping @Sendable (TransferProgress) async throws -> Void
  ) async throws -> TransferResult {
    let transfer = MaterializeTransfer(engine: engine, makeWaiter: { [volume] in volume.adapter.makeWaiter() })
    let followed = try await followed(paths, lists: true)
    return try await withProgress({ transfer.tally.progress }, progress) { await transfer.run(followed.paths) }
      .adding(followed.failures)
  }

  func evict(
    _ paths: [[UInt8]], stops: Bool, progress: @escaping @Sendable (TransferProgress) async throws -> Void
  ) async throws -> TransferResult {
    let followed = try await followed(paths, lists: false)
    let paths = stops && !followed.failures.isEmpty ? [] : followed.paths
    let nothing = TransferProgress(files: 0, directories: 0, bytes: 0)
    try await withProgress({ nothing }, progress) { [self] in await visitContent(of: paths) }
    let question = await volume.coordination.askBeforeEviction(of: paths)
    defer { volume.coordination.endEviction(question) }
    // Now: a presenter that was asked may close its file because of that, and a visit may take long.
    let transfer = EvictTransfer(engine: engine, stops: stops, askedAt: volume.timer.now)
    return try await withProgress({ transfer.tally.progress }, progress) { await transfer.run(paths) }
      .adding(followed.failures)
  }

  /// Runs long work and tells its progress twice a second.
  func withProgress<Progress: Sendable, Result: Sendable>(
    _ state: @escaping @Sendable () -> Progress, _ progress: @escaping @Sendable (Progress) async throws -> Void,
    _ body: @escaping @Sendable () async throws -> Result
  ) async throws -> Result {
    try await withThrowingTaskGroup(of: Result?.self) { group in
      group.addTask { try await body() }
      group.addTask { [volume] in
        while !Task.isCancelled {
          await volume.pause(.milliseconds(500))
          if !Task.isCancelled { try await progress(state()) }
        }
        return nil
      }
      defer { group.cancelAll() }
      while let finished = try await group.next() {
        if let finished { return finished }
      }
      throw CancellationError()
    }
  }

  func mark(_ label: String) async throws -> SequenceAnswer {
    guard let seq = volume.log.mark(label: label, counters: volume.counters()) else {
      throw FSError(.noSpace, "the mark was lost: too many records wait for the log. Try again")
    }
    volume.uses.set(label, engine.lastUse)
    return SequenceAnswer(seq: seq)
  }

  func flushLog() async throws -> FlushAnswer {
    volume.engine.recordOpenHandles()
    volume.log.recordCounters(volume.counters())
    let flushed = await volume.log.flush()
    return FlushAnswer(log: volume.configuration.log, lost: Int64(clamping: flushed.lost))
  }

  func events() async throws -> AsyncStream<[UInt8]> { volume.log.subscribe() }

  func runFinished(_ request: RunFinishedRequest) async throws -> RunFinishedAnswer {
    guard volume.configuration.run != nil else {
      throw ControlFailure(
        status: 409, code: "busy", errno: "EINVAL", message: "this volume was not made by 'dataless run'")
    }
    let budget = volume.budgetStatus()
    let rules = volume.ruleCounts()
    let seq = volume.log.recordRunFinished(
      RunEnd(request), budgets: Volume.budgetValue(budget), rules: LogValue(rules),
      children: request.children.map(LogValue.init))
    guard let seq else { throw FSError(.noSpace, "the record was lost: too many wait for the log") }
    return RunFinishedAnswer(seq: seq, budget: budget, rules: rules)
  }

  func changesAtEnd() async throws -> (dropped: ChangeCounts?, kept: ChangeCounts?) {
    guard volume.state != nil else { return (volume.changes, nil) }
    try await volume.keepChanges()
    return (nil, volume.changes)
  }

  func unmount() async { volume.requestEnd(reason: "unmount_command") }
}
