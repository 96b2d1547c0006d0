/// From whom a process descends, as /proc says it.
enum ProcessLineage {
  /// LIMIT: a chain of pids that are used again while it is followed has no end.
  private static let ancestorsMax = 64

  /// The nearest first. The process has to be one that is known to live: then all of them lived, each as the parent of
  /// the one before.
  ///
  /// - Parameter parent: That of a living process; nil when there is no such process.
  static func ancestors(of process: Int32, parent: (Int32) -> Int32? = ProcessTree.parent(of:)) -> [Int32] {
    var found: [Int32] = []
    var (child, next) = (process, parent(process))
    while let above = next, above > 0, found.count < ancestorsMax {
      let further = parent(above)
      // Still its parent, so it has lived meanwhile, and no later owner of its number was looked at.
      guard parent(child) == above else { break }
      found.append(above)
      (child, next) = (above, further)
    }
    return found
  }
}
