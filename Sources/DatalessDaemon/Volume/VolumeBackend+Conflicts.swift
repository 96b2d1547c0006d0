import DatalessControl
import DatalessCore
import SystemPackage

/// `dataless conflicts` over the engine.
extension VolumeBackend {
  // LIMIT: conflicts, and failures, that one answer names.
  private static let conflictsMax = 10_000
  private static let failuresMax = 1_000

  func conflicts(_ paths: [[UInt8]], keep choice: ConflictChoice?) async throws -> ConflictAnswer {
    await visited()
    var answer = ConflictAnswer()
    if let choice {
      let result = await withCheckedContinuation { [engine] continuation in
        engine.resolveConflicts(
          at: paths, choice,
          barrier: { path in
            do {
              return try crossing(path)
            } catch {
              return FSError(.ioError, "the mount table cannot be read: \(error)")
            }
          }, completion: { continuation.resume(returning: $0) })
      }
      // What is told as resolved is so after a crash, too.
      try await volume.keepChanges()
      answer.resolved = result.resolved.prefix(Self.conflictsMax).map { ResolvedItem($0) }
      answer.resolvedCount = Int64(result.resolved.count)
      answer.failures = result.failures.prefix(Self.failuresMax).map { path, error in
        PathFailure(path: path, errno: error.errno.name, message: error.message)
      }
      answer.failureCount = Int64(result.failures.count)
    }
    let left = engine.conflicts(at: paths)
    answer.conflicts = left.prefix(Self.conflictsMax).map { ConflictItem($0) }
    answer.count = Int64(left.count)
    return answer
  }

  // LIMIT: what is looked for after a mount is waited for so long; a store may hang.
  private static let visitLimit = Nanoseconds.seconds(5)

  /// Waits until what an earlier run has kept is found.
  private func visited() async {
    let pause = OneShotWait()
    await withCheckedContinuation { continuation in
      pause.begin(continuation)
      volume.timer.schedule(at: volume.timer.now + Self.visitLimit) { pause.end() }
      engine.whenVisited { pause.end() }
    }
  }
}

extension ConflictItem {
  init(_ conflict: ConflictDescription) {
    self.init(
      path: conflict.path, conflict: conflict.kind.rawValue, mine: conflict.mine.map { ConflictSide($0) },
      theirs: conflict.theirs.map { ConflictSide($0) })
  }
}

extension ConflictSide {
  init(_ attributes: ItemAttributes) {
    let modified = attributes.modificationTime
    self.init(
      kind: attributes.kind.name, inode: attributes.inode, sizeBytes: attributes.size, mode: attributes.mode & 0o7777,
      uid: attributes.uid, gid: attributes.gid,
      modified: UTCTime.rfc3339(seconds: modified.seconds, nanoseconds: modified.nanoseconds))
  }
}

extension ResolvedItem {
  init(_ conflict: ResolvedConflict) {
    self.init(path: conflict.path, conflict: conflict.kind.rawValue, copy: conflict.copy)
  }
}
