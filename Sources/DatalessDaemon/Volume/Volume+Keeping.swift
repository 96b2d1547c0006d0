import DatalessCore
import DatalessState
import Glibc

/// What a volume that is kept does at its beginning and at its end.
extension Volume {
  /// Removes what a crash has left in the state directory, while the volume serves.
  func removeLeftovers() {
    guard let state, !state.wasClean else { return }
    DetachedThread.start {
      // What is left now is found the next time.
      _ = try? state.reconcile()
    }
  }

  /// Has everything on the disk. Nothing is served any more, so that nobody but the next mount waits for it, however
  /// long the disk takes.
  ///
  /// - Returns: Why it could not; nil if it could.
  func closeState() -> FSError? {
    guard let state else { return nil }
    do throws(FSError) {
      try state.close()
      return nil
    } catch {
      // Once more: what was in the way may have been in the way of one write.
      do throws(FSError) {
        try state.close()
        return nil
      } catch {
        let words = "dataless: the last changes could not be kept: \(error.message) (\(error.errno.name))\n"
        _ = Array(words.utf8).withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
        return error
      }
    }
  }

  /// Has all that was changed so far on the disk. - Throws: ENOSPC, EDQUOT, EIO: why it cannot be kept.
  func keepChanges() async throws(FSError) {
    guard let state else { return }
    let failure = await withCheckedContinuation { [engine] continuation in
      engine.synchronize { continuation.resume(returning: $0) }
    }
    guard let failure else { return }
    throw FSError(failure.errno, "\(state.journal.backlog) changes cannot be kept: \(failure.message)")
  }

  /// What should be said of the state directory now.
  var stateWarnings: [String] {
    guard let state, let failure = state.journal.failure else { return [] }
    return [
      "\(state.journal.backlog) changes wait for the disk of the state directory: \(failure.message) (\(failure.errno.name)). "
        + "They are lost if the daemon ends before that is mended."
    ]
  }
}

extension VolumeConfiguration.Writing {
  var ofEngine: EngineConfiguration.Writing {
    switch self {
    case .readOnly: .readOnly
    case .scratch: .scratch
    case .kept: .kept
    }
  }
}
