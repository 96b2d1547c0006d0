/// Braces, written out.
extension PathPattern {
  /// LIMIT: what one pattern may stand for; a path is compared with each.
  public static let alternativesMax = 256
  /// LIMIT: braces in one another.
  public static let braceDepthMax = 8
  /// LIMIT: of all alternatives together: far more than paths are long.
  private static let alternativeBytesMax = 1 << 20

  /// All patterns that braces stand for: for each pair of braces one of its words, in every combination. A pattern
  /// without braces stands for itself. Brackets and backslashes take the meaning of braces and commas away.
  static func expand(_ text: [UInt8]) throws(PathPatternFlaw) -> [[UInt8]] {
    guard text.contains(where: { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "}") }) else { return [text] }
    var braces = Braces(text: text)
    return try braces.sequence(depth: 0)
  }

  private struct Braces {
    let text: [UInt8]
    var index = 0

    init(text: [UInt8]) { self.text = text }

    /// Up to the end; inside of braces, up to a comma or the closing brace.
    mutating func sequence(depth: Int) throws(PathPatternFlaw) -> [[UInt8]] {
      var results: [[UInt8]] = [[]]
      var literal: [UInt8] = []
      while index < text.count {
        let byte = text[index]
        switch byte {
        case UInt8(ascii: "{"):
          index += 1
          try Self.append([literal], to: &results)
          literal = []
          try Self.append(try words(depth: depth + 1), to: &results)
        case UInt8(ascii: "}") where depth == 0: throw PathPatternFlaw(.braceNotOpened)
        case UInt8(ascii: "}") where depth > 0, UInt8(ascii: ",") where depth > 0:
          try Self.append([literal], to: &results)
          return results
        case UInt8(ascii: "["), UInt8(ascii: "\\"):
          let end = byte == UInt8(ascii: "[") ? setEnd : min(index + 2, text.count)
          literal += text[index..<end]
          index = end
        default:
          literal.append(byte)
          index += 1
        }
      }
      guard depth == 0 else { throw PathPatternFlaw(.braceNotClosed) }
      try Self.append([literal], to: &results)
      return results
    }

    /// The words of one pair of braces, behind the opening one.
    private mutating func words(depth: Int) throws(PathPatternFlaw) -> [[UInt8]] {
      guard depth <= PathPattern.braceDepthMax else { throw PathPatternFlaw(.bracesTooDeep) }
      var words: [[UInt8]] = []
      var count = 0
      repeat {
        if count > 0 { index += 1 }
        words += try sequence(depth: depth)
        count += 1
        if words.count > PathPattern.alternativesMax { throw PathPatternFlaw(.bracesTooMany) }
      } while text[index] == UInt8(ascii: ",")
      index += 1
      guard count > 1 else { throw PathPatternFlaw(.braceOfOne) }
      return words
    }

    /// Behind a set, as the parser of sets sees its end; behind the bracket alone if there is none.
    private var setEnd: Int {
      var next = index + 1
      if next < text.count, text[next] == UInt8(ascii: "!") || text[next] == UInt8(ascii: "^") { next += 1 }
      let first = next
      while next < text.count, text[next] != UInt8(ascii: "/") {
        if text[next] == UInt8(ascii: "]"), next > first { return next + 1 }
        next += text[next] == UInt8(ascii: "\\") ? 2 : 1
      }
      return index + 1
    }

    /// Each result with each of the words behind it.
    private static func append(_ words: [[UInt8]], to results: inout [[UInt8]]) throws(PathPatternFlaw) {
      guard results.count * words.count <= PathPattern.alternativesMax else { throw PathPatternFlaw(.bracesTooMany) }
      let bytes = results.reduce(0) { $0 + $1.count } * words.count + words.reduce(0) { $0 + $1.count } * results.count
      guard bytes <= PathPattern.alternativeBytesMax else { throw PathPatternFlaw(.bracesTooMany) }
      results = results.flatMap { result in words.map { result + $0 } }
    }
  }
}
