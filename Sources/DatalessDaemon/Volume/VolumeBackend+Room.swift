import DatalessControl
import DatalessCore
import SystemPackage

/// Pins, and a disk that gets full.
extension VolumeBackend {
  func pin(_ paths: [[UInt8]], policy: ContentPolicy) async throws -> TransferResult {
    try await setPolicies(paths) { [engine] in engine.setPolicy(policy, of: $0) }
  }

  func unpin(_ paths: [[UInt8]]) async throws -> TransferResult {
    try await setPolicies(paths) { [engine] in engine.unpin($0) }
  }

  private func setPolicies(
    _ paths: [[UInt8]], _ set: @escaping @Sendable (NodeID) -> FSError?
  ) async throws -> TransferResult {
    let followed = try await followed(paths, lists: true)
    let transfer = MaterializeTransfer(engine: engine, makeWaiter: { [volume] in volume.adapter.makeWaiter() })
    return await transfer.forEach(followed.paths) { [engine] node throws(FSError) in
      if let error = set(node) { throw error }
      guard let kind = engine.describe(node)?.attributes.kind else { return }
      transfer.tally.add(kind == .directory ? .directory : .file, bytes: 0)
    }.adding(followed.failures)
  }

  func press(
    _ bytes: Int64, progress: @escaping @Sendable (TransferProgress) async throws -> Void
  ) async throws -> TransferResult {
    let sweep = PressureSweep(bytes)
    let soFar: @Sendable () -> TransferProgress = {
      TransferProgress(files: sweep.soFar.files, directories: 0, bytes: sweep.soFar.bytes)
    }
    return try await withProgress(soFar, progress) { [engine] in
      let result = await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          engine.relieve(sweep) { continuation.resume(returning: $0) }
        }
      } onCancel: {
        sweep.stop()
      }
      var answer = TransferResult(
        files: result.files, directories: 0, bytes: result.bytes,
        isInterrupted: sweep.isStopped && result.bytes < bytes)
      (answer.purgedFiles, answer.purgedBytes) = (result.purgedFiles, result.purgedBytes)
      answer.lostBytes = result.lostBytes
      return answer
    }
  }
}
