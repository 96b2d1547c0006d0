internal import DatalessCore

/// `areas`: what the data in some directories is for.
enum AreaValues {
  /// What an entry may leave out.
  struct AreaDraft: Sendable {
    var name: String?
    var isPreset = false
    var path: [Area.Component]?
    var category: AreaCategory?
    var isBackedUp: Bool?
    var isPurged: Bool?
    var isCounted: Bool?
    var app: ProcessMatch?
  }

  private static let path = ScenarioValue<[Area.Component]>(
    schema: .object(["type": .list([.text("string"), .text("number")]), "minLength": .plain("1")])
  ) { node, decoder in
    guard let text = decoder.text(node, expected: "a directory such as Library/Caches or \"Containers/*/tmp\"") else {
      return nil
    }
    let components = Area.components(of: text.utf8)
    for case .name(let name) in components {
      let isSpecial = name == Array(".".utf8) || name == Array("..".utf8) || name.contains(0)
      guard !isSpecial, !name.contains(UInt8(ascii: "*")) else {
        decoder.fail(
          node,
          "'\(Suggestion.quotable(text))' is no path of an area: each component is a name, or * for any. Write the path from "
            + "the volume's root, without '.', '..' and other wildcards.")
        return nil
      }
    }
    if !text.isEmpty { return components }
    decoder.fail(node, "there is no path. Write / for the whole volume.")
    return nil
  }

  static let table = ScenarioFields<AreaDraft>(
    what: "an area",
    fields: [
      ScenarioField(
        "name", summary: "What the log and the inventory call it; unique. Default: its path.",
        value: BasicValues.name("an area")
      ) { $0.name = $1 },
      ScenarioField(
        "preset",
        summary:
          "ios: Documents, Library, Library/Caches, tmp and so on below 'path', each an area of its own category.",
        value: BasicValues.word("preset", [("ios", true)])
      ) { $0.isPreset = $1 },
      ScenarioField(
        "path",
        summary:
          "The directory, from the volume's root; * as a component is any name, and each directory that has one is of an app called so. "
          + "With 'preset' the directory of an app's data; default: the root.",
        value: path
      ) { $0.path = $1 },
      ScenarioField(
        "category", summary: "What the data is for: documents, support, caches, temporary or offline.",
        value: BasicValues.word("category", AreaCategory.allCases.map { ($0.rawValue, $0) })
      ) { $0.category = $1 },
      ScenarioField(
        "backup", summary: "Whether a backup has it. Default: documents and support.", value: BasicValues.flag
      ) { $0.isBackedUp = $1 },
      ScenarioField(
        "purge", summary: "Whether it is purged when room is short. Default: caches and temporary. Never offline.",
        value: BasicValues.flag
      ) { $0.isPurged = $1 },
      ScenarioField(
        "counted", summary: "Whether it counts to 'Documents & Data'. Default: all but caches and temporary.",
        value: BasicValues.flag
      ) { $0.isCounted = $1 },
      ScenarioField(
        "app",
        summary:
          "The processes of its app, as 'process' of a rule: while one runs, caches are not purged. Default: those whose executable, "
          + "command or cgroup is called as the directory that * stands for.",
        value: PathValues.process
      ) { $0.app = $1 },
    ],
    constraints: [
      ScenarioNode.Entry(
        key: "anyOf",
        value: .list([
          .object(["required": .list([.text("preset")])]),
          .object(["required": .list([.text("path"), .text("category")])]),
        ]))
    ],
    elsewhere: [
      (["exe", "comm", "cgroup", "uid"], "It is about the app: write 'app: {exe: ...}'."),
      (["match"], "An area is a directory: write 'path: ...'."),
    ])

  /// The areas of one entry.
  private static let entry = ScenarioValue<(isPreset: Bool, areas: [Area])>(schema: table.schema) { node, decoder in
    var draft = AreaDraft()
    guard table.read(node, into: &draft, &decoder) else { return nil }
    if draft.isPreset {
      for field in ["name", "category", "backup", "purge", "counted"] where node[field] != nil {
        decoder.fail(
          node,
          "a preset says '\(field)' itself. Remove it, or give the directory that is meant an area of its own beside the preset."
        )
        return nil
      }
      return (true, Area.ios(in: draft.path ?? [], app: draft.app))
    }
    guard let path = draft.path, let category = draft.category else {
      let missing = draft.path == nil ? "path" : "category"
      decoder.fail(
        node, "an area without '\(missing)'. Write 'path: Library/Caches' and 'category: caches', or 'preset: ios'.")
      return nil
    }
    if category == .offline, draft.isPurged == true {
      decoder.fail(node, "offline data is expected to be here, so it is never purged. Remove 'purge', or use caches.")
      return nil
    }
    var area = Area(
      name: draft.name ?? "", path: path, category: category, isBackedUp: draft.isBackedUp, isPurged: draft.isPurged,
      isCounted: draft.isCounted, app: draft.app)
    if draft.name == nil { area.name = area.pathText }
    return (false, [area])
  }

  private static let list = ScenarioValue<Areas>(
    schema: .object([
      "type": .text("array"), "maxItems": .plain("\(ScenarioLimits.areas)"),
      "items": .object(["$ref": .text("#/$defs/area")]),
    ])
  ) { node, decoder in
    guard case .sequence(let nodes) = node.value else { return nil }
    guard nodes.count <= ScenarioLimits.areas else {
      decoder.fail(node, "\(nodes.count) areas; at most \(ScenarioLimits.areas) are possible. Use * for a component.")
      return nil
    }
    var (own, preset): ([Area], [Area]) = ([], [])
    for node in nodes {
      guard let (isPreset, areas) = entry.read(node, &decoder) else { continue }
      if let known = (isPreset ? preset : own).first(where: { known in areas.contains { $0.path == known.path } }) {
        decoder.fail(node, "there is an area for '\(Suggestion.quotable(known.pathText))' already. Remove one of them.")
        return nil
      }
      if !isPreset, own.contains(where: { known in areas.contains { $0.name == known.name } }) {
        decoder.fail(node, "there is an area of this name already. Give it another one.")
        return nil
      }
      if isPreset { preset += areas } else { own += areas }
    }
    // What is said of a directory by itself counts before what a preset says.
    return Areas(own + preset.filter { area in !own.contains { $0.path == area.path || $0.name == area.name } })
  }

  static let areas = ScenarioValue<Areas>(
    schema: BasicValues.anyOf([.object(["enum": .list([.text("none"), .text("ios")])]), list.schema])
  ) { node, decoder in
    switch node.value {
    case .sequence: return list.read(node, &decoder)
    case .mapping:
      decoder.fail(node, "a mapping instead of a list. Start each area with '- ', or write ios, or none.")
      return nil
    case .scalar:
      guard let text = decoder.text(node, expected: "a list of areas, ios or none") else { return nil }
      switch text {
      case "none": return Areas.none
      case "ios": return Areas(Area.ios(in: []))
      default:
        decoder.fail(node, "'\(Suggestion.quotable(text))' are no areas. Write a list, ios, or none.")
        return nil
      }
    }
  }
}
