/// What a name in a content directory stands for. Only names that the store itself would write, spelled as it would.
enum ContentName: Equatable {
  case file(UInt64)
  case part(UInt64)
  case slab(UInt16)
  case table(UInt16)

  /// LIMIT: numbers of files that are taken over; as many are left for new ones.
  private static let numberLimit: UInt64 = 1 << 61

  init?(_ name: [UInt8]) {
    let text = String(decoding: name, as: UTF8.self)
    if text.hasPrefix("slab-") {
      let isTable = text.hasSuffix(".table")
      guard let number = Self.number(text.dropFirst(5).dropLast(isTable ? 6 : 0)), let short = UInt16(exactly: number)
      else { return nil }
      self = isTable ? .table(short) : .slab(short)
      return
    }
    let isPart = text.hasSuffix(".part")
    guard let number = Self.number(text.dropLast(isPart ? 5 : 0)), number < Self.numberLimit else { return nil }
    self = isPart ? .part(number) : .file(number)
  }

  /// Digits, with no other spelling of the same number.
  private static func number(_ text: Substring) -> UInt64? {
    guard let number = UInt64(text), text == "\(number)" else { return nil }
    return number
  }
}
