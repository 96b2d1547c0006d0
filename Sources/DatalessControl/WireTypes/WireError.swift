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

  enum CodingKeys: String, CodingKey, CaseIterable {
    case code, errno, message, problems
  }

  public init(code: String, errno: String? = nil, message: String, problems: [WireProblem]? = nil) {
    self.code = code
    self.errno = errno
    self.message = message
    self.problems = problems
  }
}
