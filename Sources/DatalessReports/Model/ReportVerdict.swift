import DatalessControl

/// Whether what was expected of a run held, and whether its command failed: first in every report.
public struct ReportVerdict: Codable, Sendable, Equatable {
  public enum Outcome: String, Codable, Sendable {
    case passed, failed
    /// Nobody knows whether it held: the run was cut short, or the log does not tell.
    case unknown
    /// Nothing was expected.
    case none
  }

  /// One thing that was expected.
  public struct Check: Codable, Sendable, Equatable {
    /// As it was asked for: `--max-files 10`.
    public var name: String
    public var outcome: Outcome
    /// What there was, in a sentence; escaped for a terminal.
    public var message: String
    public var violations: [Violation]
    /// What makes it hold whatever programs do, such as that no caller is meant; nil otherwise. Escaped, too.
    public var warning: String?

    public init(
      name: String, outcome: Outcome, message: String, violations: [Violation] = [], warning: String? = nil
    ) {
      (self.name, self.outcome) = (name, outcome)
      (self.message, self.violations, self.warning) = (message, violations, warning)
    }
  }

  /// A line of a source, as debug information or an interpreter names it: anything may stand there.
  struct SourcePlace: Sendable, Equatable {
    var path: [UInt8]
    /// nil where only the line at which the function begins is known.
    var line: UInt32?
  }

  /// What was against an expectation. All texts are escaped for a terminal.
  public struct Violation: Codable, Sendable, Equatable {
    public var message: String
    /// Relative to the volume's root.
    public var path: String?
    /// `python3 fm.py[4711]`.
    public var process: String?
    /// Of the process, nearest first.
    public var parents: [String]
    /// Functions, innermost first.
    public var stack: [String]
    /// Why functions are missing behind those of `stack`, in words; nil where none is known to be.
    public var incomplete: String?
    /// The place in the program's source that a developer should look at.
    public var file: String?
    public var line: UInt32?
    /// True where the function of that place begins at `line`, and stands nobody knows where.
    public var hasFunctionLines: Bool?
    /// All places of the stack, the program's own first, each innermost first. No part of what is written.
    var places: [SourcePlace] = []
    /// The path as the volume has it, where `path` is another text; else empty. No part of what is written.
    var rawPath: [UInt8] = []

    enum CodingKeys: String, CodingKey {
      case message, path, process, parents, stack, incomplete, file, line
      case hasFunctionLines = "function_lines"
    }

    public init(
      _ message: String, path: String? = nil, process: String? = nil, parents: [String] = [], stack: [String] = [],
      incomplete: String? = nil, file: String? = nil, line: UInt32? = nil, hasFunctionLines: Bool? = nil
    ) {
      (self.message, self.path) = (message, path)
      (self.process, self.parents) = (process, parents)
      (self.stack, self.file, self.line) = (stack, file, line)
      (self.incomplete, self.hasFunctionLines) = (incomplete, hasFunctionLines)
    }

    /// Names the item that it is about.
    ///
    /// - Parameter raw: Relative to the volume's root; nil where it is about none.
    mutating func setPath(_ raw: [UInt8]?) {
      path = raw.map { PathText.of($0) }
      rawPath = []
      if let raw, let path, Array(path.utf8) != raw { rawPath = raw }
    }

    /// The place, escaped for a terminal: `fm.py:42`; nil where none is known.
    var place: String? {
      guard let file else { return nil }
      guard let line else { return file }
      return hasFunctionLines == true ? "\(file) (the function begins at line \(line))" : "\(file):\(line)"
    }
  }

  public var outcome: Outcome
  /// In a sentence; escaped for a terminal.
  public var message: String
  public var checks: [Check]

  /// The worst of the checks decides.
  ///
  /// - Parameter message: Default: how many held.
  public init(checks: [Check], message: String? = nil) {
    self.checks = checks
    let failed = checks.count { $0.outcome == .failed }
    let unknown = checks.count { $0.outcome == .unknown }
    outcome = checks.isEmpty ? .none : failed > 0 ? .failed : unknown > 0 ? .unknown : .passed
    if let message {
      self.message = message
    } else if checks.isEmpty {
      self.message = "nothing was expected"
    } else if failed > 0 {
      self.message = "\(failed) of \(checks.count) expectations did not hold"
    } else if unknown > 0 {
      self.message = "of \(unknown) of \(checks.count) expectations nobody knows whether they held"
    } else {
      self.message = checks.count == 1 ? "the expectation held" : "all \(checks.count) expectations held"
    }
  }
}

extension ReportVerdict {
  /// With the end of the command, whose failure is no pass, whatever was expected.
  ///
  /// - Parameter run: nil where no command was run.
  func judged(with run: SummaryReport.Run?) -> ReportVerdict {
    guard let run else { return self }
    var verdict = self
    if let failure = run.failure {
      (verdict.outcome, verdict.message) = (.failed, "\(failure); \(message)")
    } else if run.exitStatus == nil, outcome == .passed {
      (verdict.outcome, verdict.message) = (.unknown, "nobody knows how the command ended; \(message)")
    }
    return verdict
  }
}

extension SummaryReport.Run {
  /// How the command ended, if that was no success; nil also where the log does not tell. Escaped for a terminal.
  var failure: String? {
    if let notStarted { return "the command could not be executed (\(TerminalText.escaped(notStarted)))" }
    if let signal { return "the command was ended by \(TerminalText.escaped(signal))" }
    guard let exitStatus, exitStatus != 0 else { return nil }
    return "the command ended with status \(exitStatus)"
  }
}
