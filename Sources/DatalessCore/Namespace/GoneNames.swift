/// Where names are that nobody is to find any more, by directory: gone ones, to be swept from its list, and former
/// ones, which items without a name keep.
struct GoneNames {
  private struct Gone {
    var count: UInt32 = 0
    var sweptTo = NameIndex.end
  }

  private var gone: [NodeIndex: Gone] = [:]
  /// Directories that may have gone names, and nobody who has them open.
  private var sweepable: [NodeIndex] = []
  /// Up to which name of its list none of a directory is present, where that was looked at.
  private var absent: [NodeIndex: NameIndex] = [:]
  private var former: [NodeIndex: UInt32] = [:]
  private var sweeps: [NodeIndex: UInt64] = [:]
  private var lastSweep: UInt64 = 0

  // MARK: - Gone

  mutating func add(in directory: NodeIndex) {
    if gone[directory] == nil { sweepable.append(directory) }
    gone[directory, default: Gone()].count += 1
  }

  mutating func remove(in directory: NodeIndex) {
    gone[directory]?.count -= 1
    if gone[directory]?.count == 0 { gone[directory] = nil }
  }

  /// A directory is no longer in use: its sweep may have been left because of that.
  mutating func noteSweepable(_ directory: NodeIndex) { if gone[directory] != nil { sweepable.append(directory) } }

  /// Whether a directory waits for being swept.
  var hasSweepable: Bool { !sweepable.isEmpty }

  /// Takes names that are gone out of the list of one directory.
  ///
  /// - Parameters:
  ///   - limit: Names looked at.
  ///   - isInUse: As `NameGraph.sweepNext`.
  /// - Returns: Those names: they are in no list but that of their item.
  mutating func sweepNext(
    limit: Int, _ nodes: inout NodeTable, _ names: inout NameTable, isInUse: (NodeIndex) -> Bool
  ) -> [NameIndex] {
    var taken: [NameIndex] = []
    guard let directory = sweepable.last else { return taken }
    if isInUse(directory) || sweep(directory, limit: limit, &nodes, names: &names, into: &taken) {
      sweepable.removeLast()
    }
    return taken
  }

  /// - Returns: Whether all names of the directory were looked at.
  private mutating func sweep(
    _ directory: NodeIndex, limit: Int, _ nodes: inout NodeTable, names: inout NameTable, into taken: inout [NameIndex]
  ) -> Bool {
    // The last name that a sweep under way has left in the list; `end` before the first.
    guard var previous = gone[directory]?.sweptTo else { return true }
    // A name that is to be indexed is not to go away.
    if names.isEntering(directory), !names.enterSome(of: directory, &nodes) { return false }
    var list = (first: nodes[directory].firstChild, last: nodes[directory].lastChild)
    let isAll = names.removeGone(after: &previous, limit: limit, from: &list) { taken.append($0) }
    (nodes[directory].firstChild, nodes[directory].lastChild) = list
    if isAll { gone[directory] = nil } else { gone[directory]?.sweptTo = previous }
    countSweep(of: directory)
    return isAll
  }

  /// Another number after each step of a sweep; 0 for a directory that was never swept.
  func sweeps(of directory: NodeIndex) -> UInt64 { sweeps[directory] ?? 0 }

  private mutating func countSweep(of directory: NodeIndex) {
    lastSweep += 1
    sweeps[directory] = lastSweep
    // What it was may not be in the list any more.
    notePresent(in: directory)
  }

  /// A directory is forgotten.
  mutating func leave(_ directory: NodeIndex) {
    sweeps[directory] = nil
    notePresent(in: directory)
  }

  // MARK: - Absent

  /// Whether none of the names in a directory's list is present. - Parameter limit: Names looked at.
  ///
  /// - Returns: nil when there are more to be looked at: who asks again goes on where this one stopped.
  mutating func isNonePresent(
    in directory: NodeIndex, first: NameIndex, _ names: borrowing NameTable, limit: Int
  ) -> Bool? {
    var last = absent.isEmpty ? nil : absent[directory]
    let isNone = names.isNonePresent(after: &last, first: first, limit: limit)
    absent[directory] = last
    return isNone
  }

  /// A name of a directory is present again, or its list has changed.
  mutating func notePresent(in directory: NodeIndex) { if !absent.isEmpty { absent[directory] = nil } }

  // MARK: - Former

  mutating func addFormer(in directory: NodeIndex) { former[directory, default: 0] += 1 }

  /// - Returns: Whether it was the directory's last one.
  mutating func removeFormer(in directory: NodeIndex) -> Bool {
    guard let count = former[directory], count > 1 else {
      former[directory] = nil
      return true
    }
    former[directory] = count - 1
    return false
  }

  /// Whether items without a name were in a directory: it is not forgotten before them.
  func hasFormer(in directory: NodeIndex) -> Bool { former[directory] != nil }
}

extension NameGraph {
  /// A name of an item that is there no more.
  struct FreedName {
    let node: NodeIndex
    /// Of its text.
    let length: Int
  }
}
