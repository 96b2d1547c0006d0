/// Body of every answer with a 4xx or 5xx status.
public struct ErrorAnswer: Codable, Sendable, Equatable {
  public var error: WireError

  enum CodingKeys: String, CodingKey, CaseIterable {
    case error
  }

  public init(error: WireError) {
    self.error = error
  }
}
