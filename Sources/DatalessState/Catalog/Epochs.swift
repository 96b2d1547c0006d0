import DatalessCore

/// Times in which content was written to one mount of the file system, and which of them can be believed.
///
/// Fetched content is not flushed: after a power loss it may be incomplete. It is there as long as the mount lives to
/// which it was written, and for ever once the file system was synchronized after it (the epoch is *sealed*).
struct Epochs: Sendable {
  /// In which content is written now.
  private(set) var current: Int64
  private var trusted: Set<Int64>

  /// Begins one.
  ///
  /// - Parameter identity: nil where the kernel does not tell mounts apart: then only what is sealed is believed.
  init(_ connection: CatalogConnection, _ identity: MountIdentity?) throws {
    var (sealed, last): (Set<Int64>, Int64) = ([], 0)
    try connection.forEach("SELECT number, boot, mount, sealed FROM epoch") { row in
      let number = try row.integer(0)
      guard number > 0, number < .max else { throw Damage("an epoch is out of range") }
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
    current = last + 1
    trusted = sealed.union([current])
    try Self.add(current, identity, connection)
  }

  private static func add(_ number: Int64, _ identity: MountIdentity?, _ connection: CatalogConnection) throws {
    try connection.run(
      "INSERT INTO epoch(number, boot, mount, sealed) VALUES(?, ?, ?, 0)", .integer(number),
      .bytes(identity?.boot ?? []), SQLValue(bits: identity?.mount ?? 0))
  }

  func isTrusted(_ epoch: Int64) -> Bool { trusted.contains(epoch) }

  /// Begins another one, before the file system is synchronized. - Returns: The one to be sealed after it.
  mutating func next(_ connection: CatalogConnection, _ identity: MountIdentity?) throws -> Int64 {
    try Self.add(current + 1, identity, connection)
    defer {
      current += 1
      trusted.insert(current)
    }
    return current
  }

  /// All that was written up to the end of an epoch is on the disk.
  static func seal(_ epoch: Int64, _ connection: CatalogConnection) throws {
    try connection.run("UPDATE epoch SET sealed = 1 WHERE number <= ?", .integer(epoch))
  }
}
