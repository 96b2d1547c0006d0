import DatalessCore
import Synchronization
import SystemPackage

extension KeptVolume {
  /// Lists everything again that was listed.
  func refresh() {
    engine.refresh([[]], by: .command) { _ in }
    run()
  }

  /// Looks for what an earlier run has kept, as the daemon does after a mount.
  func visitSaved() {
    engine.visitSaved()
    run()
  }

  /// Paths, and the words for their conflicts.
  var conflicts: [String: String] {
    var found: [String: String] = [:]
    for conflict in engine.conflicts(at: [[]]) {
      found[String(decoding: conflict.path, as: UTF8.self)] = conflict.kind.rawValue
    }
    return found
  }

  /// - Returns: The other name of what was here; errnos of what failed; paths of what was resolved.
  @discardableResult
  func resolve(
    _ path: String, _ choice: ConflictChoice
  ) -> (copy: String?, failures: [String], resolved: [String]) {
    let answer = Mutex<ConflictResult?>(nil)
    engine.resolveConflicts(at: [bytes(path)], choice, completion: { result in answer.withLock { $0 = result } })
    run()
    let result = answer.withLock { $0 }
    let copy = result?.resolved.first?.copy.map { String(decoding: $0, as: UTF8.self) }
    let resolved = result?.resolved.map { String(decoding: $0.path, as: UTF8.self) } ?? []
    return (copy, result?.failures.map(\.error.errno.name) ?? ["no answer"], resolved)
  }
}
