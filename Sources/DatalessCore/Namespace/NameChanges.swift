/// How much of each directory was changed on the volume: names that were made or removed there, and changed items below
/// them. As long as there is any, the directory is not given up.
struct NameChanges {
  enum Kind {
    /// A name that was made on the volume.
    case made
    /// A name of the store that was removed, or whose item was moved, on the volume.
    case removed
    /// A present name of an item that is changed itself.
    case below
  }

  private struct Changes {
    var names: UInt32 = 0
    var below: UInt32 = 0
    var isNone: Bool { names == 0 && below == 0 }
  }

  private var directories: [NodeIndex: Changes] = [:]
  /// Of all directories.
  private(set) var made = 0
  private(set) var removed = 0

  func contains(_ directory: NodeIndex) -> Bool { !directories.isEmpty && directories[directory] != nil }

  /// Names that were made or removed in a directory.
  func names(in directory: NodeIndex) -> Int { directories.isEmpty ? 0 : Int(directories[directory]?.names ?? 0) }

  /// Counts what was changed in a directory. If it is the first change there, or there is none any more, the directory
  /// that it lies in counts it, and so on.
  ///
  /// - Parameter change: 1 or -1.
  mutating func count(
    _ change: Int, of kind: Kind, in directory: NodeIndex, _ nodes: borrowing NodeTable, names: borrowing NameTable
  ) {
    var (kind, directory) = (kind, directory)
    // A store that names one directory in several places could make a ring of them.
    for _ in 0..<Namespace.depthMax {
      guard count(change, of: kind, in: directory), let name = nodes[directory].firstName.optional,
        names[name].isPresent
      else { return }
      (kind, directory) = (.below, names[name].directory)
    }
  }

  /// - Returns: Whether the directory had none before, or has none now.
  private mutating func count(_ change: Int, of kind: Kind, in directory: NodeIndex) -> Bool {
    var changes = directories[directory] ?? Changes()
    let hadNone = changes.isNone
    switch kind {
    case .made: made += change
    case .removed: removed += change
    case .below: break
    }
    if kind == .below {
      changes.below = UInt32(clamping: Int(changes.below) + change)
    } else {
      changes.names = UInt32(clamping: Int(changes.names) + change)
    }
    directories[directory] = changes.isNone ? nil : changes
    return hadNone != changes.isNone
  }

  /// A directory is forgotten.
  mutating func leave(_ directory: NodeIndex) { if !directories.isEmpty { directories[directory] = nil } }
}
