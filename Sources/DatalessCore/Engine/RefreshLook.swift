/// What a refresh would change of what is presented: found by listings from which nothing is taken over.
struct RefreshLook {
  private let presenters: Presenters
  /// What would change and concerns somebody, in the order in which it was found.
  private(set) var paths: [[UInt8]] = []

  /// LIMIT: changes that presenters are asked about; who is concerned by later ones alone is told afterwards.
  static let pathsMax = 4096

  init(_ presenters: Presenters) { self.presenters = presenters }

  /// Whether somebody presents a directory, something below it, or a directory in which it lies.
  func concerns(_ directory: [UInt8]) -> Bool { presenters.isConcerned(by: directory) }

  /// Whether there is room for more: else nobody has to find out a path.
  var takesMore: Bool { paths.count < Self.pathsMax }

  /// Something would change under a name.
  mutating func note(_ path: [UInt8]) {
    guard takesMore, presenters.isConcerned(by: path) else { return }
    paths.append(path)
  }
}

extension EngineState {
  /// Looks at what a listing would change of one name.
  mutating func look(
    _ text: UnsafeBufferPointer<UInt8>, _ listed: ListedItem, in place: RefreshFindings.Place,
    findings: inout RefreshFindings, use: Namespace.ItemUse
  ) {
    let seen = namespace.foresee(text, listed, in: place.directory, keeps: findings.keeps, use: use)
    switch seen.change {
    case .nothing, .unchanged, .retained(isNew: false): break
    case .metadata, .joined, .version, .retained, .otherItem, .otherItemHidden, .appeared, .hidden, .vanished,
      .keptHere:
      if findings.look?.takesMore ?? false { findings.look?.note(visiblePath(of: text, seen, in: place.directory)) }
    }
    // What another item has now is not what was listed.
    guard place.recurses, seen.change == .unchanged || seen.change == .metadata, let name = seen.name else { return }
    let node = namespace.record(of: name).node
    if namespace[node].isListed { findings.subdirectories.append(node) }
  }

  /// Under which name callers see a change of one of the store's names: that of the item if it was moved on the volume.
  private func visiblePath(
    of text: UnsafeBufferPointer<UInt8>, _ seen: Namespace.Merged, in directory: NodeIndex
  ) -> [UInt8] {
    switch seen.change {
    case .metadata, .joined, .version, .retained:
      if let path = seen.name.flatMap({ namespace.visiblePath(of: $0) }) { return path }
    case .nothing, .unchanged, .otherItem, .otherItemHidden, .appeared, .hidden, .vanished, .keptHere: break
    }
    var path = namespace.path(of: directory)
    if !path.isEmpty { path.append(UInt8(ascii: "/")) }
    return path + text
  }
}

extension Engine {
  /// Whether a change of something in a directory may concern those who present something: it lies there, or was moved
  /// from there, or from below, to where they present it.
  func mayConcern(_ look: RefreshLook, _ directory: NodeIndex) -> Bool {
    let (path, isChanged) = state.withLock { state in
      (state.namespace.path(of: directory), state.namespace.isChanged(directory))
    }
    return isChanged || look.concerns(path)
  }
}

extension Namespace {
  /// Under which name callers see the item that one of the store's names leads to; nil: they see nothing of it.
  func visiblePath(of name: NameIndex) -> [UInt8]? {
    let record = record(of: name)
    if record.isPresent { return path(ofName: name) }
    return self[record.node].isOrphan ? nil : path(of: record.node)
  }
}
