/// What was changed on the volume and in the store, so that the two cannot be merged. Until somebody decides, what is
/// here stays under its name. The raw values are the words of the log and of the control API.
public enum ConflictKind: String, Sendable, CaseIterable {
  /// What a program wrote here, or put in its place, and the store has another version of.
  case changedOnBothSides = "changed"
  /// A name was made here, and in the store, too.
  case madeOnBothSides = "made"
  /// The store has it no more.
  case changedHereGoneThere = "gone_in_source"
  /// It was removed here, and the store has another version since.
  case goneHereChangedThere = "removed_here"
  /// The same of mode, owner and group was changed on both sides.
  case metadataOnBothSides = "metadata"
}

/// How a conflict is resolved.
public enum ConflictChoice: String, Sendable, CaseIterable {
  /// What is here stays; what the store has stands behind it, until that changes again.
  case keepMine = "mine"
  /// What the store has takes the name; what is here is dropped.
  case takeTheirs = "theirs"
  /// What is here gets another name beside it, and what the store has takes the name.
  case keepBoth = "both"
}

/// A conflict as `dataless conflicts` shows it.
public struct ConflictDescription: Sendable {
  public var node: NodeID
  /// Relative to the volume's root.
  public var path: [UInt8]
  public var kind: ConflictKind
  /// What is here; nil for what was removed here.
  public var mine: ItemAttributes?
  /// What the store had when it was listed last; nil if it has nothing.
  public var theirs: ItemAttributes?
}

/// A conflict that was resolved.
public struct ResolvedConflict: Sendable {
  public var path: [UInt8]
  public var kind: ConflictKind
  /// The other name that what was here has got.
  public var copy: [UInt8]?
}

/// What became of conflicts that were to be resolved.
public struct ConflictResult: Sendable {
  public var resolved: [ResolvedConflict] = []
  /// EBUSY (it, or something in it, is open for writing, or a mountpoint), EINVAL (there is only one of it),
  /// ENOSPC, EDQUOT; ENOENT (no conflict at a path, or below it).
  public var failures: [(path: [UInt8], error: FSError)] = []
}

extension Event {
  /// A conflict was found, or is none any more.
  public struct ConflictRecord: Sendable {
    public enum Change: Sendable, Equatable {
      case found
      /// - Parameter copy: As `ResolvedConflict`.
      case resolved(ConflictChoice, copy: [UInt8]?)
      /// The store has gone back to what it was, or has it no more.
      case ended
    }

    public var change: Change
    public var path: [UInt8]
    public var kind: ConflictKind
    public var mine: ItemAttributes?
    public var theirs: ItemAttributes?
    public var time: MonotonicTime

    /// Whether callers find something else at the path since.
    public var takesOver: Bool {
      guard case .resolved(let choice, _) = change else { return false }
      switch choice {
      case .keepMine: return false
      case .takeTheirs: return true
      case .keepBoth: return kind != .changedHereGoneThere
      }
    }

    public init(
      _ change: Change, path: [UInt8], kind: ConflictKind, mine: ItemAttributes?, theirs: ItemAttributes?,
      time: MonotonicTime
    ) {
      self.change = change
      self.path = path
      self.kind = kind
      self.mine = mine
      self.theirs = theirs
      self.time = time
    }
  }
}
