/// What had a path before, by the hash of the path, and in which order it left it.
struct FormerVersions: Sendable {
  private var newest: PathRows
  /// By the row: what had left the path before it did.
  private var older: PathRows

  init(limits: SpillLimits) { (newest, older) = (PathRows(limits: limits), PathRows(limits: limits)) }

  /// What has left a path last.
  func newest(of hash: UInt64) -> Int? { newest[hash] }

  func older(than row: Int) -> Int? { older[UInt64(row)] }

  /// - Parameter row: It has not left any path, or is back again.
  mutating func add(_ row: Int, of hash: UInt64) {
    if let before = newest[hash] { older[UInt64(row)] = before }
    newest[hash] = row
  }

  /// It is back again.
  mutating func remove(_ row: Int, of hash: UInt64) {
    guard var later = newest[hash] else { return }
    let before = older.remove(UInt64(row))
    guard later != row else {
      newest[hash] = before
      return
    }
    // It left not long ago.
    while let next = older[UInt64(later)] {
      if next == row {
        older[UInt64(later)] = before
        return
      }
      later = next
    }
  }
}

extension FileVersions {
  /// A version, and those before it, are not counted any more: a later one of the same file is materialized.
  mutating func countElsewhere(_ row: Int) {
    var next: Int? = row
    while let row = next, !self[row].hasLater {
      self[row].hasLater = true
      next = self[row].predecessor
    }
  }

  /// What has left a path last, and all that had left it before, may have been read unseen.
  mutating func noteUnseen(_ row: Int, _ former: FormerVersions) {
    var next: Int? = row
    // A log may say so of a million, a million times: each is told once.
    while let row = next, !self[row].areOlderUnseen {
      (self[row].isUnseen, self[row].areOlderUnseen) = (true, true)
      next = former.older(than: row)
    }
  }
}
