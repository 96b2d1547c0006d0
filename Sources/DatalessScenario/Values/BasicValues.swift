internal import DatalessCore

/// Numbers, words, durations, sizes: the values that everything else is made of.
enum BasicValues {
  /// Digits, with a point or without, as Core's parsers take them.
  static let number = #"([0-9]+(\.[0-9]{1,9})?|\.[0-9]{1,9})"#
  static let sizeUnit = "(B|b|[kmgt](ib)?|[KMGT](i|iB)?|[kKMGT]B)?"
  static let durationUnit = "(ns|us|ms|s|m|min|h)"
  /// A century: far from where sums with a clock overflow.
  static let longestDuration = Nanoseconds.seconds(100 * 365 * 24 * 3600)

  static func pattern(_ pattern: String) -> ScenarioNode {
    .object(["type": .text("string"), "pattern": .text("^(\(pattern))$")])
  }

  static func anyOf(_ schemas: [ScenarioNode]) -> ScenarioNode { .object(["anyOf": .list(schemas)]) }

  static let count: ScenarioNode = .object(["type": .text("integer"), "minimum": .plain("0")])

  // MARK: - Durations, sizes, rates

  /// 0 or more.
  static let duration = ScenarioValue<Nanoseconds>(
    schema: anyOf([
      pattern(#"\#(number) *\#(durationUnit)|0+(\.0{1,9})?|\.0{1,9}"#), .object(["const": .plain("0")]),
    ])
  ) { node, decoder in
    guard let text = decoder.text(node, expected: "a duration such as 200ms, 1.5s or 2m") else { return nil }
    return nanoseconds(text, node: node, decoder: &decoder)
  }

  static func nanoseconds(
    _ text: String, node: ScenarioNode, decoder: inout ScenarioDecoder
  ) -> Nanoseconds? {
    let quoted = Suggestion.quotable(text)
    guard let duration = decoder.parse(node, quoted, with: DurationText.parse) else { return nil }
    let (seconds, attoseconds) = duration.components
    guard .seconds(seconds) <= longestDuration else {
      decoder.fail(node, "'\(quoted)' is more than a century. For an attempt that never ends use 'fault: never'.")
      return nil
    }
    return .seconds(seconds) + Nanoseconds(attoseconds / 1_000_000_000)
  }

  /// Of which waits stacks are taken.
  static let stacks = ScenarioValue<StackPolicy>(
    schema: pattern(#"off|first|all|over=(\#(number) *\#(durationUnit)|0+(\.0{1,9})?|\.0{1,9})"#)
  ) { node, decoder in
    guard let text = decoder.text(node, expected: StackPolicy.expected) else { return nil }
    return decoder.parse(node, Suggestion.quotable(text), with: StackPolicy.parse)
  }

  /// Bytes, 0 or more.
  static let size = ScenarioValue<Int64>(
    schema: anyOf([count, pattern("\(number) *\(sizeUnit)")])
  ) { node, decoder in
    guard let text = decoder.text(node, expected: "a size such as 4k, 1.5GiB or 20MB") else { return nil }
    return bytes(text, node: node, decoder: &decoder)
  }

  static func bytes(_ text: String, node: ScenarioNode, decoder: inout ScenarioDecoder) -> Int64? {
    decoder.parse(node, Suggestion.quotable(text), with: ByteSize.parse)
  }

  /// Bytes per second, 1 or more.
  static let rate = ScenarioValue<Int64>(
    schema: anyOf([
      .object(["type": .text("integer"), "minimum": .plain("1")]),
      pattern("(?=[^1-9]*[1-9])\(number) *\(sizeUnit)(/s)?"),
    ])
  ) { node, decoder in
    guard let text = decoder.text(node, expected: "a rate such as 20MB/s") else { return nil }
    return decoder.parse(node, Suggestion.quotable(text), with: Rate.parse)
  }

  /// Bytes, 1 or more.
  static let positiveSize = ScenarioValue<Int64>(
    schema: anyOf([
      .object(["type": .text("integer"), "minimum": .plain("1")]),
      pattern("(?=[^1-9]*[1-9])\(number) *\(sizeUnit)"),
    ])
  ) { node, decoder in
    guard let text = decoder.text(node, expected: "a size such as 2GiB") else { return nil }
    return decoder.parse(node, Suggestion.quotable(text), with: ByteSize.parsePositive)
  }

  // MARK: - Numbers

  static func integer(_ range: ClosedRange<UInt64>, _ expected: String) -> ScenarioValue<UInt64> {
    ScenarioValue(
      schema: .object([
        "type": .text("integer"), "minimum": .plain("\(range.lowerBound)"), "maximum": .plain("\(range.upperBound)"),
      ])
    ) { node, decoder in
      guard let text = decoder.text(node, expected: expected) else { return nil }
      guard let value = wholeNumber(text), range.contains(value) else {
        decoder.fail(node, "'\(Suggestion.quotable(text))' is not possible; expected \(expected).")
        return nil
      }
      return value
    }
  }

  /// nil unless the text is digits only. A zero in front is refused: YAML 1.1 would read an octal number.
  static func wholeNumber(_ text: String) -> UInt64? {
    guard text.utf8.allSatisfy({ (48...57).contains($0) }), text == "0" || !text.hasPrefix("0") else { return nil }
    return UInt64(text)
  }

  /// A decimal number, no `inf`, `nan` or hexadecimal digits.
  static func decimal(_ text: String) -> Double? {
    guard text.utf8.allSatisfy({ (48...57).contains($0) || $0 == 46 || $0 == 101 || $0 == 69 || $0 == 45 || $0 == 43 })
    else { return nil }
    return Double(text)
  }

  /// 0...1, as a number or in percent.
  static let share = ScenarioValue<Double>(
    schema: anyOf([
      .object(["type": .text("number"), "minimum": .plain("0"), "maximum": .plain("1")]),
      pattern(percentPattern),
    ])
  ) { node, decoder in
    let expected = "a number from 0 to 1, or percent, such as 0.05 or 5%"
    guard let text = decoder.text(node, expected: expected) else { return nil }
    let value = percent(text) ?? decimal(text)
    guard let value, (0...1).contains(value) else {
      decoder.fail(node, "'\(Suggestion.quotable(text))' is not possible; expected \(expected).")
      return nil
    }
    return value
  }

  static let percentPattern = #"(100(\.0+)?|[0-9]{1,2}(\.[0-9]+)?)%"#

  /// `60%` as 0.6; nil without the sign, or beyond 100.
  static func percent(_ text: String) -> Double? {
    guard text.last == "%", let value = decimal(String(text.dropLast())), (0...100).contains(value) else { return nil }
    return value / 100
  }

  // MARK: - Words

  static func word<Result: Sendable>(_ what: String, _ words: [(String, Result)]) -> ScenarioValue<Result> {
    let names = words.map(\.0)
    return ScenarioValue(schema: .object(["enum": .list(names.map { .text($0) })])) { node, decoder in
      guard let text = decoder.text(node, expected: "one of \(names.joined(separator: ", "))") else { return nil }
      if let found = words.first(where: { $0.0 == text }) { return found.1 }
      decoder.fail(
        node,
        "unknown \(what) '\(Suggestion.quotable(text))'.\(Suggestion.text(for: text, among: names)) "
          + "It is one of \(names.joined(separator: ", ")).")
      return nil
    }
  }

  /// `on` and `off` are what people write, `true` and `false` what programs write; YAML 1.1 took `yes` and `no`, too.
  static let flag = ScenarioValue<Bool>(
    schema: .object([
      "enum": .list(
        [.plain("true"), .plain("false")] + ["on", "off", "true", "false", "yes", "no"].map { .text($0) })
    ])
  ) { node, decoder in
    guard let text = decoder.text(node, expected: "on or off") else { return nil }
    switch text {
    case "true", "on", "yes": return true
    case "false", "off", "no": return false
    default:
      decoder.fail(node, "'\(Suggestion.quotable(text))' is neither on nor off. Write one of them.")
      return nil
    }
  }

  /// The name of a rule or a gate: short and without blanks, since it is an argument of commands and stands in the log.
  static func name(_ what: String) -> ScenarioValue<String> {
    ScenarioValue(schema: pattern("[A-Za-z0-9._-]{1,64}")) { node, decoder in
      guard let text = decoder.text(node, expected: "the name of \(what)") else { return nil }
      let isGood =
        (1...64).contains(text.utf8.count)
        && text.utf8.allSatisfy {
          (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) || $0 == 45 || $0 == 46
            || $0 == 95
        }
      guard isGood else {
        decoder.fail(
          node,
          "'\(Suggestion.quotable(text))' cannot name \(what). Use 1 to 64 letters, digits, dots, hyphens and "
            + "underscores.")
        return nil
      }
      return text
    }
  }

  // MARK: - Combinations

  /// The word `none`, read as nil, or a value.
  static func orNone<Result>(_ value: ScenarioValue<Result>) -> ScenarioValue<Result?> {
    ScenarioValue<Result?>(
      schema: anyOf([.object(["const": .text("none")]), value.schema])
    ) { node, decoder in
      if node.text == "none" { return .some(nil) }
      return value.read(node, &decoder).map { .some($0) }
    }
  }

  /// A value, or a list of at least one.
  static func oneOrMore<Result>(_ value: ScenarioValue<Result>) -> ScenarioValue<[Result]> {
    ScenarioValue(
      schema: anyOf([
        value.schema, .object(["type": .text("array"), "minItems": .plain("1"), "items": value.schema]),
      ])
    ) { node, decoder in
      guard case .sequence(let nodes) = node.value else { return value.read(node, &decoder).map { [$0] } }
      if nodes.isEmpty {
        decoder.fail(node, "an empty list means nothing. Remove the field if everything is meant.")
        return nil
      }
      var results: [Result] = []
      for node in nodes {
        if let result = value.read(node, &decoder) { results.append(result) }
      }
      return results.count == nodes.count ? results : nil
    }
  }
}
