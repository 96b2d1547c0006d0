/// How an intent holds a name: for itself, or because it lies on the way to others that it holds.
enum AccessMode: Int, CaseIterable {
  /// A directory below which something is read, or written.
  case readBelow, writeBelow
  case read
  /// What is read itself, and below which something is written.
  case readAndWriteBelow
  case write

  /// What this one cannot be beside: readers share, writers exclude, and whoever holds a directory holds all below it.
  var excluded: [AccessMode] { Self.exclusions[rawValue] }

  func excludes(_ other: AccessMode) -> Bool { excluded.contains(other) }

  private static let exclusions: [[AccessMode]] = [
    [.write],
    [.read, .readAndWriteBelow, .write],
    [.writeBelow, .readAndWriteBelow, .write],
    [.writeBelow, .read, .readAndWriteBelow, .write],
    [.readBelow, .writeBelow, .read, .readAndWriteBelow, .write],
  ]
}

/// What one intent does at one name, and how much of it below.
struct AccessEntry {
  private var reads = false
  private var writes = false
  private var readsBelow = 0
  private var writesBelow = 0

  var mode: AccessMode {
    if writes { return .write }
    if reads { return writesBelow > 0 ? .readAndWriteBelow : .read }
    return writesBelow > 0 ? .writeBelow : .readBelow
  }

  /// - Returns: False when it was there before.
  mutating func claim(isWrite: Bool) -> Bool {
    defer { if isWrite { writes = true } else { reads = true } }
    return isWrite ? !writes : !reads
  }

  mutating func claimBelow(reads: Int, writes: Int) {
    readsBelow += reads
    writesBelow += writes
  }

  /// Whether something is written at the name or below it, or only read; nil: neither.
  var isWrite: Bool? {
    if writes || writesBelow > 0 { return true }
    return reads || readsBelow > 0 ? false : nil
  }

  /// Whether the name itself, with all below it, is written, or only read; nil: neither.
  var isWriteOfWhole: Bool? { writes ? true : reads ? false : nil }
}
