import DatalessCore

/// Finds where JSON values begin and end. It checks structure, not the spelling of numbers and words.
struct JSONScanner {
  private static let depthMax = 64
  private let buffer: UnsafeBufferPointer<UInt8>
  private(set) var index: Int

  init(_ buffer: UnsafeBufferPointer<UInt8>, _ index: Int) {
    self.buffer = buffer
    self.index = index
  }

  mutating func skipSpace() {
    while index < buffer.count, buffer[index] == 0x20 || (buffer[index] >= 9 && buffer[index] <= 13) { index += 1 }
  }

  /// Takes `byte`, after white space, if it comes next.
  private mutating func take(_ byte: UInt8) -> Bool {
    skipSpace()
    guard index < buffer.count, buffer[index] == byte else { return false }
    index += 1
    return true
  }

  /// Takes an object; calls `body` with the range of each key, quotes excluded, and of its value.
  mutating func object(_ body: (Range<Int>, Range<Int>) -> Void) -> Bool {
    guard take(UInt8(ascii: "{")) else { return false }
    if take(UInt8(ascii: "}")) { return true }
    repeat {
      skipSpace()
      let keyStart = index + 1
      guard string() else { return false }
      let key = keyStart..<index - 1
      guard take(UInt8(ascii: ":")) else { return false }
      skipSpace()
      let valueStart = index
      guard value(depth: 1) else { return false }
      body(key, valueStart..<index)
    } while take(UInt8(ascii: ","))
    return take(UInt8(ascii: "}"))
  }

  /// Takes an array; calls `body` with the range of each element.
  mutating func array(_ body: (Range<Int>) -> Void) -> Bool {
    guard take(UInt8(ascii: "[")) else { return false }
    if take(UInt8(ascii: "]")) { return true }
    repeat {
      skipSpace()
      let start = index
      guard value(depth: 1) else { return false }
      body(start..<index)
    } while take(UInt8(ascii: ","))
    return take(UInt8(ascii: "]"))
  }

  private mutating func value(depth: Int) -> Bool {
    guard index < buffer.count, depth < Self.depthMax else { return false }
    switch buffer[index] {
    case UInt8(ascii: "\""): return string()
    case UInt8(ascii: "{"): return container(UInt8(ascii: "}"), depth, isObject: true)
    case UInt8(ascii: "["): return container(UInt8(ascii: "]"), depth, isObject: false)
    default: return word()
    }
  }

  private mutating func container(_ end: UInt8, _ depth: Int, isObject: Bool) -> Bool {
    index += 1
    if take(end) { return true }
    repeat {
      skipSpace()
      if isObject {
        guard string(), take(UInt8(ascii: ":")) else { return false }
        skipSpace()
      }
      guard value(depth: depth + 1) else { return false }
    } while take(UInt8(ascii: ","))
    return take(end)
  }

  private mutating func string() -> Bool {
    guard index < buffer.count, buffer[index] == UInt8(ascii: "\"") else { return false }
    index += 1
    let bytes = UnsafeRawBufferPointer(buffer)
    while index + 8 <= bytes.count,
      JSONString.isPlain(bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
    { index += 8 }
    while index < buffer.count {
      switch buffer[index] {
      case UInt8(ascii: "\""):
        index += 1
        return true
      case UInt8(ascii: "\\"): index += 2
      case 0..<0x20: return false
      default: index += 1
      }
    }
    return false
  }

  /// A number, `true`, `false` or `null`.
  private mutating func word() -> Bool {
    let start = index
    while index < buffer.count {
      switch buffer[index] {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
        UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: "E"):
        index += 1
      default: return index > start
      }
    }
    return index > start
  }
}
