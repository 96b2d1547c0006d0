/// One value of a scenario as it was written, with its place: YAML and JSON are the same here.
public struct ScenarioNode: Sendable {
  public enum Value: Sendable {
    /// The bytes, always UTF-8, and whether they stood in quotes (or in a block scalar): `"5"` is a text, `5` a number.
    case scalar([UInt8], isQuoted: Bool)
    case sequence([ScenarioNode])
    /// In the order of the file; no key twice.
    case mapping([Entry])
  }

  public struct Entry: Sendable {
    public var key: String
    /// Where the key stands, from 1.
    public var line: Int32
    public var column: Int32
    public var value: ScenarioNode

    public init(key: String, line: Int32 = 1, column: Int32 = 1, value: ScenarioNode) {
      self.key = key
      self.line = line
      self.column = column
      self.value = value
    }
  }

  public var value: Value
  /// Where the value starts, from 1; columns in characters.
  public var line: Int32
  public var column: Int32

  public init(_ value: Value, line: Int32 = 1, column: Int32 = 1) {
    self.value = value
    self.line = line
    self.column = column
  }

  /// A text, as if it had been written in quotes.
  public static func text(_ text: String) -> ScenarioNode { ScenarioNode(.scalar(Array(text.utf8), isQuoted: true)) }

  /// A number, `true` or `false`, as if it had been written without quotes.
  public static func plain(_ text: String) -> ScenarioNode { ScenarioNode(.scalar(Array(text.utf8), isQuoted: false)) }

  public static func list(_ values: [ScenarioNode]) -> ScenarioNode { ScenarioNode(.sequence(values)) }

  public static func object(_ fields: KeyValuePairs<String, ScenarioNode>) -> ScenarioNode {
    ScenarioNode(.mapping(fields.map { Entry(key: $0.key, value: $0.value) }))
  }

  /// The value of a key of a mapping; nil for another kind of value.
  public subscript(key: String) -> ScenarioNode? {
    guard case .mapping(let entries) = value else { return nil }
    return entries.first { $0.key == key }?.value
  }

  /// The value of a key, or below it with a dot: `present.blocks`.
  public func value(at path: String) -> ScenarioNode? {
    path.split(separator: ".").reduce(Optional(self)) { node, key in node?[String(key)] }
  }

  /// The text of a scalar; nil for another kind of value.
  public var text: String? {
    guard case .scalar(let bytes, _) = value else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Whether there is no value: nothing at all, `~` or `null`.
  var isNull: Bool {
    guard case .scalar(let bytes, isQuoted: false) = value else { return false }
    return bytes.isEmpty || bytes == Array("~".utf8) || bytes == Array("null".utf8) || bytes == Array("Null".utf8)
      || bytes == Array("NULL".utf8)
  }

  /// `a list`, `a mapping`: for messages.
  var kindName: String {
    switch value {
    case .scalar: "a single value"
    case .sequence: "a list"
    case .mapping: "a mapping"
    }
  }
}

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
