/// One line of the answer of `POST /v1/refresh`: progress, or as the last line the result or an error.
public struct RefreshLine: AnswerLine, Equatable {
  public var progress: RefreshProgress?
  public var result: RefreshResult?
  public var error: WireError?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case progress, result, error
  }

  public init(progress: RefreshProgress? = nil, result: RefreshResult? = nil, error: WireError? = nil) {
    self.progress = progress
    self.result = result
    self.error = error
  }
}
