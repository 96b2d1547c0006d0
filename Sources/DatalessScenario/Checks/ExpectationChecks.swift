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
