import ArgumentParser
import DatalessControl
import DatalessReports

/// The option that `run` and `summary` have for reports.
struct ReportOptions: ParsableArguments {
  @Option(
    name: .customLong("report"),
    help: ArgumentHelp(
      "Write a report: junit=FILE, html=FILE, markdown=FILE, json=FILE, trace=FILE (Perfetto, Chrome) or collapsed=FILE"
        + " (flame graphs). Repeatable. [default: none]", valueName: "kind=file"),
    transform: Self.request)
  var reports: [ReportRequest] = []

  private static func request(_ text: String) throws -> ReportRequest {
    do {
      return try ReportRequest(parsing: ArgumentBytes.decode(text))
    } catch {
      throw ValidationError(
        "malformed --report '\(TerminalText.escaped(ArgumentBytes.decode(text)))': \(error.words) (EINVAL).")
    }
  }

  /// Whether one of them is all that standard output gets.
  var takesStandardOutput: Bool { reports.contains { $0.isStandardOutput } }
}
