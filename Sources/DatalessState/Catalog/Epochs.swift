import DatalessCore

/// Times in which content was written to one mount of the file system, and which of them can be believed.
///
/// Fetched content is not flushed: after a power loss it may be incomplete. It is there as long as the mount lives to
/// which it was written, and for ever once the file system was synchronized after it (the epoch is *sealed*).
struct Epochs: Sendable {
  /// In which content is written now.
  private(set) var current: Int64
  /// The highest number that was given. One whose transaction failed is never given again: content may be remembered
  /// as written in it.
  private var last: Int64
  private var trusted: Set<Int64>
  /// The last epoch some of whose bytes the disk refused: neither it nor any before it is ever sealed.
  private var refused: Int64 = 0
  /// The first one of this run.
  let first: Int64
  /// Whether content of an earlier run is not believed any more: a machine lost power, or was started anew.
  let hasLost: Bool

  /// Begins one.
  ///
  /// - Parameter identity: nil where the kernel does not tell mounts apart: then only what is sealed is believed.
  init(_ connection: CatalogConnection, _ identity: MountIdentity?) throws {
    var (sealed, last): (Set<Int64>, Int64) = ([], 0)
    try connection.forEach("SELECT number, boot, mount, sealed FROM epoch") { row in
      let number = try row.integer(0)
      // As `check` has it: numbers above are nobody's, and there is always a next one.
      guard number > 0, number < .max / 2 else { throw Damage("an epoch is out of range") }
      last = max(last, number)
      let found = MountIdentity(boot: try row.bytes(1), mount: UInt64(bitPattern: try row.integer(2)))
      if try row.integer(3) == 1 || found == identity { sealed.insert(number) }
    }
    // What cannot be believed is not known any more, so that sealing does not make it so.
    if let identity {
      try connection.run(
        "DELETE FROM epoch WHERE sealed = 0 AND NOT (boot = ? AND mount = ?)", .bytes(identity.boot),
        SQLValue(bits: identity.mount))
    } else {
      try connection.run("DELETE FROM epoch WHERE sealed = 0")
    }
    hasLost = connection.changes > 0
    current = last + 1
    first = current
    self.last = current
    trusted = sealed.union([current])
    try Self.add(current, identity, in: connection)
  }

  private static func add(_ number: Int64, _ identity: MountIdentity?, in connection: CatalogConnection) throws {
    try connection.run(
      "INSERT INTO epoch(number, boot, mount, sealed) VALUES(?, ?, ?, 0)", .integer(number),
      .bytes(identity?.boot ?? []), SQLValue(bits: identity?.mount ?? 0))
  }

  func isTrusted(_ epoch: Int64) -> Bool { trusted.contains(epoch) }

  /// Begins another one, before the file system is synchronized: `ended` is to be sealed after it. `commit` follows,
  /// unless the transaction fails.
  mutating func next(
    _ connection: CatalogConnection, _ identity: MountIdentity?
  ) throws -> (ended: Int64, begun: Int64) {
    last += 1
    try Self.add(last, identity, in: connection)
    // Content may be told with it as soon as it is committed.
    trusted.insert(last)
    return (current, last)
  }

  /// The transaction that has begun an epoch is on the disk.
  mutating func commit(_ begun: Int64) { current = max(current, begun) }

  /// All that was written up to the end of an epoch is on the disk.
  func seal(_ ended: Int64, _ connection: CatalogConnection) throws {
    try connection.run(
      "UPDATE epoch SET sealed = 1 WHERE number <= ? AND number > ?", .integer(ended), .integer(refused))
  }

  /// All that this run has written up to the end of an epoch is on the disk.
  func sealOwn(_ ended: Int64, _ connection: CatalogConnection) throws {
    try connection.run(
      "UPDATE epoch SET sealed = 1 WHERE number <= ? AND number > ? AND number >= ?", .integer(ended),
      .integer(refused), .integer(first))
  }

  /// The disk has refused bytes of an epoch, or of one before it. It says so once: a later synchronization that
  /// succeeds proves nothing of them.
  mutating func refuse(_ ended: Int64) { refused = max(refused, ended) }

  /// What was refused is not known any more to the next run.
  func forgetRefused(_ connection: CatalogConnection) throws {
    try connection.run("DELETE FROM epoch WHERE sealed = 0 AND number <= ?", .integer(refused))
  }
}
