internal import Synchronization

/// How a refresh begins: those who present what it would change are asked first, and it begins anew.
extension Refresh {
  /// Begins it. Runs on the metadata lane.
  func begin() {
    guard let presenters = engine.presenters, presenters.areThere else { return step() }
    presenters.look { [self] presented in
      if !presented.isEmpty { edit { $0.findings.look = RefreshLook(presented) } }
      engine.metadata.submit { self.step() }
    }
  }

  /// Asks those who present what would change, and has it begin anew when they have answered or have had their time:
  /// what they have saved by then is a change of the volume, and is merged as any other.
  ///
  /// - Parameter goOn: Called once, here or on another thread.
  func ask(_ look: RefreshLook?, goOn: @escaping @Sendable () -> Void) {
    work.withLock { $0 = RefreshWork(findings: RefreshFindings(by: by, keeps: keeps)) }
    guard let presenters = engine.presenters, let paths = look?.paths, !paths.isEmpty, stopped == nil else {
      return goOn()
    }
    presenters.ask(ItemQuestion(.change, paths: paths)) { [self] _, number in
      edit { $0.question = number }
      goOn()
    }
  }

  private func edit(_ change: (inout RefreshWork) -> Void) {
    work.withLock { state in
      guard var work = state else { return }
      change(&work)
      state = work
    }
  }

  /// A path means the directory that holds it, whose listing tells of the item itself; and for a directory, all that is
  /// listed below it.
  func findStart(_ work: inout RefreshWork) {
    // Taken last: a listing may have found their place by then.
    if paths.contains([]) { work.directories += engine.placesUnseen.map { ($0, true) } }
    for path in paths {
      switch engine.resolve(path) {
      case .found(let node):
        if let node = engine.listedDirectory(node) { work.directories.append((node, true)) }
      case .absent: work.unknown.append(path)
      case .insideDataless: continue
      }
    }
    var known = Set(work.directories.map(\.node))
    // Taken from the end: what holds an item first, since its listing may say that the item is another one now.
    for path in paths {
      var parent = path
      while !parent.isEmpty {
        parent = parent.lastIndex(of: UInt8(ascii: "/")).map { Array(parent[..<$0]) } ?? []
        guard case .found(let found) = engine.resolve(parent), let node = engine.listedDirectory(found) else {
          continue
        }
        if known.insert(node).inserted { work.directories.append((node, false)) }
        break
      }
    }
  }
}
