/// Changes of JSON that know its grammar: other types, keys, depths, numbers and texts in the place of one value.
public enum JSONMutation {
  private static let numbers = [
    "0", "-1", "1", "-0", "0.5", "1e3", "1E400", "-1e-400", "2147483647", "2147483648", "4294967295", "4294967296",
    "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
    "18446744073709551615",
    "18446744073709551616", "1000000000000000000000000000000000000000000000000000000000", "01", "+1", ".5", "1.", "0x1",
    "NaN", "Infinity", "true", "false", "null", "nul", "TRUE",
  ]
  private static let texts: [[UInt8]] =
    [
      "", "a", "/", "..", "a/../b", ".", "x\\u0000y", "\\u202ex", "\\ud83d\\ude00", "\\ud800", "\\udfff", "\\u00",
      "\\q", "\\",
      "\\\"", "\u{1b}]0;x\u{7}", "%", "*", "[", "**/x", "2026-01-02T03:04:05.000000000Z", "2026-99-99T99:99:99Z",
      "////", "AA==", "/w==", "*not base64*", "ok", "EIO", "EWHAT", "SIGKILL",
    ].map { Array($0.utf8) } + [[0xff, 0xfe], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0x0a], [0x00], [0xe2, 0x82]]
  /// Rare, because they take long.
  private static let longTexts: [[UInt8]] = [
    Array(repeating: 0x78, count: 70_000), Array(repeating: 0x2f, count: 5_000),
  ]

  /// The text of a sample with one to four changes, now and then with changes of its bytes, too.
  ///
  /// - Parameter others: Samples whose values are taken over.
  public static func mutated(_ sample: JSONNode, _ random: inout TestRandom, others: [JSONNode] = []) -> [UInt8] {
    var node = sample
    for _ in 0...random.below(4) {
      var place = random.below(node.count)
      node = changed(node, at: &place, &random, others)
    }
    var text = node.text
    if random.oneIn(8) { text = [0x20, 0x0a, 0x09] + text + [0x0d, 0x20] }
    return random.oneIn(4) ? ByteMutation.mutated(text, &random) : text
  }

  /// What overflows where it is added up, compared or divided.
  private static let extremes = [
    "-9223372036854775808", "-9223372036854775807", "9223372036854775807", "9223372036854775806", "0", "1", "-1",
  ].map { Array($0.utf8) }
  /// What a terminal obeys, as JSON writes it: a title, a clearing, a new line, C1 controls, a turn of direction.
  private static let obeyed = [
    "\\u001b]0;x\\u0007", "\\u001b[2J", "a\\nb\\r", "\\u009b2J", "\\u202ex\\u2028", "\\u007f",
  ]
  .map { Array($0.utf8) }

  /// A sample of the same form with many hostile texts and numbers, and keys that are there twice.
  ///
  /// - Parameters:
  ///   - kept: Keys whose values stay, so that the sample stays what it is.
  ///   - doubles: Whether fields are doubled.
  public static func hostile(
    _ node: JSONNode, _ random: inout TestRandom, keeping kept: Set<String>, doubles: Bool
  ) -> JSONNode {
    switch node {
    case .string: return random.oneIn(2) ? .string(random.element(of: obeyed)) : node
    case .word(let word):
      let isNumber = word.first.map { $0 == UInt8(ascii: "-") || (0x30...0x39).contains($0) } ?? false
      return isNumber && random.oneIn(2) ? .word(random.element(of: extremes)) : node
    case .array(let nodes):
      return .array(nodes.map { hostile($0, &random, keeping: kept, doubles: doubles) })
    case .object(var fields):
      for index in fields.indices where !kept.contains(String(decoding: fields[index].key, as: UTF8.self)) {
        fields[index].value = hostile(fields[index].value, &random, keeping: kept, doubles: doubles)
      }
      if doubles, !fields.isEmpty, random.oneIn(4) { fields.append(random.element(of: fields)) }
      return .object(fields)
    }
  }

  /// Changes the node with a number, counted from this one down.
  private static func changed(
    _ node: JSONNode, at place: inout Int, _ random: inout TestRandom, _ others: [JSONNode]
  ) -> JSONNode {
    if place == 0 {
      place = -1
      return change(node, &random, others)
    }
    place -= 1
    switch node {
    case .word, .string: return node
    case .array(var nodes):
      for index in nodes.indices where place >= 0 { nodes[index] = changed(nodes[index], at: &place, &random, others) }
      return .array(nodes)
    case .object(var fields):
      for index in fields.indices where place >= 0 {
        fields[index].value = changed(fields[index].value, at: &place, &random, others)
      }
      return .object(fields)
    }
  }

  private static func change(_ node: JSONNode, _ random: inout TestRandom, _ others: [JSONNode]) -> JSONNode {
    switch random.below(10) {
    case 0, 1: return .word(Array(random.element(of: numbers).utf8))
    case 2: return .string(random.element(of: random.oneIn(50) ? longTexts : texts))
    case 3:
      // Deeper than a reader may follow, or just as deep.
      let depth =
        random.oneIn(6)
        ? random.element(of: [60, 64, 66, 100, 512, 600]) : random.oneIn(100) ? 20_000 : random.below(4)
      return nested(node, depth, isObject: random.oneIn(2))
    case 4 where !others.isEmpty: return part(of: random.element(of: others), &random)
    case 5: return random.oneIn(2) ? .array([]) : .object([])
    default: return restructured(node, &random)
    }
  }

  private static func nested(_ node: JSONNode, _ depth: Int, isObject: Bool) -> JSONNode {
    guard depth < 100 else {
      // As text: a tree so deep could not be taken apart again.
      let (open, close): ([UInt8], [UInt8]) = isObject ? (Array(#"{"a":"#.utf8), [0x7d]) : ([0x5b], [0x5d])
      return .word(
        Array(repeatElement(open, count: depth).joined()) + node.text
          + Array(repeatElement(close, count: depth).joined()))
    }
    return (0..<depth).reduce(node) { inner, _ in
      isObject ? .object([(Array("a".utf8), inner)]) : .array([inner])
    }
  }

  private static func part(of node: JSONNode, _ random: inout TestRandom) -> JSONNode {
    switch node {
    case .array(let nodes) where !nodes.isEmpty: random.oneIn(2) ? node : part(of: random.element(of: nodes), &random)
    case .object(let fields) where !fields.isEmpty:
      random.oneIn(4) ? node : part(of: random.element(of: fields).value, &random)
    default: node
    }
  }

  private static func restructured(_ node: JSONNode, _ random: inout TestRandom) -> JSONNode {
    switch node {
    case .word(let bytes): return .word(ByteMutation.mutated(bytes, &random))
    case .string(let bytes):
      return random.oneIn(2) ? .word(bytes) : .string(ByteMutation.mutated(bytes, &random, others: texts))
    case .array(var nodes):
      guard !nodes.isEmpty else { return .array([node]) }
      let one = random.element(of: nodes)
      if random.oneIn(3) { nodes.removeLast() } else { nodes += Array(repeating: one, count: 1 + random.below(100)) }
      return .array(nodes)
    case .object(var fields):
      guard !fields.isEmpty else { return .object([(random.element(of: texts), node)]) }
      let place = random.below(fields.count)
      switch random.below(5) {
      case 0: fields.remove(at: place)
      case 1: fields.append(fields[place])
      case 2: fields[place].key = random.element(of: texts)
      case 3: fields.swapAt(place, random.below(fields.count))
      default: fields.append((random.element(of: fields).key, part(of: node, &random)))
      }
      return .object(fields)
    }
  }
}
