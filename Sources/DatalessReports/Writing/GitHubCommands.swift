import DatalessControl
import DatalessCore

/// What a run says to GitHub Actions: a line for each violation, which GitHub shows at the place it is about.
public enum GitHubCommands {
  // LIMIT: GitHub keeps 10 errors of a step; what else is wrong stands in the summary.
  private static let errorsMax = 50

  /// - Parameters:
  ///   - workspace: $GITHUB_WORKSPACE, without a slash at its end: only files below it are places.
  ///   - working: The working directory of the run, absolute: sources may have names that are relative to it. Default:
  ///     nobody knows.
  ///   - source: SOURCE of the volume, absolute; empty when it is no directory.
  /// - Returns: Lines of workflow commands.
  public static func errors(
    _ verdict: ReportVerdict, workspace: String, working: [UInt8]? = nil, source: String
  ) -> [String] {
    let workspace = Workspace(workspace, working: working)
    return verdict.checks.filter { $0.outcome == .failed }.flatMap { check -> [String] in
      guard !check.violations.isEmpty else {
        return [error("\(check.name): \(check.message)", file: nil, line: nil)]
      }
      return check.violations.map { violation in
        let text = ([check.name + ": " + violation.message] + ViolationText.lines(violation).dropFirst())
          .joined(separator: "\n")
        let place = place(violation, workspace: workspace, source: source)
        return error(text, file: place?.file, line: place?.line)
      }
    }.prefix(errorsMax).map { $0 }
  }

  /// The innermost line of the stack whose source is below the workspace, the program's own first: what is installed
  /// there may be called by it. Else the file on the volume. A line at which only a function begins is none to show.
  private static func place(
    _ violation: ReportVerdict.Violation, workspace: Workspace, source: String
  ) -> (file: String, line: UInt32?)? {
    for place in violation.places {
      if let name = workspace.name(of: place.path) { return (name, place.line) }
    }
    if violation.places.isEmpty, let file = violation.file, let name = workspace.name(of: Array(file.utf8)) {
      return (name, violation.hasFunctionLines == true ? nil : violation.line)
    }
    guard let path = violation.path, source.hasPrefix("/") else { return nil }
    // What was escaped would be the name of another file, if of any.
    let raw = violation.rawPath.isEmpty ? Array(path.utf8) : violation.rawPath
    guard let name = workspace.name(of: Array("\(source)/".utf8) + raw) else { return nil }
    return (name, nil)
  }

  private static func error(_ text: String, file: String?, line: UInt32?) -> String {
    var properties = ["title=dataless"]
    if let file { properties.append("file=" + EscapedText.commandProperty(file)) }
    if let line { properties.append("line=\(line)") }
    return "::error \(properties.joined(separator: ","))::\(EscapedText.commandMessage(text))"
  }
}

extension Report {
  /// For $GITHUB_STEP_SUMMARY, which takes a megabyte.
  public var stepSummary: String {
    let text = MarkdownWriter.text(self)
    guard text.utf8.count > 900_000 else { return text }
    return MarkdownWriter.short(self)
  }
}
