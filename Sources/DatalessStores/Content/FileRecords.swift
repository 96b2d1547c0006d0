internal import Synchronization

/// What the store knows of content files of their own: about 50 bytes for each, which holds more than 128 KiB or is
/// written to.
final class FileRecords: Sendable {
  struct Record {
    var size: Int64
    /// Units of 4 KiB on the disk, as they were counted last.
    var pages: Int64
    /// Whether the file's name is on the disk, as well as its content.
    var isNameSynced = false
    /// Whether the disk has refused bytes of it, which nobody has any more.
    var hasLostBytes = false
  }

  private final class Shard: Sendable {
    let records = Mutex<[UInt64: Record]>([:])
  }

  /// Several, so that one that grows holds up few readers.
  private let shards = (0..<16).map { _ in Shard() }

  private func shard(_ number: UInt64) -> Shard { shards[Int(number % 16)] }

  /// Calls with each file, a shard of them at a time.
  func forEach(_ body: (UInt64, Int64) -> Void) {
    for shard in shards {
      for (number, record) in shard.records.withLock({ $0 }) { body(number, record.size) }
    }
  }

  subscript(number: UInt64) -> Record? { shard(number).records.withLock { $0[number] } }

  func add(_ number: UInt64, _ record: Record) { shard(number).records.withLock { $0[number] = record } }

  func remove(_ number: UInt64) -> Record? { shard(number).records.withLock { $0.removeValue(forKey: number) } }

  /// - Returns: The record as it was; nil if there is none.
  @discardableResult
  func update(_ number: UInt64, _ change: (inout Record) -> Void) -> Record? {
    shard(number).records.withLock { records in
      guard var record = records[number] else { return nil }
      let before = record
      change(&record)
      records[number] = record
      return before
    }
  }
}
