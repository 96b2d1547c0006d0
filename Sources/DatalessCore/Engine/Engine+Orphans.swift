/// Items that no name leads to any more: gone from the store, or another version has their name.
extension Engine {
  /// Frees what they hold, each as soon as nobody has it open: files their content, directories the names that are in them.
  ///
  /// In steps of bounded size; a directory may hold a tree. On a lane, but for single files.
  func dispose(_ nodes: [Int]) {
    var pending = nodes
    var breath = Breath(timer)
    while let node = pending.popLast() {
      breath.take()
      let isDirectory = state.withLock { $0.catalog.inodes[node].kind == .directory }
      if isDirectory {
        pending += dropNames(of: node)
      } else if let (reference, size) = state.withLock({ $0.free(node, timer.now) }) {
        // A mapping that outlives its handle keeps the unlinked file; pages of the kernel are the old node's own.
        blocking.submit { [self] in content.remove(reference, size: size) }
      }
    }
  }

  /// - Returns: What was left without a name by that.
  private func dropNames(of directory: Int) -> [Int] {
    var orphans: [Int] = []
    var cursor: UInt32? = 0
    while let position = cursor {
      cursor = state.withLock { state in
        // It may have a name again.
        guard state.catalog.inodes[directory].isOrphan else { return nil }
        let next = state.catalog.dropAllNames(of: directory, from: position, limit: 2048)
        orphans += state.catalog.takeOrphans()
        return next
      }
    }
    return orphans
  }

  /// Frees what a listing has left without a name, on the metadata lane.
  func disposeOfOrphans() {
    let orphans = state.withLock { $0.catalog.takeOrphans() }
    guard !orphans.isEmpty else { return }
    metadata.submit { [self] in dispose(orphans) }
  }
}

extension EngineState {
  /// Takes the content from a file without a name that nobody has open; nil when there is nothing to take, or not yet.
  mutating func free(_ node: Int, _ now: MonotonicTime) -> (ContentReference, size: Int64)? {
    let record = catalog.inodes[node]
    guard record.isOrphan, record.kind == .file, record.canBeDataless, handles.count(of: node) == 0,
      record.state == .resident || record.state == .partial, rangeAttempts[node] == nil
    else { return nil }
    let part = ranged.removeValue(forKey: node)
    catalog.setPartialBlocks(nil, of: node)
    catalog.setState(.dataless, of: node)
    catalog.inodes[node].payload = 0
    catalog.kept[node] = nil
    passedThrough[node] = nil
    planned.drop(node)
    failures.forgetPages(of: node)
    totals.evictions += 1
    events.record(
      .evictionFinished(
        Event.EvictionRecord(
          path: catalog.path(of: node), kind: .file,
          bytes: record.state == .partial ? part?.ranges.count ?? 0 : record.size,
          errno: nil, by: "source", time: now)))
    if let part, part.transfers > 0 {
      // The last of them removes it.
      retired[part.id] = part
      return nil
    }
    return (ContentReference(rawValue: record.payload), record.size)
  }
}
