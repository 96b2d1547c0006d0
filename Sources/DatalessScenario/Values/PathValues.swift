internal import DatalessCore

/// Globs of paths, executables, command names and cgroups.
enum PathValues {
  static let glob = makeGlob(isPath: true)
  static let globs = BasicValues.oneOrMore(glob)
  /// Seen from another place of the hierarchy, the path of a cgroup begins with `/..`.
  private static let cgroups = BasicValues.oneOrMore(makeGlob(isPath: false))

  private static func makeGlob(isPath: Bool) -> ScenarioValue<PathPattern> {
    ScenarioValue<PathPattern>(
      schema: .object(["type": .list([.text("string"), .text("number")]), "minLength": .plain("1")])
    ) { node, decoder in
      guard let text = decoder.text(node, expected: "a glob such as \"*.jpg\" or \"photos/**\"") else { return nil }
      let bytes = Array(text.utf8)
      do throws(PathPatternFlaw) {
        if !bytes.contains(0) {
          let pattern = try PathPattern(parsing: bytes, isPath: isPath)
          if decoder.allows(alternatives: pattern.alternatives.count - 1) { return pattern }
          decoder.fail(
            node,
            "the braces of this scenario stand for more than \(ScenarioLimits.alternatives) globs. Use * or ** instead."
          )
          return nil
        }
        decoder.fail(
          node, "malformed glob '\(Suggestion.quotable(text))': it contains a NUL, which no path can. Remove it.")
      } catch {
        let part =
          error.alternative.map { "of it, '\(Suggestion.quotable(String(decoding: $0, as: UTF8.self)))': " } ?? ""
        decoder.fail(node, "malformed glob '\(Suggestion.quotable(text))': \(part)\(error.words)")
      }
      return nil
    }
  }

  /// Whether a glob has no wildcard, so that it means one text.
  static func isLiteral(_ pattern: PathPattern.Alternative) -> Bool { !pattern.text.contains(where: isMeta) }

  static func isMeta(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "*") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "[") || byte == UInt8(ascii: "\\")
  }

  // MARK: - Processes

  static let process = ScenarioValue<ProcessMatch>(schema: table.schema) { node, decoder in
    var match = ProcessMatch()
    guard table.read(node, into: &match, &decoder) else { return nil }
    if match.isEmpty {
      decoder.fail(node, "no condition for the process. Give exe, comm, cgroup or uid, or remove the field.")
      return nil
    }
    return match
  }.named("process")

  /// The kernel keeps 15 bytes of a command name: a longer one is never seen.
  private static let commandNames = ScenarioValue<[PathPattern]>(schema: globs.schema) { node, decoder in
    guard let patterns = globs.read(node, &decoder) else { return nil }
    for pattern in patterns.flatMap(\.alternatives) where isLiteral(pattern) && pattern.text.count > 15 {
      let text = String(decoding: pattern.text, as: UTF8.self)
      let short = String(decoding: pattern.text.prefix(15), as: UTF8.self)
      decoder.fail(
        node,
        "no command is ever named '\(Suggestion.quotable(text))': the kernel keeps 15 bytes. Write '\(short)', or "
          + "use exe.")
      return nil
    }
    return patterns
  }

  static let table = ScenarioFields<ProcessMatch>(
    what: "a process",
    fields: [
      ScenarioField(
        "exe", summary: "Globs for the path of the executable; without a slash, for its last component.", value: globs
      ) { $0.executables = $1 },
      ScenarioField(
        "comm", summary: "Globs for the command name, at most 15 bytes, of the process' first thread.",
        value: commandNames
      ) { $0.commandNames = $1 },
      ScenarioField(
        "cgroup", summary: "Globs for the path in the cgroup hierarchy, such as /user.slice/**.", value: cgroups
      ) { $0.cgroups = $1 },
      ScenarioField(
        "uid", summary: "User ids, 0 to 4294967294.",
        value: BasicValues.oneOrMore(BasicValues.integer(0...4_294_967_294, "a user id from 0 to 4294967294"))
      ) { $0.uids = $1.map { UInt32($0) } },
    ], constraints: [ScenarioNode.Entry(key: "minProperties", value: .plain("1"))])
}
