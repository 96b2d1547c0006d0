/// Takes values out of bytes that anybody may have written: whatever is not there, or is not what it should be, is
/// `Damage`.
struct ByteReader {
  private var rest: ArraySlice<UInt8>
  /// As `Catalog.home`.
  private let home: UInt64

  init(_ bytes: [UInt8], home: UInt64 = 0) {
    rest = bytes[...]
    self.home = home
  }

  var isAtEnd: Bool { rest.isEmpty }

  mutating func take<Integer: FixedWidthInteger>(_ type: Integer.Type = Integer.self) throws(Damage) -> Integer {
    let size = MemoryLayout<Integer>.size
    guard rest.count >= size else { throw Damage("it ends too early") }
    let value = rest.prefix(size).withUnsafeBytes { $0.loadUnaligned(as: Integer.self) }
    rest.removeFirst(size)
    return Integer(littleEndian: value)
  }

  mutating func takeDevice() throws(Damage) -> UInt64 {
    let device: UInt64 = try take()
    return device == 0 ? home : device
  }

  mutating func takeFlag() throws(Damage) -> Bool {
    switch try take(UInt8.self) {
    case 0: return false
    case 1: return true
    default: throw Damage("a flag is neither 0 nor 1")
    }
  }

  /// - Parameter limit: The most bytes that make sense.
  mutating func takeBytes(limit: Int) throws(Damage) -> [UInt8] {
    let count = Int(try take(UInt32.self))
    guard count <= limit else { throw Damage("\(count) bytes are too many") }
    guard count <= rest.count else { throw Damage("it ends too early") }
    defer { rest.removeFirst(count) }
    return Array(rest.prefix(count))
  }
}

/// Why something that was saved cannot be true.
struct Damage: Error, Equatable, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
