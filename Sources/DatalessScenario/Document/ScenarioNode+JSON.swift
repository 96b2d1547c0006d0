extension ScenarioNode {
  /// Reads a document, YAML or JSON, without looking at what it means.
  ///
  /// - Parameter name: What messages call the document.
  public init(parsing bytes: [UInt8], name: String) throws(ScenarioError) {
    self = try YAMLReader.read(bytes, file: name)
  }

  /// The node as JSON, ASCII but for characters beyond U+FFFF: YAML does not know the pairs of escapes that those need.
  /// Reading it again gives a node with the same JSON.
  ///
  /// - Parameter pretty: With line ends and two spaces for each level.
  public func json(pretty: Bool) -> [UInt8] {
    var writer = JSONNodeWriter(pretty: pretty)
    writer.write(self, level: 0)
    if pretty { writer.bytes.append(UInt8(ascii: "\n")) }
    return writer.bytes
  }

  /// Whether an unquoted scalar of these bytes is a number, `true`, `false` or `null` in JSON.
  static func isJSONLiteral(_ bytes: [UInt8]) -> Bool {
    switch bytes.first {
    case UInt8(ascii: "t"): return bytes == Array("true".utf8)
    case UInt8(ascii: "f"): return bytes == Array("false".utf8)
    case UInt8(ascii: "n"): return bytes == Array("null".utf8)
    default: return isJSONNumber(bytes)
    }
  }

  private static func isJSONNumber(_ bytes: [UInt8]) -> Bool {
    var rest = bytes[...]
    func digits() -> Int {
      let count = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }.count
      rest = rest.dropFirst(count)
      return count
    }
    if rest.first == UInt8(ascii: "-") { rest.removeFirst() }
    let hasLeadingZero = rest.first == UInt8(ascii: "0")
    let whole = digits()
    guard whole > 0, whole == 1 || !hasLeadingZero else { return false }
    if rest.first == UInt8(ascii: ".") {
      rest.removeFirst()
      if digits() == 0 { return false }
    }
    if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
      rest.removeFirst()
      if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest.removeFirst() }
      if digits() == 0 { return false }
    }
    return rest.isEmpty
  }
}
