import DatalessCore

/// What the catalog says of the volume as a whole, and of its end.
extension CatalogMending {
  mutating func mendSettings() throws {
    for setting in CatalogConnection.Setting.allCases {
      do {
        _ = try connection.setting(setting)
        if CatalogConnection.sessions.contains(setting) { _ = try connection.session(setting) }
        if setting == .sizesFrom { _ = try connection.number(setting) }
      } catch let damage as Damage {
        try connection.remove(setting)
        report.add(.damagedRow, "setting \(setting.rawValue)", message: damage.description, repair: "forgotten")
      }
    }
    let volume = Array(directory.marker.volume.utf8)
    let found = try connection.setting(.volume)
    guard found != volume else { return }
    // It was damaged before, so that this could not be read of its file.
    guard found == nil else { throw directory.foreign }
    // Whose rows they are is not known for certain: nothing is removed because they do not name it.
    hasLostRows = true
    report.add(.damagedRow, "setting volume", message: "it is missing", repair: "that of the directory")
    try connection.set(.volume, to: volume)
  }

  /// Whether all is in the catalog that was committed to it.
  mutating func mendEnd() throws {
    if let flaw = try end.mark.flaw(of: connection, log: end.log) {
      hasLostRows = true
      report.add(
        .lostCommits, StateName.catalog, message: "it may lack what was changed last: \(flaw)",
        repair: "what it does not name is kept")
    }
    let wasTorn = try connection.setting(.wasTorn) == [1]
    guard end.log.isTorn || wasTorn else { return }
    hasLostEnd = true
    if end.log.isTorn {
      report.add(
        .tornLog, StateName.catalog + "-wal",
        message: "its end is not what was written there: a loss of power has cut it, or the disk",
        repair: "left out")
    } else if !hasLostRows {
      // Else it is said already why: of a catalog that was made anew just now, for one.
      report.add(
        .tornLog, StateName.catalog,
        message: "it may lack names: its log was cut by a loss of power, or the disk, or a repair did not end",
        repair: "what it does not name is kept")
    }
    // In the transaction in which all content gets its name.
    try connection.remove(.wasTorn)
  }

  mutating func mendEpochs() throws {
    var damaged: [Int64] = []
    let identity = MountIdentity(of: directory.files.directory)
    // As `Epochs`: whether a machine lost power since something was written.
    var hasLost = false
    try connection.forEach("SELECT number, boot, mount, sealed FROM epoch") { row in
      let number = try row.integer(0)
      let sealed = try row.integer(3)
      guard number > 0, number < .max / 2, (0...1).contains(sealed) else { return damaged.append(number) }
      // Of clean content those that are neither sealed nor of a mount that lives are found out when the volume is
      // mounted.
      believed.insert(number)
      let found = MountIdentity(boot: try row.bytes(1), mount: UInt64(bitPattern: try row.integer(2)))
      if sealed == 1 || found == identity { trusted.insert(number) } else { hasLost = true }
    }
    for number in damaged {
      report.add(.damagedRow, "epoch \(number)", message: "it is out of range", repair: "forgotten")
      try connection.run("DELETE FROM epoch WHERE number = ?", .integer(number))
    }
    let hasEnded = try connection.hasEnded && !hasLostRows && !hasLostEnd && !hasLost && damaged.isEmpty
    sizesFrom = hasEnded ? try connection.sizesFrom : nil
  }

  mutating func mendHighestInode() throws {
    var highest: UInt64 = 0
    do {
      highest = try connection.number(.highestInode) ?? 0
    } catch is Damage {
      report.add(.damagedRow, "setting highestInode", message: "it is no number", repair: "counted anew")
    }
    let found = try connection.first(
      "SELECT max(inode) FROM item WHERE inode >= ?", SQLValue(bits: 1 << 62)
    ) { row throws in try row.optionalInteger(0) }
    let made = UInt64(bitPattern: (found ?? nil) ?? 0)
    if made > highest, made < 1 << 63 { try connection.set(.highestInode, to: made) }
  }

  /// What was mended has all that there is, and has ended.
  ///
  /// - Returns: The number of the session.
  mutating func endSession() throws -> UInt64 {
    let session = max(end.mark.number, try connection.session(.session) ?? 0)
    guard end.isMarked else { return session }
    try connection.set(.session, to: session)
    try connection.set(.endedSession, to: session)
    // Files may be shorter than a run has told that came to no end: that is known no more from now on.
    if sizesFrom == nil { try connection.set(.sizesFrom, to: UInt64(max(believed.max() ?? 0, 0)) + 1) }
    return session
  }
}
