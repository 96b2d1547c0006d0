/// Inode numbers of what is made on the volume: bit 62 is set and bit 63 is not, so that they lie apart from nearly
/// every store's, and from the hashes that a local store gives (bit 63).
struct MadeNumbers {
  private static let base: UInt64 = 1 << 62

  /// Without bit 62.
  private var next: UInt64

  /// - Parameter first: The first number to be given, without bit 62; at least 1.
  init(first: UInt64) { next = max(first, 1) }

  static func isInRange(_ inode: UInt64) -> Bool { inode >> 62 == 1 }

  /// A number that was not given before. - Parameter used: The largest one of the store in the range, or 0.
  /// - Returns: nil when all are given.
  mutating func take(above used: UInt64) -> UInt64? {
    if Self.isInRange(used) { next = max(next, used - Self.base + 1) }
    guard next < Self.base else { return nil }
    defer { next += 1 }
    return Self.base | next
  }
}
