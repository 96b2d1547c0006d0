internal import DequeModule

/// Trees that were removed whole (`Engine.remove`), as far as they are not given back yet: which of their directories
/// are to be emptied, how far the one has come that is emptied now, and how much is left.
///
/// A removed tree is reached by nobody. So its directories are emptied in any order, some names at a time, whenever
/// there is time for it; several trees are one queue.
struct Trash {
  /// Where emptying goes on.
  struct Place {
    let directory: NodeID
    /// nil: at its beginning.
    var next: NameIndex?
  }

  private var queue: Deque<NodeID> = []
  private var current: Place?
  /// Directories that are to be emptied, or are being listed.
  private var members: Set<NodeID> = []
  /// Those of them that were being listed when they were emptied: once more when that has ended.
  private var listed: Set<NodeID> = []
  /// Those that are empty, in the order in which they were emptied: each behind the one that it lies in. Whether names
  /// are to stay as a way to them is decided at the end.
  private var emptied: [NodeID] = []
  private var isUnderWay = false
  private var items = 0
  private var bytes: Int64 = 0
  private var changed: UInt64 = 0

  // MARK: - Looking

  /// Whether some directory is left that is not empty yet.
  var isBusy: Bool { !members.isEmpty }

  /// Whether it empties a directory, or will.
  func contains(_ directory: NodeID) -> Bool { !members.isEmpty && members.contains(directory) }

  /// Names that are left, and local content that they lead to, in bytes.
  var left: (items: Int, bytes: Int64) { (items, bytes) }

  /// Moves with each change of a name, of rights or of what is dirty: whoever has looked at a tree in steps sees
  /// whether it can be another one by now.
  var changes: UInt64 { changed }

  mutating func noteChange() { changed &+= 1 }

  // MARK: - Trees

  /// A tree was taken away. - Parameters: What is below its top, as `left` has it.
  mutating func add(_ top: NodeID, items: Int, bytes: Int64) {
    self.items += items
    self.bytes = self.bytes.saturatingAdd(bytes)
    enter(top)
  }

  /// A directory is to be emptied.
  mutating func enter(_ directory: NodeID) { if members.insert(directory).inserted { queue.append(directory) } }

  // MARK: - Emptying

  /// Begins to empty, unless that goes on already. - Returns: Whether the caller is the one who empties now.
  mutating func begin() -> Bool {
    guard !isUnderWay, current != nil || !queue.isEmpty || !emptied.isEmpty else { return false }
    isUnderWay = true
    return true
  }

  /// Asked by who empties. - Returns: nil: there is nothing to be emptied now, and nobody empties any more, once
  /// `takeEmptied` returns nil, too.
  mutating func next() -> Place? {
    if current == nil, let directory = queue.popFirst() { current = Place(directory: directory) }
    isUnderWay = current != nil || !emptied.isEmpty
    return current
  }

  /// A directory that is empty, each before the one that it lies in. To be asked for when `next` returns nil.
  mutating func takeEmptied() -> NodeID? {
    defer { isUnderWay = !emptied.isEmpty }
    return emptied.popLast()
  }

  mutating func goOn(at name: NameIndex) { current?.next = name }

  /// All names of the directory are gone. - Parameter isListed: Whether it is being listed, so that more may come.
  mutating func leave(isListed: Bool) {
    guard let directory = current?.directory else { return }
    current = nil
    if isListed {
      listed.insert(directory)
    } else {
      members.remove(directory)
      emptied.append(directory)
    }
    settle()
  }

  /// A listing has ended. - Returns: Whether there is something to be emptied now.
  mutating func noteListed(_ directory: NodeID) -> Bool {
    guard !listed.isEmpty, listed.remove(directory) != nil else { return false }
    queue.append(directory)
    return true
  }

  /// A name has gone. - Parameter bytes: As `left`.
  mutating func noteGone(bytes: Int64) {
    items = max(0, items - 1)
    self.bytes = max(0, self.bytes - bytes)
  }

  /// The volume ends: nothing is emptied any more.
  mutating func end() {
    isUnderWay = false
    queue = []
    emptied = []
    current = nil
  }

  /// What was counted when the trees were looked at may have been others' by then.
  private mutating func settle() {
    guard current == nil, queue.isEmpty else { return }
    (items, bytes) = (0, 0)
  }
}
