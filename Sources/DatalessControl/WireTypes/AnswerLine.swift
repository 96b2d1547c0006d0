/// One line of a long answer: progress, or as the last line the result or an error.
public protocol AnswerLine: Codable, Sendable {
  associatedtype Progress: Sendable
  associatedtype Result: Sendable

  var progress: Progress? { get }
  var result: Result? { get }
  var error: WireError? { get }

  init(progress: Progress?, result: Result?, error: WireError?)
}
