/// A JSON text as a tree that can be changed and written again, valid or not.
public indirect enum JSONNode: Sendable {
  /// A number or a word, as it is written.
  case word([UInt8])
  /// As it is written, without its quotes.
  case string([UInt8])
  case array([JSONNode])
  case object([(key: [UInt8], value: JSONNode)])

  /// - Parameter text: Valid JSON; nil for what is none.
  public init?(_ text: [UInt8]) {
    var position = 0
    guard let node = Self.parse(text, &position) else { return nil }
    self = node
  }

  public var text: [UInt8] {
    switch self {
    case .word(let bytes): bytes
    case .string(let bytes): Self.quoted(bytes)
    case .array(let nodes):
      [UInt8(ascii: "[")] + nodes.map(\.text).joined(separator: [UInt8(ascii: ",")]) + [UInt8(ascii: "]")]
    case .object(let fields):
      [UInt8(ascii: "{")]
        + fields.map { Self.quoted($0.key) + [UInt8(ascii: ":")] + $0.value.text }.joined(separator: [UInt8(ascii: ",")]
        )
        + [UInt8(ascii: "}")]
    }
  }

  /// How many nodes there are, this one included.
  var count: Int {
    switch self {
    case .word, .string: 1
    case .array(let nodes): nodes.reduce(1) { $0 + $1.count }
    case .object(let fields): fields.reduce(1) { $0 + $1.value.count }
    }
  }

  private static func quoted(_ bytes: [UInt8]) -> [UInt8] { [UInt8(ascii: "\"")] + bytes + [UInt8(ascii: "\"")] }

  private static func parse(_ text: [UInt8], _ position: inout Int) -> JSONNode? {
    func skip() {
      while position < text.count, text[position] == 0x20 || (9...13).contains(text[position]) { position += 1 }
    }
    func string() -> [UInt8]? {
      guard position < text.count, text[position] == UInt8(ascii: "\"") else { return nil }
      let start = position + 1
      position = start
      while position < text.count, text[position] != UInt8(ascii: "\"") {
        position += text[position] == UInt8(ascii: "\\") ? 2 : 1
      }
      guard position < text.count else { return nil }
      position += 1
      return Array(text[start..<position - 1])
    }
    func list(_ end: UInt8, _ element: () -> Bool) -> Bool {
      position += 1
      while true {
        skip()
        guard position < text.count else { return false }
        if text[position] == end {
          position += 1
          return true
        }
        if text[position] == UInt8(ascii: ",") { position += 1 } else if !element() { return false }
      }
    }
    skip()
    guard position < text.count else { return nil }
    switch text[position] {
    case UInt8(ascii: "\""): return string().map { .string($0) }
    case UInt8(ascii: "["):
      var nodes: [JSONNode] = []
      let isWhole = list(UInt8(ascii: "]")) {
        guard let node = parse(text, &position) else { return false }
        nodes.append(node)
        return true
      }
      return isWhole ? .array(nodes) : nil
    case UInt8(ascii: "{"):
      var fields: [(key: [UInt8], value: JSONNode)] = []
      let isWhole = list(UInt8(ascii: "}")) {
        guard let key = string() else { return false }
        skip()
        position += 1
        guard let node = parse(text, &position) else { return false }
        fields.append((key, node))
        return true
      }
      return isWhole ? .object(fields) : nil
    default:
      let start = position
      while position < text.count, !Array(",]} \n\t".utf8).contains(text[position]) { position += 1 }
      return position > start ? .word(Array(text[start..<position])) : nil
    }
  }
}
