/// What went wrong, in every answer with a 4xx or 5xx status and in a stream that breaks off.
public struct WireError: Codable, Sendable, Equatable {
  /// Stable word: `not_found`, `busy`, `invalid_request`, `forbidden`, `too_large`, `failed`, ...
  public var code: String
  /// Name, such as `ENOENT`, where a system call or the engine gave one.
  public var errno: String?
  /// One sentence for a person, with the remedy where there is one; a line for each problem of a scenario.
  public var message: String
  /// With `invalid_scenario` only: everything that is wrong, at most 20.
  public var problems: [WireProblem]?

  public init(code: String, errno: String? = nil, message: String, problems: [WireProblem]? = nil) {
    self.code = code
    self.errno = errno
    self.message = message
    self.problems = problems
  }
}

/// Body of every answer with a 4xx or 5xx status.
public struct ErrorAnswer: Codable, Sendable, Equatable {
  public var error: WireError

  public init(error: WireError) {
    self.error = error
  }
}

/// One thing that is wrong with a scenario, or worth a look.
public struct WireProblem: Codable, Sendable, Equatable {
  /// What the text was called: a path, the `name` of the request, or the words of a setting.
  public var file: String
  /// From 1; the column counts characters.
  public var line: Int64
  public var column: Int64
  /// What is wrong, and the remedy.
  public var message: String

  public init(file: String, line: Int64, column: Int64, message: String) {
    self.file = file
    self.line = line
    self.column = column
    self.message = message
  }
}

/// A line of a command's `--json` that says what failed, where all others are answers.
public struct CommandErrorAnswer: Codable, Sendable, Equatable {
  public var error: CommandError

  public init(error: CommandError) {
    self.error = error
  }
}

/// What went wrong in a command: as `WireError` of the control API, and the exit status.
public struct CommandError: Codable, Sendable, Equatable {
  /// A stable word; docs/JSON.md has them all.
  public var code: String
  /// Name, such as `ENOENT`, where there is one.
  public var errno: String?
  /// What standard error says, and there with `dataless: ` before it: what is wrong and what to do; a line for each
  /// problem of a scenario.
  public var message: String
  /// What it is about, of a command that goes on with others: a path as it was given, or a mountpoint.
  public var path: String?
  public var pathBase64: String?
  /// With `invalid_scenario` only: everything that is wrong, at most 20.
  public var problems: [WireProblem]?
  /// Of the command, unless another error follows.
  public var exitStatus: Int32

  enum CodingKeys: String, CodingKey {
    case code, errno, message, path, problems
    case pathBase64 = "path_b64"
    case exitStatus = "exit_status"
  }

  public init(
    code: String, errno: String? = nil, message: String, path: [UInt8]? = nil, problems: [WireProblem]? = nil,
    exitStatus: Int32
  ) {
    self.code = code
    self.errno = errno
    self.message = message
    if let path { (self.path, pathBase64) = WirePath.split(path) }
    self.problems = problems
    self.exitStatus = exitStatus
  }
}
