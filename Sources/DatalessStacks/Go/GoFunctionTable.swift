/// Go's .gopclntab: for each address its function, file, line, and the size of its frame at that point.
///
/// Stripping leaves it in the program, which cannot run without it. With the frame sizes the stack pointer alone is
/// enough (S5). The bytes are a caller's: every number is checked, every loop ends.
public struct GoFunctionTable: Sendable {
  /// Of Go 1.18 and 1.19, and of 1.20 and later, which have the same fields as far as they are read here.
  static let magics: Set<UInt32> = [0xffff_fff0, 0xffff_fff1]
  // LIMIT: bytes of a name or a path.
  static let textMax = 4096
  // LIMIT: steps of one table of values; a function of a megabyte has some ten thousand.
  static let stepsMax = 1 << 20

  public struct Place: Sendable, Equatable {
    public let function: [UInt8]
    /// nil where the table has none.
    public let file: [UInt8]?
    public let line: Int?
  }

  private let bytes: [UInt8]
  private let quantum: UInt64
  private let functionCount: Int
  /// Where the program's code lies in the process.
  private let text: UInt64
  private let names: UInt64
  private let units: UInt64
  private let files: UInt64
  private let values: UInt64
  private let functions: UInt64

  /// - Parameters:
  ///   - bytes: Of the section.
  ///   - bias: What is added to the file's addresses in the process.
  /// - Returns: nil for another version of the table, and for one that is cut.
  public init?(_ bytes: [UInt8], bias: UInt64) {
    guard let magic = bytes.word(UInt32.self, at: 0), Self.magics.contains(magic), bytes.count >= 72,
      bytes[4] == 0, bytes[5] == 0, [1, 2, 4].contains(bytes[6]), bytes[7] == 8
    else { return nil }
    let header = (0..<8).compactMap { bytes.word(UInt64.self, at: 8 + $0 * 8) }
    guard header.count == 8, header[3...].allSatisfy({ $0 <= UInt64(bytes.count) }), header[0] > 0,
      // Eight bytes each, and the end of the last one.
      header[0] <= (UInt64(bytes.count) - header[7]) / 8, let count = Int(exactly: header[0])
    else { return nil }
    self.bytes = bytes
    quantum = UInt64(bytes[6])
    functionCount = count
    text = header[2] &+ bias
    (names, units, files, values, functions) = (header[3], header[4], header[5], header[6], header[7])
  }

  /// nil when the address is in no function of the table.
  public func place(at address: UInt64) -> Place? {
    guard let function = record(at: address), let name = string(names, function.field(1, bytes)) else { return nil }
    let file = value(5, of: function, at: address).flatMap { self.file($0, of: function) }
    let line = value(6, of: function, at: address).flatMap { $0 > 0 ? $0 : nil }
    return Place(function: name, file: file, line: line)
  }

  /// Bytes between the stack pointer and the return address; nil when unknown.
  public func frameSize(at address: UInt64) -> UInt64? {
    guard let function = record(at: address) else { return nil }
    return value(4, of: function, at: address).flatMap { UInt64(exactly: $0) }
  }

  /// A record of a function: 32-bit words.
  private struct Record {
    let offset: UInt64
    let entry: UInt64

    func field(_ number: UInt64, _ bytes: [UInt8]) -> UInt32? { bytes.word(UInt32.self, at: offset + number * 4) }
  }

  private func record(at address: UInt64) -> Record? {
    guard address >= text, let distance = UInt32(exactly: address - text), let first = entry(0),
      let last = entry(functionCount), distance >= first, distance < last
    else { return nil }
    var (low, high) = (0, functionCount)
    while high - low > 1 {
      let middle = (low + high) / 2
      guard let start = entry(middle) else { return nil }
      if start <= distance { low = middle } else { high = middle }
    }
    guard let start = entry(low), start <= distance,
      let place = bytes.word(UInt32.self, at: functions + UInt64(low) * 8 + 4)
    else { return nil }
    // Both are below 4 GiB and the section's size: no sum wraps.
    return Record(offset: functions + UInt64(place), entry: text &+ UInt64(start))
  }

  private func entry(_ index: Int) -> UInt32? { bytes.word(UInt32.self, at: functions + UInt64(index) * 8) }

  private func string(_ table: UInt64, _ offset: UInt32?) -> [UInt8]? {
    guard let offset, let place = Int(exactly: table + UInt64(offset)) else { return nil }
    return bytes.text(at: place, limit: Self.textMax)
  }

  private func file(_ number: Int, of function: Record) -> [UInt8]? {
    guard let number = UInt32(exactly: number), let unit = function.field(8, bytes), unit != .max,
      let offset = bytes.word(UInt32.self, at: units + (UInt64(unit) + UInt64(number)) * 4), offset != .max
    else { return nil }
    return string(files, offset)
  }

  /// Pairs of how far the value changes and for how many bytes of code it stays so, as variable-length numbers.
  private func value(_ field: UInt64, of function: Record, at address: UInt64) -> Int? {
    guard let offset = function.field(field, bytes), offset != 0,
      var position = Int(exactly: values + UInt64(offset))
    else { return nil }
    var value: Int32 = -1
    var end = function.entry
    for step in 0..<Self.stepsMax {
      guard let change = number(&position), change != 0 || step == 0, let length = number(&position) else { return nil }
      value &+= change & 1 == 0 ? Int32(bitPattern: change >> 1) : Int32(bitPattern: ~(change >> 1))
      end &+= UInt64(length) * quantum
      if address < end { return Int(value) }
    }
    return nil
  }

  private func number(_ position: inout Int) -> UInt32? {
    var value: UInt32 = 0
    for shift in stride(from: UInt32(0), to: 35, by: 7) {
      guard let byte = bytes.word(UInt8.self, at: position) else { return nil }
      position += 1
      value |= UInt32(byte & 0x7f) << shift
      if byte & 0x80 == 0 { return value }
    }
    return nil
  }
}
