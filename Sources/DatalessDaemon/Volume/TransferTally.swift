import DatalessControl
import DatalessCore
import Synchronization

/// What a recursive materialization or eviction has done so far; several tasks add to it.
final class TransferTally: Sendable {
  private struct State {
    var files: Int64 = 0
    var directories: Int64 = 0
    var bytes: Int64 = 0
    /// Of all that is to be done; nil while that is not known.
    var total: (files: Int64, bytes: Int64)?
    var failures: [PathFailure] = []
    var failureCount: Int64 = 0
    var refused: PathFailure?
    /// Paths of the request at which it was cut short.
    var unfinished: [[UInt8]] = []
    var isInterrupted = false
  }

  private let failuresMax: Int
  private let state = Mutex(State())

  /// - Parameter failuresMax: LIMIT: failures named one by one; the others are only counted.
  init(failuresMax: Int = 1000) { self.failuresMax = failuresMax }

  func add(_ kind: MaterializationKind, bytes: Int64) {
    state.withLock { state in
      if kind == .file { state.files += 1 } else { state.directories += 1 }
      state.bytes &+= bytes
    }
  }

  /// So much is to be done, what is done included.
  func setTotal(files: Int64, bytes: Int64) { state.withLock { $0.total = (files, bytes) } }

  /// - Parameter reason: The word for a refusal.
  func fail(_ path: [UInt8], _ error: FSError, reason: String? = nil) {
    state.withLock { state in
      state.failureCount += 1
      guard state.failures.count < failuresMax else { return }
      state.failures.append(PathFailure(path: path, errno: error.errno.name, message: error.message, reason: reason))
    }
  }

  /// The last failure is where it ends.
  func stop() {
    state.withLock { $0.refused = $0.failures.last }
  }

  /// It was cut short.
  ///
  /// - Parameter unfinished: The path at which that was, and those it had not come to.
  func interrupt(unfinished: ArraySlice<[UInt8]>) {
    state.withLock { state in
      state.isInterrupted = true
      state.unfinished = Array(unfinished)
    }
  }

  var progress: TransferProgress {
    state.withLock {
      TransferProgress(
        files: $0.files, directories: $0.directories, bytes: $0.bytes, totalFiles: $0.total?.files,
        totalBytes: $0.total?.bytes)
    }
  }

  var result: TransferResult {
    state.withLock { state in
      TransferResult(
        files: state.files, directories: state.directories, bytes: state.bytes, failures: state.failures,
        failureCount: state.failureCount, refused: state.refused, isInterrupted: state.isInterrupted,
        unfinished: state.unfinished)
    }
  }
}
