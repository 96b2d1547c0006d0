public import DatalessCore
internal import DatalessStores
internal import Synchronization
internal import SystemPackage

/// What is wrong with the state directory of a volume that serves: files that have lost what programs wrote to them,
/// and rows that cannot be read.
public struct StateTroubles: Sendable, Equatable {
  /// Files whose content is missing, or has less than was written to it, as far as they were met.
  public internal(set) var lostFiles = 0
  /// The path of the first of them; nil where callers do not find it.
  public internal(set) var firstLost: [UInt8]?
  /// What could not be read of directories, and why: the first of them. With them all is told by `check`.
  public internal(set) var damages: [String] = []

  /// LIMIT: damages that are kept.
  static let damagesMax = 4
}

/// `StateTroubles`, as they are met.
final class TroubleNotes: Sendable {
  private struct State {
    var troubles = StateTroubles()
    var items: Set<Int64> = []
  }

  private let state = Mutex(State())

  var troubles: StateTroubles { state.withLock { $0.troubles } }

  /// A file has lost content. - Parameter path: nil where callers do not find it.
  func noteLost(_ item: Int64, path: [UInt8]?) {
    state.withLock { state in
      guard state.items.insert(item).inserted else { return }
      state.troubles.lostFiles += 1
      if state.troubles.firstLost == nil { state.troubles.firstLost = path }
    }
  }

  func noteDamage(_ error: FSError) {
    guard error.errno == .ioError else { return }
    state.withLock { state in
      guard state.troubles.damages.count < StateTroubles.damagesMax, !state.troubles.damages.contains(error.message)
      else { return }
      state.troubles.damages.append(error.message)
    }
  }
}

extension StateVolume {
  /// What was found to be wrong so far.
  public var troubles: StateTroubles { notes.troubles }

  /// Rows that are read at a time: others read the catalog in between.
  private static var lookedAtAtATime: Int64 { 512 }

  /// Looks for files that have lost what programs wrote to them. At most once after each opening; on a thread that may
  /// wait for the disk.
  ///
  /// - Throws: EIO: the catalog is damaged.
  public func findLostContent() throws(FSError) {
    var suspects: [ContentID] = []
    var next: Int64? = .min
    while let start = next {
      next = try catalog.read("cannot look for content") { try lookForLostContent($0, from: start, &suspects) }
    }
    guard !suspects.isEmpty else { return }
    // What programs have changed since: only what is so still is lost.
    if journal.backlog > 0 { try journal.commit() }
    try catalog.read("cannot look for content") { connection in
      for content in suspects {
        guard let row = try connection.item(with: content), hasLostContent(row) else { continue }
        notes.noteLost(row.id, path: try CatalogSearch(connection).path(of: row.id))
      }
    }
  }

  /// - Returns: Where to go on; nil at the end.
  private func lookForLostContent(
    _ connection: CatalogConnection, from start: Int64, _ suspects: inout [ContentID]
  ) throws -> Int64? {
    var (count, last): (Int64, Int64) = (0, start)
    try connection.forEach(
      "SELECT \(ItemRow.columns) FROM item WHERE content >= ? ORDER BY content LIMIT ?", .integer(start),
      .integer(Self.lookedAtAtATime)
    ) { found in
      count += 1
      last = try found.integer(4)
      // What cannot be read is told when somebody looks into its directory.
      guard let row = try? ItemRow(found), hasLostContent(row), let content = row.content else { return }
      suspects.append(content)
    }
    return count == Self.lookedAtAtATime && last < .max ? last + 1 : nil
  }

  /// Whether content that a program wrote is missing, or shorter than an earlier run has told at an end that was one.
  func hasLostContent(_ row: ItemRow) -> Bool {
    guard row.record.isDirty, let id = row.content else { return false }
    guard let size = try? content.size(of: id) else {
      return row.isLostWithItsContent(isOnDisk: isTrusted(row.record.epoch))
    }
    // This run may be cutting it off just now.
    guard let sizesFrom, row.record.epoch >= sizesFrom, isOfEarlierRun(row.record.epoch) else { return false }
    return isTrusted(row.record.epoch) && size < row.record.attributes?.size ?? 0
  }
}
