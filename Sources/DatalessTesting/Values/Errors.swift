/// A command of `dataless`, or a step of this library, that failed.
public struct DatalessError: Error, Sendable, CustomStringConvertible {
  /// A stable word: those of docs/JSON.md (`not_found`, `timed_out`, `invalid_scenario`, ...).
  public let code: String
  /// The name of an errno where there is one, such as `ENOENT`.
  public let errno: String?
  /// What is wrong, where, and what to do.
  public let message: String

  init(_ message: String, code: String = "failed", errno: String? = nil) {
    (self.code, self.errno, self.message) = (code, errno, message)
  }

  /// From the object `error` of an answer.
  init(answer: JSONValue) {
    self.init(
      answer["message"]?.string ?? "no message", code: answer["code"]?.string ?? "failed",
      errno: answer["errno"]?.string)
  }

  /// The message, and the errno's name if the message has none.
  public var description: String {
    guard let errno, !message.contains(errno) else { return message }
    return "\(message) (\(errno))"
  }
}

/// What was expected of the programs on a volume does not hold, or nobody knows.
public struct ExpectationFailure: Error, Sendable, CustomStringConvertible {
  /// Whether something that was expected does not hold. Otherwise the log does not tell: no alarm, and no pass.
  public let isViolated: Bool
  /// Who did what, and where in its program: the words of `dataless check-log`.
  public let text: String
  /// As `dataless check-log --json` prints it (docs/schemas/verdict.schema.json).
  public let verdict: JSONValue

  /// The words.
  public var description: String { text }
}
