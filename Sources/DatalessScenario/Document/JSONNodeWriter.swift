internal import DatalessCore

/// Writes nodes as JSON. Characters beyond ASCII are escaped: some of them are line ends in YAML.
struct JSONNodeWriter {
  let pretty: Bool
  var bytes: [UInt8] = []

  init(pretty: Bool) { self.pretty = pretty }

  mutating func write(_ node: ScenarioNode, level: Int) {
    switch node.value {
    case .scalar(let text, let isQuoted):
      if !isQuoted, node.isNull {
        bytes += "null".utf8
      } else if !isQuoted, ScenarioNode.isJSONLiteral(text) {
        bytes += text
      } else {
        writeText(text)
      }
    case .sequence(let nodes):
      bytes.append(UInt8(ascii: "["))
      for (index, node) in nodes.enumerated() {
        separate(index, level)
        write(node, level: level + 1)
      }
      close(UInt8(ascii: "]"), isEmpty: nodes.isEmpty, level)
    case .mapping(let entries):
      bytes.append(UInt8(ascii: "{"))
      for (index, entry) in entries.enumerated() {
        separate(index, level)
        writeText(Array(entry.key.utf8))
        bytes += (pretty ? ": " : ":").utf8
        write(entry.value, level: level + 1)
      }
      close(UInt8(ascii: "}"), isEmpty: entries.isEmpty, level)
    }
  }

  private mutating func separate(_ index: Int, _ level: Int) {
    if index > 0 { bytes.append(UInt8(ascii: ",")) }
    if pretty { newLine(level + 1) }
  }

  private mutating func close(_ bracket: UInt8, isEmpty: Bool, _ level: Int) {
    if pretty, !isEmpty { newLine(level) }
    bytes.append(bracket)
  }

  private mutating func newLine(_ level: Int) {
    bytes.append(UInt8(ascii: "\n"))
    bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: level * 2))
  }

  private mutating func writeText(_ text: [UInt8]) {
    JSONString.append(text, to: &bytes, beyondASCII: .escaped)
  }
}
