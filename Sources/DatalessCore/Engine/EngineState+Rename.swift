internal import SystemPackage

/// A rename between two directories, which may be the same.
struct Rename {
  let from: NodeIndex
  let to: NodeIndex
  let options: RenameOptions
  let caller: Caller
  let now: MonotonicTime
}

extension EngineState {
  /// - Returns: nil if more names have to be looked at first: call again.
  mutating func rename(
    _ name: UnsafeBufferPointer<UInt8>, to newName: UnsafeBufferPointer<UInt8>, _ rename: Rename
  ) -> ChangeAnswer? {
    guard let source = namespace.find(name, in: rename.from) else { return .failed(.noSuchFileOrDirectory) }
    let moved = namespace.record(of: source).node
    let target = namespace.find(newName, in: rename.to)
    let isDirectory = namespace[moved].kind == .directory
    if isDirectory, namespace.isIn(moved, rename.to) { return .failed(.invalidArgument) }
    if rename.options == .exchange {
      guard let target else { return .failed(.noSuchFileOrDirectory) }
      return exchange(source, target, rename: rename)
    }
    if let target {
      let replaced = namespace.record(of: target).node
      if rename.options == .noReplace { return .failed(.fileExists) }
      if replaced == moved { return .done }
      switch canReplace(replaced, isDirectory: isDirectory, rename) {
      case .again: return nil
      case .needsListing(let directory): return .needsListing(directory)
      case .needsEmptiness(let directory): return .needsEmptiness(directory)
      case .failed(let errno): return .failed(errno)
      case .ready: break
      }
    }
    guard !isDirectory || rename.from == rename.to || namespace[rename.to].linkCount < Self.directoryLinkMax else {
      return .failed(.tooManyLinks)
    }
    guard !isDirectory || rename.from == rename.to || hasRoom(below: rename.to, for: heights.height(of: moved)) else {
      return .failed(.fileNameTooLong)
    }
    guard namespace.hasRoom(for: newName.count) else { return .failed(.noSpace) }
    let former = namespace.record(of: source)
    let more = ChangeCosts.name(newName.count) - (former.isLocal ? ChangeCosts.name(Int(former.textLength)) : 0)
    if let errno = costs.refusal(of: more, for: namespace[moved].uid) { return .failed(errno) }
    let oldPath = namespace.path(ofName: source)
    let (inherited, area) = (policy(of: moved), place(of: moved))
    let replaced = target.map { takeAway($0) }
    tellMade(moved)
    guard let made = giveName(newName, to: moved, in: rename.to) else { return .failed(.noSpace) }
    namespace.noteStandsBeforeNoMore(source)
    namespace.remove(source)
    if isDirectory { noteHeight(heights.height(of: moved), below: rename.to) }
    noteMoved(moved)
    noteMoved(moved, from: inherited)
    moves.note(moved, from: area, to: place(of: moved))
    let (came, went): (Int64, Int64) = (isDirectory ? 1 : 0, replaced?.kind == .directory ? 1 : 0)
    if rename.from == rename.to {
      touch(rename.to, links: -went)
    } else {
      touch(rename.from, links: -came)
      touch(rename.to, links: came - went)
    }
    record(
      .renamed(from: oldPath, isExchange: false, replaced: replaced), moved, path: namespace.path(ofName: made),
      by: rename.caller, at: rename.now)
    return .done
  }

  private mutating func canReplace(_ replaced: NodeIndex, isDirectory: Bool, _ rename: Rename) -> NamePlace {
    switch (isDirectory, namespace[replaced].kind == .directory) {
    case (true, false): return .failed(.notDirectory)
    case (false, true): return .failed(.isDirectory)
    case (false, false): return .ready(replaced)
    case (true, true):
      // The item that is moved lies in it.
      if namespace.isIn(replaced, rename.from) { return .failed(.directoryNotEmpty) }
      return emptiness(of: replaced)
    }
  }

  private mutating func noteMoved(_ node: NodeIndex) {
    let now = timeOfDay()
    changeAttributes(of: node) { $0.changeTime = now }
  }

  /// Lets two names lead to each other's items, which pay for what they get: no more than the store, or who made them,
  /// has names. - Returns: False when the tables are full.
  private mutating func exchangeNames(_ first: NameIndex, _ second: NameIndex) -> Bool {
    let (one, other) = (namespace.record(of: first), namespace.record(of: second))
    for name in [first, second] {
      namespace.noteStandsBeforeNoMore(name)
      namespace.remove(name)
    }
    guard giveName(namespace.text(of: first), to: other.node, in: one.directory) != nil else { return false }
    return giveName(namespace.text(of: second), to: one.node, in: other.directory) != nil
  }

  private mutating func exchange(_ source: NameIndex, _ target: NameIndex, rename: Rename) -> ChangeAnswer {
    let (one, other) = (namespace.record(of: source).node, namespace.record(of: target).node)
    guard one != other else { return .done }
    let isOtherDirectory = namespace[other].kind == .directory
    if isOtherDirectory, namespace.isIn(other, rename.from) { return .failed(.invalidArgument) }
    for (node, directory) in [(one, rename.to), (other, rename.from)] where namespace[node].kind == .directory {
      guard hasRoom(below: directory, for: heights.height(of: node)) else { return .failed(.fileNameTooLong) }
    }
    guard namespace.hasRoom(for: Self.nameMax, names: 2) else { return .failed(.noSpace) }
    let (path, newPath) = (namespace.path(ofName: source), namespace.path(ofName: target))
    let inherited = (policy(of: one), policy(of: other))
    let areas = (place(of: one), place(of: other))
    tellMade(one)
    tellMade(other)
    guard exchangeNames(source, target) else { return .failed(.noSpace) }
    for (node, directory) in [(one, rename.to), (other, rename.from)] where namespace[node].kind == .directory {
      noteHeight(heights.height(of: node), below: directory)
    }
    noteMoved(one)
    noteMoved(other)
    noteMoved(one, from: inherited.0)
    noteMoved(other, from: inherited.1)
    moves.note(one, from: areas.0, to: place(of: one))
    moves.note(other, from: areas.1, to: place(of: other))
    let change: Int64 = (isOtherDirectory ? 1 : 0) - (namespace[one].kind == .directory ? 1 : 0)
    touch(rename.from, links: rename.from == rename.to ? 0 : change)
    if rename.from != rename.to { touch(rename.to, links: -change) }
    record(
      .renamed(from: path, isExchange: true, replaced: nil), one, path: newPath, by: rename.caller, at: rename.now)
    return .done
  }
}
