/// What a refresh would change of what is presented: found by listings from which nothing is taken over.
struct RefreshLook {
  private let presenters: Presenters
  /// What would change and concerns somebody, in the order in which it was found.
  private(set) var paths: [[UInt8]] = []

  /// LIMIT: changes that presenters are asked about; who is concerned by later ones alone is told afterwards.
  static let pathsMax = 4096

  init(_ presenters: Presenters) { self.presenters = presenters }

  /// Whether a change of something in a directory may concern anybody: it is not listed otherwise.
  func concerns(_ directory: [UInt8]) -> Bool { presenters.isConcerned(by: directory) }

  /// Something would change under a name.
  mutating func note(_ path: [UInt8]) {
    guard paths.count < Self.pathsMax, presenters.isConcerned(by: path) else { return }
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
      var path = namespace.path(of: place.directory)
      if !path.isEmpty { path.append(UInt8(ascii: "/")) }
      findings.look?.note(path + text)
    }
    // What another item has now is not what was listed.
    guard place.recurses, seen.change == .unchanged || seen.change == .metadata, let name = seen.name else { return }
    let node = namespace.record(of: name).node
    if namespace[node].isListed { findings.subdirectories.append(node) }
  }
}

extension Namespace {
  /// Under which name callers see what goes when the store has one of its names no more; nil: they see nothing of it.
  func visiblePath(ofVanished name: NameIndex) -> [UInt8]? {
    let record = record(of: name)
    if record.isPresent { return path(ofName: name) }
    return self[record.node].isOrphan ? nil : path(of: record.node)
  }
}
