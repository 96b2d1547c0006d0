/// A sum over all that a row says (FNV-1a, 64 bits), so that damage is noticed: one byte that is another always is,
/// because each step is a bijection of the sum. It does not keep anybody from making a row of his own.
struct Checksum {
  private var hash: UInt64 = 0xcbf2_9ce4_8422_2325

  mutating func add(_ value: Int64) {
    for shift in stride(from: 0, to: 64, by: 8) { step(UInt8(truncatingIfNeeded: value >> Int64(shift))) }
  }

  /// The number of bytes counts, too: what one value ends with is not what the next begins with.
  mutating func add(_ bytes: [UInt8]) {
    add(Int64(bytes.count))
    for byte in bytes { step(byte) }
  }

  private mutating func step(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }

  var value: Int64 { Int64(bitPattern: hash) }

  static func of(_ values: [SQLValue]) -> Int64 {
    var sum = Checksum()
    for value in values {
      switch value {
      case .null: sum.add(-1)
      case .integer(let number): sum.add(number)
      case .bytes(let bytes): sum.add(bytes)
      case .text(let text): sum.add(Array(text.utf8))
      }
    }
    return sum.value
  }
}
