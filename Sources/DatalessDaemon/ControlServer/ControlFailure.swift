public import DatalessControl
public import DatalessCore
public import DatalessScenario
import SystemPackage

/// An error answer of the control API.
public struct ControlFailure: Error, Sendable, Equatable {
  /// HTTP status, 400...599.
  public var status: Int
  /// A stable word; see `WireError.code`.
  public var code: String
  /// Name of an errno, where there is one.
  public var errno: String?
  public var message: String
  /// Everything that is wrong with a scenario; nil for other failures.
  public var problems: [WireProblem]?
  /// With status 405: what the path takes.
  public var allowedMethods: [String]

  public init(
    status: Int, code: String, errno: String? = nil, message: String, problems: [WireProblem]? = nil,
    allowedMethods: [String] = []
  ) {
    self.status = status
    self.code = code
    self.errno = errno
    self.message = message
    self.problems = problems
    self.allowedMethods = allowedMethods
  }

  /// The answer for a scenario that is refused: a line for each problem.
  public init(_ error: ScenarioError) {
    self.init(
      status: 422, code: "invalid_scenario", errno: "EINVAL", message: error.description,
      problems: error.problems.map(WireProblem.init))
  }

  /// The answer for an error of the engine or a system call.
  public init(_ error: FSError) {
    let (status, code): (Int, String) =
      switch error.errno {
      case .noSuchFileOrDirectory, .noSuchProcess: (404, "not_found")
      case .invalidArgument, .notDirectory, .isDirectory, .fileNameTooLong, .readOnlyFileSystem, .improperLink,
        .tooManySymbolicLinkLevels:
        (422, "invalid_request")
      case .resourceBusy, .staleNFSFileHandle: (409, "busy")
      case .permissionDenied, .notPermitted: (403, "forbidden")
      case .timedOut: (504, "timed_out")
      case .noSpace: (507, "no_space")
      case .notSupported: (501, "not_supported")
      default: (500, "failed")
      }
    self.init(status: status, code: code, errno: error.errno.name, message: error.message)
  }

  /// The answer for whatever a backend threw.
  init(_ error: any Error) {
    if let failure = error as? ControlFailure {
      self = failure
    } else if let failure = error as? FSError {
      self.init(failure)
    } else if let failure = error as? ControlError {
      self.init(status: 400, code: "invalid_request", errno: failure.errno?.name, message: failure.message)
    } else if let failure = error as? ScenarioError {
      self.init(failure)
    } else if error is CancellationError {
      self.init(
        status: 503, code: "cancelled", errno: "ECANCELED",
        message: "given up: interrupted, or the volume is being unmounted")
    } else {
      self.init(status: 500, code: "failed", message: "\(error)")
    }
  }

  var wire: WireError { WireError(code: code, errno: errno, message: message, problems: problems) }
}

extension WireProblem {
  init(_ problem: ScenarioProblem) {
    self.init(
      file: problem.file, line: Int64(problem.line), column: Int64(problem.column), message: problem.message)
  }
}
