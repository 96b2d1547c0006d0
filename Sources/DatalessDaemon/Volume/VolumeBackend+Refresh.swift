import DatalessControl
import DatalessCore
import Synchronization
import SystemPackage

/// `dataless refresh` over the engine.
extension VolumeBackend {
  func refresh(
    _ paths: [[UInt8]], by origin: ChangeOrigin, progress: @escaping @Sendable (RefreshProgress) async throws -> Void
  ) async throws -> RefreshResult {
    let engine = engine
    let followed = try await followed(paths, lists: false)
    let paths = followed.paths
    let running = Mutex<Refresh?>(nil)
    let run: @Sendable () async -> RefreshOutcome = {
      await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          let refresh = engine.refresh(paths, by: origin == .command ? .command : .api) {
            continuation.resume(returning: $0)
          }
          running.withLock { $0 = refresh }
          // Cancelled before there was anything to cancel.
          if Task.isCancelled { refresh.cancel() }
        }
      } onCancel: {
        running.withLock { $0 }?.cancel()
      }
    }
    // Of a part of the volume nobody has counted them.
    let total = paths.contains([]) ? Int64(engine.counts.directoriesListed) : nil
    let soFar: @Sendable () -> RefreshProgress = {
      RefreshProgress(running.withLock { $0?.progress } ?? RefreshCounts(), total: total)
    }
    var outcome = paths.isEmpty ? .nothing : try await withProgress(soFar, progress, run)
    outcome.failures += followed.failures
    outcome.failureCount += Int64(followed.failures.count)
    guard let error = outcome.error else { return RefreshResult(outcome) }
    guard error.errno == .interrupted else { throw error }
    var result = RefreshResult(outcome)
    result.isInterrupted = true
    return result
  }
}

extension RefreshProgress {
  fileprivate init(_ counts: RefreshCounts, total: Int64?) {
    self.init(
      directories: counts.directories,
      entries: counts.added + counts.changed + counts.gone + counts.renamed + counts.kept + counts.unchanged,
      totalDirectories: total)
  }
}

extension RefreshResult {
  init(_ outcome: RefreshOutcome) {
    let counts = outcome.counts
    self.init(
      added: counts.added, changed: counts.changed, gone: counts.gone, renamed: counts.renamed, kept: counts.kept,
      unchanged: counts.unchanged, directories: counts.directories,
      failures: outcome.failures.map {
        PathFailure(path: $0.path, errno: $0.error.errno.name, message: $0.error.message)
      }, failureCount: outcome.failureCount)
  }
}
