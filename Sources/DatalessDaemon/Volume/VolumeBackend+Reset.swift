import DatalessControl
import DatalessCore
import Synchronization
import SystemPackage

/// `dataless reset`: the volume as freshly mounted, without a mount.
///
/// 1. Nothing has changed yet: refused while something stands in the way. What may be over in a moment is waited
///    for.
/// 2. Pins are taken off, and all that is local is evicted. What is refused ends it; pins are put back then, and what
///    was evicted stays so.
/// 3. From here on it cannot fail: counters, gates, marks and the scenario begin anew, and the record says so.
extension VolumeBackend {
  /// Close(2) returns before RELEASE arrives.
  private static let closeGrace = Nanoseconds.milliseconds(250)
  private static let lookAgain = Nanoseconds.milliseconds(5)
  // LIMIT: names in a refusal.
  private static let namedMax = 10

  func reset(by origin: ChangeOrigin) async throws -> ResetAnswer {
    try checkKind()
    guard volume.isResetting.exchange(true, ordering: .acquiringAndReleasing) == false else {
      throw FSError(.resourceBusy, "another reset is under way")
    }
    defer { volume.isResetting.store(false, ordering: .releasing) }
    try await checkObstacles()
    let counters = volume.counters()
    let evicted = try await evictAll()
    // Who came meanwhile would be in the middle of both.
    try await checkObstacles()
    engine.forgetHistory()
    volume.uses.begin(engine.lastUse)
    await volume.scenario.startAgain(by: origin)
    let reset = VolumeReset(
      files: evicted.files, directories: evicted.directories, bytes: evicted.bytes, by: origin, counters: counters)
    guard let seq = volume.log.recordReset(reset) else {
      throw FSError(.noSpace, "the volume was reset, but the record of it was lost: too many wait for the log")
    }
    return ResetAnswer(seq: seq, files: evicted.files, directories: evicted.directories, bytes: evicted.bytes)
  }

  /// Volumes that a mount would not make fresh either, or that are one command's.
  private func checkKind() throws {
    if volume.configuration.run != nil {
      throw FSError(.notSupported, "a volume of `dataless run` belongs to one command. Run it again")
    }
    if volume.state != nil {
      throw FSError(
        .notSupported, "the volume is kept (--state): what is local outlives a mount. Use a volume without --state")
    }
  }

  /// - Throws: EBUSY, naming what is in the way; after waiting a moment for opens that are being closed, and
  /// for fetches for which nobody waits.
  private func checkObstacles() async throws {
    let deadline = volume.timer.now + Self.closeGrace
    var found = engine.resetObstacles()
    while !found.isEmpty, found.allSatisfy(\.mayPass), volume.timer.now < deadline {
      await volume.pause(Self.lookAgain)
      try Task.checkCancellation()
      found = engine.resetObstacles()
    }
    guard !found.isEmpty else { return }
    throw FSError(.resourceBusy, Self.words(found.map(\.words)))
  }

  private func evictAll() async throws -> TransferResult {
    let pins = engine.policiesOfTheirOwn
    for (node, _) in pins { _ = engine.setPolicy(.inherited, of: node) }
    let transfer = EvictTransfer(engine: engine, stops: false, askedAt: volume.timer.now)
    let result = await transfer.run([[]])
    guard !result.isInterrupted, result.failureCount == 0 else {
      for (node, policy) in pins { _ = engine.setPolicy(policy, of: node) }
      if result.isInterrupted { throw CancellationError() }
      let names = result.failures.map {
        "'\(TerminalText.escaped($0.pathBytes))' (\(TerminalText.harmless($0.message)))"
      }
      throw FSError(.resourceBusy, Self.words(names, more: result.failureCount.minus(Int64(names.count))))
    }
    return result
  }

  private static func words(_ names: [String], more: Int64 = 0) -> String {
    let left = Int64(max(0, names.count - namedMax)) + more
    return "these are in the way: " + names.prefix(namedMax).joined(separator: ", ")
      + (left > 0 ? " and \(left) more" : "")
  }
}

extension ResetObstacle {
  /// Whether it may be over in a moment, without anybody's doing.
  fileprivate var mayPass: Bool {
    switch self {
    case .open, .inFlight(path: _, callers: 0): true
    case .inFlight, .delayed, .dirty, .changes: false
    }
  }

  fileprivate var words: String {
    func quoted(_ path: [UInt8]) -> String { path.isEmpty ? "the root" : "'\(TerminalText.escaped(path))'" }
    switch self {
    case .inFlight(let path, let callers):
      return "\(quoted(path)) (being materialized, \(callers == 1 ? "1 caller waits" : "\(callers) callers wait"))"
    case .delayed(let path): return "\(quoted(path)) (a delayed call waits)"
    case .open(let path, let handles):
      return "\(quoted(path)) (\(handles == 1 ? "1 open handle" : "\(handles) open handles"))"
    case .dirty(let path): return "\(quoted(path)) (written to on the volume: only a new mount forgets that)"
    case .changes(let count):
      return (count == 1 ? "1 change" : "\(count) changes")
        + " of names or attributes on the volume (only a new mount forgets them)"
    }
  }
}
