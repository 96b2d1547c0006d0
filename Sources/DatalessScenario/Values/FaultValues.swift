internal import DatalessCore
internal import SystemPackage

/// Faults: an errno by name, or one of the other ways to fail.
enum FaultValues {
  /// Every errno by its printed name, and the aliases.
  static let errnoNames: [String] = {
    let names = (1...255).map { Errno(rawValue: $0).name }.filter { $0.hasPrefix("E") }
    return names + ["EWOULDBLOCK", "EDEADLOCK", "ENOTSUP"].filter { Errno(name: $0) != nil }
  }()

  static let kinds: [(String, Fault.Kind)] = [
    ("never", .never), ("wrong_size", .wrongSize), ("superseded", .superseded),
  ]

  static let errno = ScenarioValue<Errno>(
    schema: .object(["enum": .list(errnoNames.map { .text($0) })])
  ) { node, decoder in
    guard let text = decoder.text(node, expected: "the name of an errno such as EIO") else { return nil }
    if let errno = Errno(name: text) { return errno }
    decoder.fail(node, unknown(text, others: []))
    return nil
  }

  private static func unknown(_ text: String, others: [String]) -> String {
    let choice =
      "Use a Linux errno such as EIO, ETIMEDOUT or ENOSPC"
      + (others.isEmpty ? "." : ", or one of \(others.joined(separator: ", ")).")
    if let number = BasicValues.wholeNumber(text), number > 0, number < 256 {
      let name = Errno(rawValue: CInt(number)).name
      let hint = name.hasPrefix("E") ? " On Linux \(number) is \(name)." : ""
      return "errnos are named, not numbered: '\(text)'.\(hint) \(choice)"
    }
    return "unknown errno '\(Suggestion.quotable(text))'."
      + Suggestion.text(for: text, among: errnoNames + others) + " \(choice)"
  }

  struct Draft: Sendable {
    var kinds: [Fault.Kind] = []
    var after: Fault.Point?
    var isImmediate = false
  }

  static let after = ScenarioValue<Fault.Point>(
    schema: BasicValues.anyOf([BasicValues.pattern(BasicValues.percentPattern), BasicValues.size.schema])
  ) { node, decoder in
    let expected = "a size such as 1MB, or a share of the file such as 60%"
    guard let text = decoder.text(node, expected: expected) else { return nil }
    guard text.last == "%" else { return BasicValues.bytes(text, node: node, decoder: &decoder).map { .bytes($0) } }
    guard let share = BasicValues.percent(text) else {
      decoder.fail(node, "'\(Suggestion.quotable(text))' is not a share of a file. Write 0% to 100%.")
      return nil
    }
    return .fraction(share)
  }

  static let table = ScenarioFields<Draft>(
    what: "a fault",
    fields: [
      ScenarioField(
        "errno", summary: "What all waiters of the attempt get: the Linux name of an errno.", value: errno
      ) { $0.kinds.append(.errno($1)) },
      ScenarioField(
        "outcome",
        summary:
          "Another way to fail: never (the attempt never ends by itself), wrong_size (fewer bytes than the listing "
          + "promised: EIO), superseded (another version by now: ESTALE).",
        value: BasicValues.word("outcome", kinds)
      ) { $0.kinds.append($1) },
      ScenarioField(
        "after",
        summary: "How much content arrives before the failure: bytes, or percent of the file. Default: none. Not for "
          + "wrong_size and superseded, which come at the end; directories ignore it.",
        value: after
      ) { $0.after = $1 },
      ScenarioField(
        "at_once",
        summary: "Whether the failure comes before gate, slot and latency. Default false: after the latency.",
        value: BasicValues.flag
      ) { $0.isImmediate = $1 },
    ],
    constraints: [
      ScenarioNode.Entry(
        key: "oneOf",
        value: .list([
          .object(["required": .list([.text("errno")])]), .object(["required": .list([.text("outcome")])]),
        ]))
    ])

  /// The whole value of `fault`.
  static let fault = ScenarioValue<Fault>(
    schema: BasicValues.anyOf([
      .object(["enum": .list((kinds.map(\.0) + errnoNames).map { .text($0) })]), table.schema,
    ])
  ) { node, decoder in
    if case .mapping = node.value { return read(node, &decoder) }
    let expected = "an errno such as EIO, or never, wrong_size, superseded"
    guard let text = decoder.text(node, expected: expected) else { return nil }
    if let kind = kinds.first(where: { $0.0 == text }) { return Fault(kind.1) }
    if let errno = Errno(name: text) { return Fault(.errno(errno)) }
    decoder.fail(node, unknown(text, others: kinds.map(\.0)))
    return nil
  }

  private static func read(_ node: ScenarioNode, _ decoder: inout ScenarioDecoder) -> Fault? {
    var draft = Draft()
    guard table.read(node, into: &draft, &decoder) else { return nil }
    guard let kind = draft.kinds.first, draft.kinds.count == 1 else {
      decoder.fail(node, "a fault is either an errno or an outcome. Write 'errno: EIO' or 'outcome: never'.")
      return nil
    }
    let isAtEnd = kind == .wrongSize || kind == .superseded
    if isAtEnd, draft.after != nil || draft.isImmediate {
      decoder.fail(
        node,
        "wrong_size and superseded come when all content has arrived. Remove 'after' and 'at_once', or use "
          + "'errno: EIO' or 'errno: ESTALE'.")
      return nil
    }
    if draft.isImmediate, draft.after != nil {
      decoder.fail(node, "a fault at once comes before any content. Remove 'at_once' or 'after'.")
      return nil
    }
    return Fault(kind, after: draft.after, isImmediate: draft.isImmediate)
  }
}
