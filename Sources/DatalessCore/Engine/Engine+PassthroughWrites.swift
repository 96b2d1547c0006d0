internal import Synchronization

/// Which opens of a writable volume are passthrough, and when a file is none any more that is written to past it.
extension Engine {
  /// Whether an open is to be passthrough.
  ///
  /// - Parameter size: Of the file; of one that was emptied for this open, before that.
  func passes(_ node: NodeIndex, size: Int64, _ state: inout EngineState) -> Bool {
    let record = state.namespace[node]
    guard record.kind == .file, record.state == .resident, content.hasOwnFile(record.content) else { return false }
    // The kernel would refuse any other kind of open, or show pages that are old.
    if state.openFiles.mustPassThrough(node) || state.passed.mustPassThrough(node) { return true }
    guard passthrough.load(ordering: .relaxed), state.openFiles.canPassThrough(node) else { return false }
    guard writing != .readOnly else { return record.size > 0 }
    // All opens name one backing, so the content must be one that stays when somebody writes. And who writes past the
    // volume asks it for no room.
    return size > configuration.cachedMax && content.isFastLocal && !limitsRoom.load(ordering: .relaxed)
      && !state.simulation.servesReadsItself && !state.simulation.servesWritesItself
      && !state.content(of: node).isBeingWritten
  }

  /// A watch of content, for passthrough writers.
  func makeWatch(_ id: ContentID) throws(FSError) -> (watch: any ContentWatch, status: ContentStatus)? {
    guard let watch = try content.watch(id), let status = watch.look() else { return nil }
    return (watch, status)
  }

  /// Nobody has a file open that was written to past the volume. A mapping may be left, of which no request tells.
  func settleLater(_ node: NodeID) {
    let delay: Nanoseconds? = state.withLock { state in
      state.namespace.index(of: node).flatMap { state.passed.beginSettling($0) }
    }
    guard let delay else { return }
    timer.schedule(at: timer.now + delay) { [self] in settle(node) }
  }

  private func settle(_ node: NodeID) {
    let content: ContentID? = state.withLock { state in
      guard state.ending == nil, let position = state.namespace.index(of: node),
        state.passed.endSettling(position), state.openFiles.count(of: position) == 0,
        !state.pageDrops.isUnderWay(of: node)
      else { return nil }
      // Nobody opens it meanwhile: the look at who uses the content would make a non-blocking open fail, and pages are
      // dropped.
      state.pageDrops.begin(of: node)
      return state.namespace[position].content
    }
    guard let content else { return }
    blocking.submit { [self] in
      if self.content.isUsedElsewhere(content) {
        state.withLock { state in
          if let position = state.namespace.index(of: node) { state.passed.noteMapped(position) }
        }
        endDrop(of: node)
        return settleLater(node)
      }
      var isOutdated = false
      let left = state.withLock { state in
        if let position = state.namespace.index(of: node), state.passed[position] != nil {
          state.catchUp(position)
          state.makeCleanIfUntouched(position)
          state.namespace.tellAttributes(of: position)
          state.passed.end(position)
          isOutdated = state.agreeOnNewer(position, timer.now)
        }
        return state.passed.takeLeft()
      }
      _ = consume left
      kernel.invalidateContent(of: node) { [self, isOutdated] isKnown in
        endDrop(of: node)
        if !isKnown { forgetOnceKnown([node]) }
        if isOutdated { dropOlder(node) }
      }
    }
  }

  /// The store has another version of a file, of which nobody wants the older one any more.
  func dropOlder(_ node: NodeID) { evict(node, by: "source") { _ in } }
}
