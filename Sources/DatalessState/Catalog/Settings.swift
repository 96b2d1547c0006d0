/// Values of the whole volume, by name.
extension CatalogConnection {
  enum Setting: String, CaseIterable {
    /// The volume's id, as in the marker.
    case volume
    /// What SOURCE was called.
    case source
    /// The highest inode number that was given on the volume, 8 bytes.
    case highestInode
    /// 1 byte: whether the volume ended as it should.
    case isClean
    /// 1 byte: whether it may lack names of content, which has got none since: the WAL had an end that was left out
    /// (`WALEnd`), it was not the latest one (`SessionMark.flaw`), or `check` has made it anew and did not come to its
    /// end.
    case wasTorn
    /// The last session, 8 bytes, and the last that has ended (`SessionMark`).
    case session
    case endedSession
    /// An epoch, 8 bytes: as `CatalogConnection.sizesFrom`.
    case sizesFrom
    /// As `KeptUses.last`, 8 bytes, and `KeptUses.apps`.
    case lastUse
    case appUses
    /// The areas of the scenario, JSON.
    case areas
  }

  func setting(_ setting: Setting) throws -> [UInt8]? {
    try first("SELECT value, sum FROM setting WHERE name = ?", .text(setting.rawValue)) { row throws in
      let value = try row.bytes(0)
      try row.checkSum([.text(setting.rawValue), .bytes(value)], in: 1)
      return value
    }
  }

  func set(_ setting: Setting, to value: [UInt8]) throws {
    try run(
      "INSERT OR REPLACE INTO setting(name, value, sum) VALUES(?, ?, ?)", .text(setting.rawValue), .bytes(value),
      .integer(Checksum.of([.text(setting.rawValue), .bytes(value)])))
  }

  func remove(_ setting: Setting) throws {
    try run("DELETE FROM setting WHERE name = ?", .text(setting.rawValue))
  }

  func number(_ setting: Setting) throws -> UInt64? {
    guard let bytes = try self.setting(setting) else { return nil }
    var reader = ByteReader(bytes)
    return try reader.take(UInt64.self)
  }

  func set(_ setting: Setting, to number: UInt64) throws {
    var writer = ByteWriter()
    writer.put(number)
    try set(setting, to: writer.bytes)
  }
}
