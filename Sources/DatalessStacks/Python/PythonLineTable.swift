/// Which line an instruction of a Python function belongs to.
enum PythonLineTable {
  // LIMIT: bytes of a table.
  static let bytesMax = 1 << 20

  /// - Parameters:
  ///   - instruction: In bytes from the beginning of the code.
  ///   - firstLine: Of the code object.
  ///   - minor: Of the version: 3.10 has another format than 3.11 and later.
  /// - Returns: nil where the instruction belongs to no line, or to none of the table.
  static func line(_ table: [UInt8], instruction: Int, firstLine: Int, minor: Int) -> Int? {
    guard instruction >= 0 else { return nil }
    return minor <= 10
      ? deltaLine(table, at: instruction, firstLine: firstLine)
      : locationLine(table, at: instruction, firstLine: firstLine)
  }

  /// PEP 626: how many bytes of code, and how many lines further, or -128 for none.
  private static func deltaLine(_ table: [UInt8], at instruction: Int, firstLine: Int) -> Int? {
    var line = firstLine
    var start = 0
    var index = 0
    while index + 1 < table.count {
      let length = Int(table[index])
      let change = Int8(bitPattern: table[index + 1])
      if change != -128 { line &+= Int(change) }
      if instruction < start + length { return change == -128 ? nil : line }
      start += length
      index += 2
    }
    return nil
  }

  /// Locations of 3.11: an entry begins with a byte that has the highest bit, 4 bits of kind and 3 of length.
  private static func locationLine(_ table: [UInt8], at instruction: Int, firstLine: Int) -> Int? {
    var line = firstLine
    var start = 0
    var index = 0
    while index < table.count {
      let kind = table[index] >> 3 & 15
      let length = (Int(table[index] & 7) + 1) * 2
      switch kind {
      case 13, 14: line &+= signedNumber(table, at: index + 1)
      case 10...12: line &+= Int(kind) - 10
      default: break
      }
      if instruction < start + length { return kind == 15 ? nil : line }
      start += length
      index += 1
      while index < table.count, table[index] & 0x80 == 0 { index += 1 }
    }
    return nil
  }

  /// Six bits a byte, the lowest first; the lowest bit of all is the sign.
  private static func signedNumber(_ table: [UInt8], at start: Int) -> Int {
    var value: UInt32 = 0
    var shift: UInt32 = 0
    for byte in table.dropFirst(start) {
      value |= UInt32(byte & 63) << shift
      shift += 6
      // A line number has 31 bits.
      if byte & 64 == 0 || shift > 30 { break }
    }
    return value & 1 == 0 ? Int(value >> 1) : -Int(value >> 1)
  }
}
