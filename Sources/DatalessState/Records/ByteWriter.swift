/// Puts values one after the other, as `ByteReader` takes them: integers little-endian in full, bytes with their
/// number before them.
struct ByteWriter {
  private(set) var bytes: [UInt8] = []
  /// As `Catalog.home`.
  private let home: UInt64

  init(home: UInt64 = 0) { self.home = home }

  mutating func put<Integer: FixedWidthInteger>(_ value: Integer) {
    withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func put(_ flag: Bool) { bytes.append(flag ? 1 : 0) }

  mutating func putDevice(_ device: UInt64) { put(device == home ? 0 : device) }

  mutating func put(_ value: [UInt8]) {
    put(UInt32(truncatingIfNeeded: value.count))
    bytes.append(contentsOf: value)
  }
}
