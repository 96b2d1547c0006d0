internal import DatalessCore

/// How metadata looks: the fields of `present`.
enum PresentationValues {
  static let table = ScenarioFields<Presentation>(
    what: "'present'",
    fields: [
      ScenarioField(
        "blocks", summary: "st_blocks of a file without its content: zero, one, or real (SOURCE's). Default zero.",
        value: BasicValues.word("choice", Presentation.Blocks.allCases.map { ($0.rawValue, $0) })
      ) { $0.blocks = $1 },
      ScenarioField(
        "ctime", summary: "Whether st_ctime moves when content comes: stable or bump. Default stable.",
        value: BasicValues.word("choice", Presentation.ChangeTime.allCases.map { ($0.rawValue, $0) })
      ) { $0.changeTime = $1 },
      ScenarioField(
        "seek", summary: "What SEEK_DATA and SEEK_HOLE find in a file without its content: data or hole. Default data.",
        value: BasicValues.word("choice", Presentation.Seek.allCases.map { ($0.rawValue, $0) })
      ) { $0.seek = $1 },
      ScenarioField(
        "state",
        summary:
          "The extended attribute that tells the state: dataless (user.dataless.state), openvfs (user.openvfs.data), none, or "
          + "a mapping. Default dataless.",
        value: state
      ) { $0.state = $1 },
      ScenarioField(
        "subtype",
        summary:
          "The file system type is fuse.<subtype>, 1 to 64 letters, digits, '.', '-', '_'; fixed at the mount. Default dataless.",
        value: BasicValues.name("a subtype")
      ) { $0.subtype = $1 },
    ],
    elsewhere: [
      (["name", "listed", "dataless", "resident", "partial"], "It is about the state: put it under 'state'."),
      (["files", "directories", "errnos", "base"], "It is about what materializes: put it under 'profile'."),
    ])

  /// The whole value of `present`: what it leaves out has its default.
  static let presentation = ScenarioValue<Presentation>(schema: table.schema) { node, decoder in
    var presentation = Presentation()
    return table.read(node, into: &presentation, &decoder) ? presentation : nil
  }.named("present")

  // MARK: - The state

  struct StateDraft: Sendable {
    var name: String?
    var dataless = "dataless"
    var resident = "resident"
    var partial = "partial"
    var isListed = false
  }

  /// The longest that Linux has for names (XATTR_NAME_MAX), and enough for words.
  private static let bytesMax = 255

  private static let attributeName = ScenarioValue<String>(
    schema: BasicValues.pattern(#"user\.[ -~]{1,250}"#)
  ) { node, decoder in
    guard let text = decoder.text(node, expected: "the name of an attribute such as user.dataless.state") else {
      return nil
    }
    guard text.hasPrefix("user."), (6...bytesMax).contains(text.utf8.count),
      text.utf8.allSatisfy({ (0x20...0x7e).contains($0) })
    else {
      decoder.fail(
        node,
        "'\(Suggestion.quotable(text))' cannot name the attribute. Start it with 'user.', and use at most 255 printable "
          + "characters.")
      return nil
    }
    return text
  }

  private static let word = ScenarioValue<String>(
    schema: .object(["type": .text("string"), "minLength": .plain("1"), "maxLength": .plain("255")])
  ) { node, decoder in
    guard let text = decoder.text(node, expected: "a word") else { return nil }
    if (1...bytesMax).contains(text.utf8.count) { return text }
    decoder.fail(node, "a word for a state has 1 to 255 bytes, not \(text.utf8.count).")
    return nil
  }

  static let stateTable = ScenarioFields<StateDraft>(
    what: "'state'",
    fields: [
      ScenarioField("name", summary: "The attribute's name; starts with 'user.'.", value: attributeName) {
        $0.name = $1
      },
      ScenarioField("dataless", summary: "Its value for what is not local. Default dataless.", value: word) {
        $0.dataless = $1
      },
      ScenarioField("resident", summary: "Its value for what is local. Default resident.", value: word) {
        $0.resident = $1
      },
      ScenarioField("partial", summary: "Its value for a file of which some is local. Default partial.", value: word) {
        $0.partial = $1
      },
      ScenarioField("listed", summary: "Whether listxattr(2) shows it. Default off.", value: BasicValues.flag) {
        $0.isListed = $1
      },
    ],
    constraints: [ScenarioNode.Entry(key: "required", value: .list([.text("name")]))])

  private static let presets: [(String, StateAttribute?)] = [
    ("dataless", .dataless), ("openvfs", .openVFS), ("none", nil),
  ]

  private static let preset = BasicValues.word("attribute", presets)

  private static let state = ScenarioValue<StateAttribute?>(
    schema: BasicValues.anyOf([preset.schema, stateTable.schema])
  ) { node, decoder in
    guard case .mapping = node.value else { return preset.read(node, &decoder) }
    var draft = StateDraft()
    guard stateTable.read(node, into: &draft, &decoder) else { return nil }
    guard let name = draft.name else {
      decoder.fail(node, "the attribute has no name. Add 'name: user.dataless.state', or what it is to be called.")
      return nil
    }
    guard draft.dataless != draft.resident else {
      decoder.fail(
        node, "'\(Suggestion.quotable(draft.resident))' for dataless and resident alike tells nothing. Use two words.")
      return nil
    }
    return .some(
      StateAttribute(
        name: Array(name.utf8),
        values: .words(dataless: draft.dataless, resident: draft.resident, partial: draft.partial),
        isListed: draft.isListed))
  }
}
