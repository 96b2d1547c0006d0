import DatalessControl
import DatalessCore
import SystemPackage

/// `dataless conflicts` over the engine.
extension VolumeBackend {
  // LIMIT: conflicts, and failures, that one answer names.
  private static let conflictsMax = 10_000
  private static let failuresMax = 1_000

  func conflicts(_ paths: [[UInt8]], keep choice: ConflictChoice?) async throws -> ConflictAnswer {
    await wait(atMost: Self.visitLimit) { [engine] end in engine.whenVisited(end) }
    let paths = try await followed(paths, lists: false).all()
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
