internal import DatalessCore
internal import SystemPackage

/// Profiles: one by name, or a mapping that changes one in parts.
enum ProfileValues {
  static let base = BasicValues.word("profile", Profile.named.map { ($0.name, $0) })

  struct Draft: Sendable {
    var base = Profile.macos
    var files: Profile.Triggers?
    var directories: Profile.Triggers?
    var errnos = ErrnosDraft()
    var residentChanges: Profile.ResidentChanges?
  }

  /// What the user said of errnos, which holds for files and directories alike.
  struct ErrnosDraft: Sendable {
    var refused: Errno?
    var offline: Errno?
    var timeout: Errno?
    var superseded: Errno?
    var gone: Errno?
    /// nil: nothing was said; nil inside: the store's own.
    var failed: Errno??

    func applied(to errnos: Profile.Errnos) -> Profile.Errnos {
      Profile.Errnos(
        refused: refused ?? errnos.refused, offline: offline ?? errnos.offline, timeout: timeout ?? errnos.timeout,
        superseded: superseded ?? errnos.superseded, gone: gone ?? errnos.gone, failed: failed ?? errnos.failed)
    }
  }

  static let errnoTable = ScenarioFields<ErrnosDraft>(
    what: "'errnos'",
    fields: [
      ScenarioField("refused", summary: "Policy does not let the caller materialize.", value: FaultValues.errno) {
        $0.refused = $1
      },
      ScenarioField("offline", summary: "The store is unreachable ('offline').", value: FaultValues.errno) {
        $0.offline = $1
      },
      ScenarioField("timeout", summary: "The attempt is older than 'give_up_after'.", value: FaultValues.errno) {
        $0.timeout = $1
      },
      ScenarioField(
        "superseded", summary: "The store has another version than the one that was listed.", value: FaultValues.errno
      ) { $0.superseded = $1 },
      ScenarioField("gone", summary: "The store has the item no more.", value: FaultValues.errno) { $0.gone = $1 },
      ScenarioField(
        "failed", summary: "Any other failure of the store; none: its own errno.",
        value: BasicValues.orNone(FaultValues.errno)
      ) { $0.failed = .some($1) },
    ])

  static let table = ScenarioFields<Draft>(
    what: "a profile",
    fields: [
      ScenarioField("base", summary: "The profile that is changed in parts. Default macos.", value: base) {
        $0.base = $1
      },
      ScenarioField(
        "files", summary: "The operations that materialize a file: read, and any of open, xattr and seek.",
        value: triggers(always: ["read"], extra: [.open, .xattr, .seek], "file", "it is read")
      ) { $0.files = $1 },
      ScenarioField(
        "directories", summary: "The operations that list a directory: readdir and lookup, and any of open and xattr.",
        value: triggers(always: ["readdir", "lookup"], extra: [.open, .xattr], "directory", "somebody looks into it")
      ) { $0.directories = $1 },
      ScenarioField(
        "errnos", summary: "What callers get when content does not come. Default: the base's.",
        value: ScenarioValue<ErrnosDraft>(schema: errnoTable.schema) { node, decoder in
          var draft = ErrnosDraft()
          return errnoTable.read(node, into: &draft, &decoder) ? draft : nil
        }
      ) { $0.errnos = $1 },
      ScenarioField(
        "resident_changes",
        summary:
          "What becomes of local content when the store has another version: stale or keep. Default: the base's.",
        value: BasicValues.word("choice", Profile.ResidentChanges.allCases.map { ($0.rawValue, $0) })
      ) { $0.residentChanges = $1 },
    ],
    elsewhere: [
      (["name"], "A profile of your own has no name. Remove it."),
      (["refused", "offline", "timeout", "superseded", "gone", "failed"], "It is an errno: put it under 'errnos'."),
      (["blocks", "ctime", "seek", "state", "subtype"], "It is about metadata: put it under 'present'."),
    ])

  /// The whole value of `profile`.
  static let profile = ScenarioValue<Profile>(
    schema: BasicValues.anyOf([base.schema, table.schema])
  ) { node, decoder in
    guard case .mapping = node.value else { return base.read(node, &decoder) }
    var draft = Draft()
    guard table.read(node, into: &draft, &decoder) else { return nil }
    var profile = draft.base
    profile.name = "custom"
    profile.files = draft.files ?? profile.files
    profile.directories = draft.directories ?? profile.directories
    profile.fileErrnos = draft.errnos.applied(to: profile.fileErrnos)
    profile.directoryErrnos = draft.errnos.applied(to: profile.directoryErrnos)
    profile.residentChanges = draft.residentChanges ?? profile.residentChanges
    return profile
  }.named("profile")

  // MARK: - Triggers

  /// A list of operations.
  ///
  /// - Parameters:
  ///   - always: Those that it has to name.
  ///   - what: `file` or `directory`, for messages.
  ///   - when: In which case an item of this kind materializes whatever is said.
  private static func triggers(
    always: [String], extra: Profile.Triggers, _ what: String, _ when: String
  ) -> ScenarioValue<Profile.Triggers> {
    let names = always + Profile.extraNames.filter { extra.contains($0.trigger) }.map(\.name)
    let list = "[\(always.joined(separator: ", "))]"
    let word = ScenarioValue<Profile.Triggers>(schema: .object(["enum": .list(names.map { .text($0) })])) {
      node, decoder in
      guard let text = decoder.text(node, expected: "one of \(names.joined(separator: ", "))") else { return nil }
      if always.contains(text) { return [] }
      if let found = Profile.extraNames.first(where: { $0.name == text && extra.contains($0.trigger) }) {
        return found.trigger
      }
      decoder.fail(node, unknown(text, what: what, names: names))
      return nil
    }
    return ScenarioValue(
      schema: .object([
        "type": .text("array"), "items": word.schema,
        "allOf": .list(always.map { .object(["contains": .object(["const": .text($0)])]) }),
      ])
    ) { node, decoder in
      guard case .sequence(let nodes) = node.value else {
        decoder.fail(node, "\(node.kindName) instead of a list of operations. Write \(list), and what else triggers.")
        return nil
      }
      var result: Profile.Triggers = []
      let before = decoder.problemCount
      for node in nodes { if let found = word.read(node, &decoder) { result.formUnion(found) } }
      if decoder.problemCount > before { return nil }
      let missing = always.filter { name in !nodes.contains { $0.text == name } }
      guard missing.isEmpty else {
        decoder.fail(
          node,
          "\(missing.joined(separator: " and ")) \(missing.count > 1 ? "are" : "is") missing: a \(what) materializes when "
            + "\(when), because the volume has nothing else to answer with. Write \(list), and what else triggers.")
        return nil
      }
      return result
    }
  }

  private static func unknown(_ text: String, what: String, names: [String]) -> String {
    let choice = "It is one of \(names.joined(separator: ", "))."
    let shown = Suggestion.quotable(text)
    switch text {
    case "stat", "getattr", "statx", "access":
      return
        "'\(shown)' cannot materialize: the kernel keeps attributes and asks a volume for few of them, so it would do so by "
        + "chance. Remove it."
    case "mmap", "exec", "copy", "write", "truncate", "link":
      return "'\(shown)' always materializes a file, or reads it, and is not named. Remove it."
    case "seek" where what == "directory": return "'\(shown)' is an operation on files. Remove it. \(choice)"
    case "readdir", "lookup": return "'\(shown)' is an operation on directories. Put it under 'directories'."
    default:
      return "unknown operation '\(shown)'.\(Suggestion.text(for: text, among: names)) \(choice)"
    }
  }
}
