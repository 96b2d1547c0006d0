import DatalessControl
import DatalessCore
import DatalessReports
import Glibc
import SystemPackage

/// What a run says to GitHub Actions, if it is one of its steps: errors at their places, and a summary of the step.
///
/// GitHub obeys every line of a step's output that begins with `::`, whoever wrote it. What a summary says of names of
/// files stands between `::stop-commands::TOKEN` and `::TOKEN::`, where nothing is obeyed.
struct GitHubActions {
  private let workspace: String
  private let stepSummary: [UInt8]?
  private let token: String

  /// - Parameter variable: The environment. Default: this process'.
  /// - Returns: nil elsewhere.
  init?(variable: (String) -> String? = { name in getenv(name).map { String(cString: $0) } }) {
    guard variable("GITHUB_ACTIONS") == "true" else { return nil }
    let path = variable("GITHUB_WORKSPACE") ?? ""
    workspace = path.hasSuffix("/") ? String(path.dropLast()) : path
    stepSummary = variable("GITHUB_STEP_SUMMARY").flatMap { $0.isEmpty ? nil : Array($0.utf8) }
    token =
      "dataless-" + String(UInt64.random(in: 0 ... .max), radix: 16) + String(UInt64.random(in: 0 ... .max), radix: 16)
  }

  /// Has nothing obeyed that is printed until `resume`.
  func stop() { Console.note("::stop-commands::\(token)") }
  func resume() { Console.note("::\(token)::") }

  /// Prints the errors of a report, and adds it to the step's summary.
  ///
  /// - Returns: What went wrong with the summary of the step; nil when nothing did.
  func tell(_ report: Report) -> String? {
    let source = report.summary.source.hasPrefix("/") ? report.summary.source : ""
    for line in GitHubCommands.errors(report.verdict, workspace: workspace, source: source) { Console.note(line) }
    guard let stepSummary else { return nil }
    let descriptor = (stepSummary + [0]).map { CChar(bitPattern: $0) }.withUnsafeBufferPointer { path in
      path.baseAddress.map { open($0, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o666) } ?? -1
    }
    var failure = descriptor < 0 ? Errno(rawValue: errno) : nil
    if descriptor >= 0 {
      failure = DescriptorWrite.all(Array(report.stepSummary.utf8), to: descriptor).failure
      close(descriptor)
    }
    return failure.map { errno in
      "cannot write $GITHUB_STEP_SUMMARY: \(errno.description) (\(errno.name)). The run goes on without it."
    }
  }
}
