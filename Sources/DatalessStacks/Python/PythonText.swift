/// Reads str and bytes objects of CPython.
struct PythonText {
  let layout: PythonLayout.TextLayout

  // LIMIT: characters of a name; what is longer is cut.
  static let charactersMax: UInt64 = 1000

  /// - Returns: UTF-8; nil for a text that is not compact, which names and paths are.
  func string(_ object: UInt64, in memory: some CallerMemory) -> [UInt8]? {
    guard let length = memory.word(UInt64.self, at: object, layout.length),
      let state = memory.word(UInt32.self, at: object, layout.state)
    else { return nil }
    let kind = Int(state >> 2 & 7)
    guard kind == 1 || kind == 2 || kind == 4, state >> 5 & 1 == 1 else { return nil }
    let isASCII = state >> 6 & 1 == 1
    guard length > 0 else { return [] }
    let count = Int(min(length, Self.charactersMax)) * kind
    let (address, overflow) = object.addingReportingOverflow(
      UInt64(isASCII ? layout.asciiData : layout.compactData))
    guard !overflow, let bytes = memory.bytes(at: address, count: count) else { return nil }
    return Self.utf8(bytes, bytesPerCharacter: kind)
  }

  /// The content of a bytes object.
  func bytes(_ object: UInt64, in memory: some CallerMemory) -> [UInt8]? {
    guard let count = memory.word(UInt64.self, at: object, layout.byteCount).flatMap({ Int(exactly: $0) }),
      (1...PythonLineTable.bytesMax).contains(count)
    else { return nil }
    let (address, overflow) = object.addingReportingOverflow(UInt64(layout.byteData))
    return overflow ? nil : memory.bytes(at: address, count: count)
  }

  /// What is no character becomes U+FFFD: a path of bytes that are not UTF-8 has lone surrogates.
  static func utf8(_ bytes: [UInt8], bytesPerCharacter: Int) -> [UInt8] {
    var text = String.UnicodeScalarView()
    for offset in stride(from: 0, to: bytes.count - bytesPerCharacter + 1, by: bytesPerCharacter) {
      let value: UInt32 =
        switch bytesPerCharacter {
        case 1: UInt32(bytes[offset])
        case 2: UInt32(bytes.word(UInt16.self, at: offset) ?? 0)
        default: bytes.word(UInt32.self, at: offset) ?? 0
        }
      text.append(Unicode.Scalar(value) ?? "\u{fffd}")
    }
    return Array(String(text).utf8)
  }
}
