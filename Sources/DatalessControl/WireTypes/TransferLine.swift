/// One line of a long answer: progress, or as the last line the result or an error.
public struct TransferLine: AnswerLine, Equatable {
  public var progress: TransferProgress?
  public var result: TransferResult?
  public var error: WireError?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case progress, result, error
  }

  public init(progress: TransferProgress? = nil, result: TransferResult? = nil, error: WireError? = nil) {
    self.progress = progress
    self.result = result
    self.error = error
  }
}
