import DatalessControl
import DatalessCore
import DatalessReports
import Glibc
import SystemPackage

/// What is said to GitHub Actions in one of its steps: errors at their places, and of a run a summary of the step.
///
/// GitHub obeys every line of a step's output that begins with `::` behind blanks, and what follows a `##[` anywhere in
/// one, whoever wrote it. What is said of names of files stands between `::stop-commands::TOKEN` and `::TOKEN::`, where
/// nothing is obeyed.
struct GitHubActions {
  private let workspace: String
  private let working: [UInt8]?
  private let stepSummary: [UInt8]?
  private let token: String

  /// - Parameters:
  ///   - working: The working directory of the command that is told of. Default: nobody knows.
  ///   - variable: The environment. Default: this process'.
  /// - Returns: nil elsewhere.
  init?(
    working: [UInt8]? = nil,
    variable: (String) -> String? = { name in getenv(name).map { String(cString: $0) } }
  ) {
    guard variable("GITHUB_ACTIONS") == "true" else { return nil }
    let path = variable("GITHUB_WORKSPACE") ?? ""
    workspace = path.hasSuffix("/") ? String(path.dropLast()) : path
    self.working = working
    stepSummary = variable("GITHUB_STEP_SUMMARY").flatMap { $0.isEmpty ? nil : Array($0.utf8) }
    token =
      "dataless-" + String(UInt64.random(in: 0 ... .max), radix: 16) + String(UInt64.random(in: 0 ... .max), radix: 16)
  }

  private var stopLine: String { "::stop-commands::\(token)" }
  private var resumeLine: String { "::\(token)::" }

  /// Has nothing obeyed that is printed on standard error until `resume`.
  func stop() { Console.note(stopLine) }
  func resume() { Console.note(resumeLine) }

  /// Has nothing obeyed of what a command prints on standard output; elsewhere than in a step it prints it as it is.
  ///
  /// - Parameters:
  ///   - gitHub: The step. Default: that of this process' environment.
  ///   - descriptor: Where it is printed: GitHub reads both outputs of a step, each for itself. Default: standard
  ///     output.
  ///   - print: Has written all of it when it returns.
  static func unobeyed(
    in gitHub: GitHubActions? = GitHubActions(), descriptor: CInt = STDOUT_FILENO, _ print: () throws -> Void
  ) throws {
    guard let gitHub else { return try print() }
    let output = StandardOutput(descriptor: descriptor)
    func say(_ line: String) throws {
      try output.line(line)
      try output.flush()
    }
    try say(gitHub.stopLine)
    do {
      try print()
    } catch {
      try? say(gitHub.resumeLine)
      throw error
    }
    try say(gitHub.resumeLine)
  }

  /// The lines that have GitHub show what does not hold.
  ///
  /// - Parameter source: SOURCE of the volume; only an absolute path is one.
  func errors(_ verdict: ReportVerdict, source: String) -> [String] {
    GitHubCommands.errors(
      verdict, workspace: workspace, working: working, source: source.hasPrefix("/") ? source : "")
  }

  /// Prints the errors of a report, and adds it to the step's summary.
  ///
  /// - Returns: What went wrong with the summary of the step; nil when nothing did.
  func tell(_ report: Report) -> String? {
    for line in errors(report.verdict, source: report.summary.source) { Console.note(line) }
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
