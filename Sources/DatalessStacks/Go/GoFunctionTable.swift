/// Go's .gopclntab: for each address its function, file, line, and the size of its frame at that point.
///
/// Stripping leaves it in the program, which cannot run without it. With the frame sizes the stack pointer alone is
/// enough (S5). The bytes are a caller's: every number is checked, every loop ends.
public struct GoFunctionTable: Sendable {
  /// Of Go 1.18 and 1.19, and of 1.20 and later, which have the same fields as far as they are read here.
  static let magics: Set<UInt32> = [0xffff_fff0, firstLinesMagic]
  private static let firstLinesMagic: UInt32 = 0xffff_fff1
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
  /// Whether functions have the line on which they begin, as since Go 1.20.
  private let hasFirstLines: Bool
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
    hasFirstLines = magic == Self.firstLinesMagic
    quantum = UInt64(bytes[6])
    functionCount = count
    text = header[2] &+ bias
    (names, units, files, values, functions) = (header[3], header[4], header[5], header[6], header[7])
  }

  /// The function is that of the code, the file and the line those of what the compiler has put into it, where that is
  /// so (`inlined`).
  ///
  /// - Returns: nil when the address is in no function of the table.
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

/// What Go has put into a function of the code.
extension GoFunctionTable {
  // LIMIT: functions that are put into each other.
  private static let inlinedMax = 64

  /// One of them, as a function's tree of them has it.
  private struct Inlined {
    let name: UInt32
    /// From the function's beginning: an instruction of the line of the call.
    let call: UInt64

    static func size(hasFirstLines: Bool) -> UInt64 { hasFirstLines ? 16 : 20 }

    /// nil for what cannot be one.
    init?(_ bytes: [UInt8], hasFirstLines: Bool) {
      let (nameAt, callAt, lineAt) = hasFirstLines ? (4, 8, 12) : (12, 16, 8)
      guard let name = bytes.word(UInt32.self, at: nameAt), let line = bytes.word(Int32.self, at: lineAt), line >= 0,
        let call = bytes.word(Int32.self, at: callAt).flatMap({ UInt64(exactly: $0) })
      else { return nil }
      self.name = name
      self.call = call
    }
  }

  /// The functions that are inlined at an address, innermost first, each with the place of its call: the innermost one
  /// has the line that `place` tells.
  ///
  /// - Parameter data: Of what the program keeps about its functions so many bytes from a place on; nil where they
  ///   cannot be had.
  /// - Returns: nil where there are some that cannot be told; then the line belongs to none that is known.
  func inlined(at address: UInt64, data: (_ offset: UInt64, _ count: UInt64) -> [UInt8]?) -> [InlinedCall]? {
    guard let function = record(at: address) else { return [] }
    var calls: [InlinedCall] = []
    var place = address
    while calls.count < Self.inlinedMax {
      guard let index = inlinedIndex(in: function, at: place) else { return nil }
      guard let index = UInt64(exactly: index) else { return calls }
      let size = Inlined.size(hasFirstLines: hasFirstLines)
      guard let tree = inlinedTree(of: function), let bytes = data(tree + index * size, size),
        let inlined = Inlined(bytes, hasFirstLines: hasFirstLines), let name = name(inlined.name),
        // In the same function: what is anything else is no tree.
        record(at: function.entry &+ inlined.call)?.offset == function.offset
      else { return nil }
      place = function.entry &+ inlined.call
      calls.append(
        InlinedCall(
          function: name, file: value(5, of: function, at: place).flatMap { file($0, of: function) } ?? [],
          line: value(6, of: function, at: place).map { max(0, $0) } ?? 0))
    }
    return nil
  }

  /// A whole name, not the end of one.
  private func name(_ offset: UInt32) -> [UInt8]? {
    guard offset > 0, bytes.word(UInt8.self, at: names + UInt64(offset) - 1) == 0, let name = string(names, offset),
      !name.isEmpty
    else { return nil }
    return name
  }

  /// How many words a record has before the places of its tables and of its data.
  private var recordWords: UInt64 { hasFirstLines ? 11 : 10 }

  /// Which function of the tree an address belongs to: -1 for that of the code; nil where it cannot be read.
  private func inlinedIndex(in function: Record, at address: UInt64) -> Int? {
    let number: UInt64 = 2
    guard let count = function.field(7, bytes) else { return nil }
    guard count > number else { return -1 }
    guard let offset = function.field(recordWords + number, bytes) else { return nil }
    return offset == 0 ? -1 : value(recordWords + number, of: function, at: address)
  }

  /// Where the tree is in the data; nil without one.
  private func inlinedTree(of function: Record) -> UInt64? {
    let number: UInt64 = 3
    guard let tables = function.field(7, bytes),
      let count = bytes.word(UInt8.self, at: function.offset + recordWords * 4 - 1), count > number,
      let offset = function.field(recordWords + UInt64(tables) + number, bytes), offset != .max
    else { return nil }
    return UInt64(offset)
  }
}
