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
    /// A present name of an item of which something is nowhere else: as `keeps`.
    case keptBelow
  }

  private struct Changes {
    var made: UInt32 = 0
    var removed: UInt32 = 0
    var below: UInt32 = 0
    var keptBelow: UInt32 = 0
    /// `keptBelow` tells the directories above of what counts as `below`, too.
    var isNone: Bool { made == 0 && removed == 0 && below == 0 }
    var keeps: Bool { made > 0 || keptBelow > 0 }

    mutating func count(_ change: Int, of kind: Kind) {
      func count(_ number: inout UInt32) { number = UInt32(clamping: Int(number) + change) }
      switch kind {
      case .made: count(&made)
      case .removed: count(&removed)
      case .below: count(&below)
      case .keptBelow: count(&keptBelow)
      }
    }
  }

  private var directories: [NodeIndex: Changes] = [:]
  /// Of all directories.
  private(set) var made = 0
  private(set) var removed = 0

  func contains(_ directory: NodeIndex) -> Bool { !directories.isEmpty && !(directories[directory]?.isNone ?? true) }

  /// Whether something in a directory, or below it, is nowhere else: a name that was made, or what was written. With
  /// what was removed nothing is lost, and what was moved away is elsewhere.
  func keeps(_ directory: NodeIndex) -> Bool { !directories.isEmpty && directories[directory]?.keeps ?? false }

  /// Names that were made or removed in a directory.
  func names(in directory: NodeIndex) -> Int {
    guard !directories.isEmpty, let changes = directories[directory] else { return 0 }
    return Int(changes.made) + Int(changes.removed)
  }

  /// Counts what was changed in a directory. If it is the first change there, or there is none any more, the directory
  /// that it lies in counts it, and so on.
  ///
  /// - Parameter change: 1 or -1.
  mutating func count(
    _ change: Int, of kind: Kind, in directory: NodeIndex, _ nodes: borrowing NodeTable, names: borrowing NameTable
  ) {
    switch kind {
    case .made: made += change
    case .removed: removed += change
    case .below, .keptBelow: break
    }
    let turned = count(change, of: kind, in: directory)
    if turned.isNone { tell(change, of: .below, above: directory, nodes, names: names) }
    if turned.keeps { tell(change, of: .keptBelow, above: directory, nodes, names: names) }
  }

  /// A present name of a directory leads to an item that is changed, or no longer.
  mutating func countChild(
    _ isMore: Bool, keeps: Bool, in directory: NodeIndex, _ nodes: borrowing NodeTable, names: borrowing NameTable
  ) {
    count(isMore ? 1 : -1, of: .below, in: directory, nodes, names: names)
    if keeps { count(isMore ? 1 : -1, of: .keptBelow, in: directory, nodes, names: names) }
  }

  private mutating func tell(
    _ change: Int, of kind: Kind, above directory: NodeIndex, _ nodes: borrowing NodeTable, names: borrowing NameTable
  ) {
    var directory = directory
    // A store that names one directory in several places could make a ring of them.
    for _ in 0..<Namespace.depthMax {
      guard let name = nodes[directory].firstName.optional, names[name].isPresent else { return }
      directory = names[name].directory
      let turned = count(change, of: kind, in: directory)
      guard kind == .below ? turned.isNone : turned.keeps else { return }
    }
  }

  /// - Returns: Whether the directory had none before, or has none now; and whether it keeps something since, or no
  ///   more.
  private mutating func count(_ change: Int, of kind: Kind, in directory: NodeIndex) -> (isNone: Bool, keeps: Bool) {
    var changes = directories[directory] ?? Changes()
    let (hadNone, kept) = (changes.isNone, changes.keeps)
    changes.count(change, of: kind)
    directories[directory] = changes.isNone && !changes.keeps ? nil : changes
    return (hadNone != changes.isNone, kept != changes.keeps)
  }

  /// A directory is forgotten.
  mutating func leave(_ directory: NodeIndex) { if !directories.isEmpty { directories[directory] = nil } }
}
