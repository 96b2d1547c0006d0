internal import DatalessCore

/// Ranges as people write them: `>1MB`, `1k..1M`, `1..3`, `0s..10s`.
enum RangeValues {
  // MARK: - Sizes

  static let size = ScenarioValue<ClosedRange<Int64>>(schema: sizeSchema) { node, decoder in
    let expected = "a size, or a range such as \">1MB\", \"<=4k\" or \"1k..1M\""
    guard let text = decoder.text(node, expected: expected) else { return nil }
    if let (low, high) = bounds(text) {
      if low.isEmpty, high.isEmpty {
        decoder.fail(node, "'\(Suggestion.quotable(text))' is not possible; expected \(expected).")
        return nil
      }
      guard let first = low.isEmpty ? 0 : BasicValues.bytes(low, node: node, decoder: &decoder),
        let last = high.isEmpty ? .max : BasicValues.bytes(high, node: node, decoder: &decoder)
      else { return nil }
      return range(first: first, last: last, text: text, node: node, decoder: &decoder)
    }
    for sign in [">=", "<=", ">", "<", "="] where text.hasPrefix(sign) {
      guard let value = BasicValues.bytes(trimmed(text.dropFirst(sign.count)), node: node, decoder: &decoder) else {
        return nil
      }
      switch sign {
      case ">=": return value...Int64.max
      case "<=": return 0...value
      case ">":
        return range(
          first: value == .max ? .max : value + 1, last: value == .max ? 0 : .max, text: text, node: node,
          decoder: &decoder)
      case "<": return range(first: 0, last: value - 1, text: text, node: node, decoder: &decoder)
      default: return value...value
      }
    }
    return BasicValues.bytes(text, node: node, decoder: &decoder).map { $0...$0 }
  }

  private static var sizeSchema: ScenarioNode {
    let one = "\(BasicValues.number) *\(BasicValues.sizeUnit)"
    return BasicValues.anyOf([
      BasicValues.count, BasicValues.pattern("((>=|<=|>|<|=) *)?\(one)|\(one) *\\.\\. *(\(one))?|\\.\\. *\(one)"),
    ])
  }

  private static func range(
    first: Int64, last: Int64, text: String, node: ScenarioNode, decoder: inout ScenarioDecoder
  ) -> ClosedRange<Int64>? {
    guard first <= last else {
      decoder.fail(
        node, "no size is in '\(Suggestion.quotable(text))', so the rule never matches. Put the smaller size first.")
      return nil
    }
    return first...last
  }

  // MARK: - Attempts

  struct Attempts: Sendable {
    var range: ClosedRange<Int>?
    var every: Int?
  }

  static let attempts = ScenarioValue<Attempts>(
    schema: BasicValues.anyOf([
      .object(["type": .text("integer"), "minimum": .plain("1"), "maximum": .plain("1000000000")]),
      BasicValues.pattern(#"[1-9][0-9]{0,8}( *\.\. *([1-9][0-9]{0,8})?)?"#), table.schema,
    ])
  ) { node, decoder in
    if case .mapping(let entries) = node.value {
      var attempts = Attempts()
      guard table.read(node, into: &attempts, &decoder) else { return nil }
      if entries.isEmpty { decoder.fail(node, "an empty mapping. Write {first: 2} or {every: 3}.") }
      if let last = attempts.range?.upperBound, let every = attempts.every, every > last {
        decoder.fail(
          node,
          "none of the first \(last) attempts is a multiple of \(every), so the rule never matches. "
            + "Make 'every' at most 'first'.")
      }
      return entries.isEmpty ? nil : attempts
    }
    let expected = "an attempt from 1, a range such as \"1..3\", {first: 2} or {every: 3}"
    guard let text = decoder.text(node, expected: expected) else { return nil }
    let (low, high) = bounds(text) ?? (text, text)
    let last = high.isEmpty ? UInt64(Int.max) : BasicValues.wholeNumber(high)
    guard let first = BasicValues.wholeNumber(low), let last, (1...1_000_000_000).contains(first),
      last <= 1_000_000_000 || high.isEmpty
    else {
      decoder.fail(node, "'\(Suggestion.quotable(text))' is not possible; expected \(expected).")
      return nil
    }
    guard first <= last else {
      decoder.fail(
        node, "no attempt is in '\(text)', so the rule never matches. Put the smaller number first.")
      return nil
    }
    return Attempts(range: Int(first)...Int(last))
  }

  private static let table = ScenarioFields<Attempts>(
    what: "'attempt'",
    fields: [
      ScenarioField(
        "first", summary: "The first so many attempts of an item: 1 to 1000000000.",
        value: BasicValues.integer(1...1_000_000_000, "a whole number from 1")
      ) { $0.range = 1...Int($1) },
      ScenarioField(
        "every", summary: "Every so manieth attempt of an item: n, 2n, 3n and so on; 1 to 1000000000.",
        value: BasicValues.integer(1...1_000_000_000, "a whole number from 1")
      ) { $0.every = Int($1) },
    ], constraints: [ScenarioNode.Entry(key: "minProperties", value: .plain("1"))])

  // MARK: - Times

  /// Since the scenario was loaded.
  static let window = ScenarioValue<Range<Nanoseconds>>(schema: windowSchema) { node, decoder in
    let expected = "a range of durations since the start, such as \"0s..10s\" or \"1m..\""
    guard let text = decoder.text(node, expected: expected) else { return nil }
    guard let (low, high) = bounds(text), !low.isEmpty || !high.isEmpty else {
      decoder.fail(node, "'\(Suggestion.quotable(text))' is not possible; expected \(expected).")
      return nil
    }
    guard let first = low.isEmpty ? 0 : BasicValues.nanoseconds(low, node: node, decoder: &decoder),
      let last = high.isEmpty ? .max : BasicValues.nanoseconds(high, node: node, decoder: &decoder)
    else { return nil }
    guard first < last else {
      decoder.fail(
        node, "no time is in '\(text)', so the rule never matches. Put the earlier time first.")
      return nil
    }
    return first..<last
  }

  private static var windowSchema: ScenarioNode {
    let one = "(\(BasicValues.number) *\(BasicValues.durationUnit)|0+)"
    return BasicValues.pattern("\(one) *\\.\\. *\(one)?|\\.\\. *\(one)")
  }

  // MARK: - Texts

  /// What stands before and after `..`, without blanks; nil without it.
  private static func bounds(_ text: String) -> (low: String, high: String)? {
    let bytes = Array(text.utf8)
    for index in bytes.indices.dropLast() where bytes[index] == 46 && bytes[index + 1] == 46 {
      let (low, high) = (bytes[..<index], bytes[(index + 2)...])
      return (
        trimmed(Substring(decoding: low, as: UTF8.self)), trimmed(Substring(decoding: high, as: UTF8.self))
      )
    }
    return nil
  }

  private static func trimmed(_ text: Substring) -> String {
    let inner = text.drop { $0 == " " }
    return String(String(inner.reversed().drop { $0 == " " }).reversed())
  }
}
