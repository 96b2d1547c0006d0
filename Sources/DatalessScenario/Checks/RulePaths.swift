internal import DatalessCore

extension ScenarioDocument {
  /// Refuses rules whose paths begin with a path of the machine: those of a volume begin at its root, so that they would never match.
  ///
  /// - Parameter roots: The mountpoint and SOURCE, absolute, each by what messages call it. `/` is no such path.
  public func checkPaths(roots: [(name: String, path: [UInt8])]) throws(ScenarioError) {
    guard case .sequence(let nodes) = root["rules"]?.value else { return }
    var problems: [ScenarioProblem] = []
    for (index, rule) in simulation.rules.rules.enumerated() where problems.count < ScenarioLimits.problems {
      guard index < nodes.count, let node = nodes[index]["match"]?["path"] else { continue }
      let elements = if case .sequence(let list) = node.value { list } else { [node] }
      for (pattern, element) in zip(rule.match.paths, elements) {
        guard let found = roots.lazy.compactMap({ root in pattern.beyond(root.path).map { (root.name, $0) } }).first
        else {
          continue
        }
        let (text, rest) = (String(decoding: pattern.text, as: UTF8.self), String(decoding: found.1, as: UTF8.self))
        problems.append(
          ScenarioProblem(
            file: places[index].file, line: Int(element.line), column: Int(element.column),
            message:
              "the path '\(Suggestion.quotable(text))' begins with \(found.0), but paths of rules begin at the volume's "
              + "root. Write '\(Suggestion.quotable(rest))'."))
      }
    }
    if !problems.isEmpty { throw ScenarioError(problems) }
  }
}
