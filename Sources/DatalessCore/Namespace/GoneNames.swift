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

  var nextToSweep: NodeIndex? { sweepable.last }

  /// The next directory is swept, or in use.
  mutating func leaveNext() { _ = sweepable.popLast() }

  /// The last name that a sweep under way has left in a list; `end` before the first; nil if nothing is to be swept.
  func sweptTo(in directory: NodeIndex) -> NameIndex? { gone[directory]?.sweptTo }

  mutating func setSweptTo(_ name: NameIndex, in directory: NodeIndex) {
    gone[directory]?.sweptTo = name
    countSweep(of: directory)
  }

  /// All names of a directory's list were looked at.
  mutating func noteSwept(_ directory: NodeIndex) {
    gone[directory] = nil
    countSweep(of: directory)
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

  /// The name of a directory's list up to which, itself included, none is present; nil if nothing is known.
  func absentUpTo(in directory: NodeIndex) -> NameIndex? { absent.isEmpty ? nil : absent[directory] }

  mutating func setAbsent(upTo name: NameIndex?, in directory: NodeIndex) { absent[directory] = name }

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
