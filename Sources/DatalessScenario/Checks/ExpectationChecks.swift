internal import DatalessCore

/// Names of expectations: the given ones, each once, and `expect-<n>` for the others.
enum ExpectationNames {
  /// - Parameter file: What messages call the document.
  /// - Returns: One expectation for each bound, in their order.
  static func expectations(_ drafts: [ExpectationDraft], file: String, _ decoder: inout ScenarioDecoder)
    -> [Expectation]
  {
    var lines: [String: Int32] = [:]
    for draft in drafts {
      guard let name = draft.name else { continue }
      let place = draft.node["name"] ?? draft.node
      if let line = lines[name] {
        decoder.fail(place, "two expectations are named '\(name)', here and in line \(line). Rename one of them.")
      }
      lines[name] = place.line
    }
    var result: [Expectation] = []
    for (index, draft) in drafts.enumerated() {
      var name = draft.name ?? "expect-\(index + 1)"
      while draft.name == nil, lines[name] != nil { name += "-" }
      for bound in draft.bounds {
        let node = draft.node[bound.measure.rawValue] ?? draft.node
        result.append(
          Expectation(
            name: "\(name).\(bound.measure.rawValue)", measure: bound.measure, bound: bound.bound, paths: bound.paths,
            match: draft.match, place: "\(file):\(node.line):\(node.column)"))
      }
    }
    return result
  }
}

/// Bounds that are possible, but that nothing goes beyond.
enum HarmlessBound {
  /// What a warning says of it; nil where something can violate it.
  static func words(_ bound: ExpectationDraft.Bound, _ match: RuleMatch) -> String? {
    switch bound.measure {
    case .minParallel where bound.bound <= 100:
      "whatever is materialized is at least 1 at a time, so nothing can violate this. Write 2 or so."
    case .allow: words(allowed: bound.paths, match)
    default: nil
    }
  }

  /// Why nothing meets the conditions, whatever the bound; nil if something can.
  static func emptyFiles(_ match: RuleMatch) -> String? {
    guard match.size?.upperBound == 0 else { return nil }
    return "no file of 0 bytes is materialized, as there is nothing to fetch. Remove 'size', or let it reach 1 or more."
  }

  private static func words(allowed: [PathPattern], _ match: RuleMatch) -> String? {
    let globs = allowed.flatMap(\.alternatives)
    if globs.contains(where: \.meansAll) {
      return "'allow' has a glob for every path, so nothing can violate this. Narrow it, or remove 'allow'."
    }
    let meant = Set(match.paths.flatMap(\.alternatives))
    guard !meant.isEmpty, meant.isSubset(of: globs) else { return nil }
    return "'allow' has all that 'path' means, so nothing can violate this. Narrow 'allow', or change 'path'."
  }
}
