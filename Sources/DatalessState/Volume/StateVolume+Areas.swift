public import DatalessCore
internal import SystemPackage

/// What the data in some directories is for, as the scenario of the last mount that said it has it: files belong to
/// areas by their paths alone, so that is all that has to be kept of them.
extension StateVolume {
  /// LIMIT: bytes.
  private static let areasMax = 1 << 20

  /// JSON; nil if there are none. Whoever reads it decides whether it says areas: somebody else may have written it.
  ///
  /// - Throws: EIO: the setting is damaged.
  public func keptAreas() throws(FSError) -> [UInt8]? {
    try catalog.read("cannot read the areas") { connection in
      let areas = try connection.setting(.areas)
      guard (areas?.count ?? 0) <= Self.areasMax else { throw Damage("the areas take more than 1 MiB") }
      return areas
    }
  }

  /// Keeps areas in the place of those from before; nil: there are none any more. Durable when it returns.
  ///
  /// - Throws: EFBIG (more than 1 MiB), ENOSPC, EDQUOT, EIO.
  public func keepAreas(_ areas: [UInt8]?) throws(FSError) {
    guard (areas?.count ?? 0) <= Self.areasMax else {
      throw FSError(.fileTooLarge, "the areas of the scenario take more than 1 MiB")
    }
    guard try keptAreas() != areas else { return }
    try journal.write("cannot keep the areas") { _, connection in
      if let areas { try connection.set(.areas, to: areas) } else { try connection.remove(.areas) }
    }
  }
}
