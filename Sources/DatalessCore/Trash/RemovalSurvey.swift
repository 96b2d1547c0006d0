internal import SystemPackage

/// A look at a tree before it is removed: what is in it, and whether all of it may go. In steps, since a tree may have
/// a million items; whoever goes on with it keeps names and nodes where they are meanwhile (`Reclamation.pin`).
///
/// It refuses what `rm -rf` of the same caller could not remove. What is in a directory that was never listed is not
/// known, but for files that an earlier run has kept written; so it goes if the caller may change that directory, and
/// the store is not asked.
struct RemovalSurvey {
  /// What others know of items.
  struct Knowledge {
    /// An item's access ACL, as far as it was set here.
    let acl: (NodeIndex) -> [UInt8]?
    /// How long a file is now: its record may not know what was written past the volume.
    let size: (NodeIndex, _ recorded: Int64) -> Int64
    /// Bytes that are there of a file that is not whole.
    let partialBytes: (NodeIndex) -> Int64
  }

  enum Step {
    case more
    case done
    /// A directory of which something is kept that is not here yet: whether a program has written it is to be asked
    /// (`add`). Then go on.
    case unread(NodeIndex)
    /// The first item that may not go.
    case refused(path: [UInt8], FSError)
  }

  private struct Level {
    let directory: NodeIndex
    var next: NameIndex
    /// Whether a name was found in it: then its rights matter.
    var isEntered = false
  }

  private let remover: Remover
  private var levels: [Level] = []
  /// Of files with several names, how many of these were seen.
  private var links: [NodeIndex: UInt32] = [:]
  private var counts = RemovedItems()

  /// - Parameter remover: On whose behalf.
  init(_ remover: Remover) { self.remover = remover }

  /// What was found so far.
  var found: RemovedItems { counts }

  /// Begins with one name. - Returns: As `step`.
  mutating func begin(_ name: NameIndex, in namespace: borrowing Namespace, _ known: Knowledge) -> Step {
    let directory = namespace.record(of: name).directory
    levels = []
    links = [:]
    counts = RemovedItems()
    var barred: NodeIndex?
    let isBarred = namespace.isIn(directory) { above in
      if !remover.has(Remover.search, in: namespace[above], acl: { known.acl(above) }) { barred = above }
      return barred != nil
    }
    if isBarred, let barred {
      return Self.refused(namespace.path(of: barred), .permissionDenied, message: "it may not be searched")
    }
    guard remover.has(Remover.change, in: namespace[directory], acl: { known.acl(directory) }) else {
      return Self.refused(namespace.path(ofName: name), .permissionDenied, message: "its directory may not be changed")
    }
    return look(at: name, in: namespace, known)
  }

  /// Looks at some more. - Parameter limit: Names.
  mutating func step(_ namespace: borrowing Namespace, limit: Int, _ known: Knowledge) -> Step {
    for _ in 0..<limit {
      guard let level = levels.last else { return .done }
      let name = level.next
      guard name != .end else {
        levels.removeLast()
        continue
      }
      let record = namespace.record(of: name)
      levels[levels.count - 1].next = record.nextSibling
      guard record.isPresent else { continue }
      if !level.isEntered {
        if let refusal = refusal(of: level.directory, first: name, in: namespace, known) { return refusal }
        levels[levels.count - 1].isEntered = true
      }
      let found = look(at: name, in: namespace, known)
      guard case .more = found else { return found }
    }
    return levels.isEmpty ? .done : .more
  }

  /// Why names in a directory cannot be removed; nil if they can.
  private func refusal(
    of directory: NodeIndex, first: NameIndex, in namespace: borrowing Namespace, _ known: Knowledge
  ) -> Step? {
    // To be read and searched, as rm does; then to be changed.
    if !remover.has(5, in: namespace[directory], acl: { known.acl(directory) }) {
      return Self.refused(namespace.path(of: directory), .permissionDenied, message: "it may not be listed")
    }
    if !remover.has(Remover.change, in: namespace[directory], acl: { known.acl(directory) }) {
      return Self.refused(namespace.path(ofName: first), .permissionDenied, message: "its directory may not be changed")
    }
    return nil
  }

  /// One item that is to go.
  private mutating func look(at name: NameIndex, in namespace: borrowing Namespace, _ known: Knowledge) -> Step {
    let edge = namespace.record(of: name)
    let item = namespace[edge.node]
    guard !remover.isHeld(by: namespace[edge.directory], owner: item.uid) else {
      return Self.refused(
        namespace.path(ofName: name), .notPermitted, message: "its directory is sticky, and both are others'")
    }
    counts.items += 1
    if item.kind == .directory {
      counts.directories += 1
      guard !item.isListed else {
        levels.append(Level(directory: edge.node, next: item.firstChild))
        return .more
      }
      return lookAtUnlisted(edge.node, name, in: namespace, known: known)
    }
    if item.kind == .file, item.isLocal { count(edge.node, name, in: namespace, known: known) }
    return .more
  }

  /// A directory that was never listed: what is in it is not known, but for its rights.
  private func lookAtUnlisted(
    _ directory: NodeIndex, _ name: NameIndex, in namespace: borrowing Namespace, known: Knowledge
  ) -> Step {
    guard remover.has(7, in: namespace[directory], acl: { known.acl(directory) }) else {
      return Self.refused(
        namespace.path(ofName: name), .permissionDenied,
        message: "it may not be changed, and what is in it is not known")
    }
    // Of what is in it nobody knows whose it is.
    guard !remover.isHeld(by: namespace[directory], owner: namespace[directory].uid) else {
      return Self.refused(
        namespace.path(ofName: name), .notPermitted, message: "it is sticky, and what is in it is not known")
    }
    return namespace[directory].awaitsSaved ? .unread(directory) : .more
  }

  /// What an earlier run has written below a directory that was never listed. - Parameter path: That of the directory.
  mutating func add(_ written: SavedWriting, below path: [UInt8]) {
    counts.items += written.files
    counts.bytes = counts.bytes.saturatingAdd(Room.pages(written.bytes))
    counts.dirtyItems += written.files
    counts.dirtyBytes = counts.dirtyBytes.saturatingAdd(written.bytes)
    counts.name(written.paths.map { path + [UInt8(ascii: "/")] + $0 })
  }

  /// A file that holds something, which goes with its last name.
  private mutating func count(
    _ node: NodeIndex, _ name: NameIndex, in namespace: borrowing Namespace, known: Knowledge
  ) {
    let item = namespace[node]
    if item.linkCount > 1 {
      links[node, default: 0] += 1
      guard links[node] == item.linkCount else { return }
    }
    let size = known.size(node, item.size)
    let bytes = item.state == .resident ? size : known.partialBytes(node)
    counts.bytes = counts.bytes.saturatingAdd(Room.pages(bytes))
    guard item.isDirty else { return }
    counts.dirtyItems += 1
    counts.dirtyBytes = counts.dirtyBytes.saturatingAdd(size)
    if counts.dirtyPaths.count < RemovedItems.namedMax { counts.name([namespace.path(ofName: name)]) }
  }

  private static func refused(_ path: [UInt8], _ errno: Errno, message: String) -> Step {
    .refused(path: path, FSError(errno, message))
  }
}
