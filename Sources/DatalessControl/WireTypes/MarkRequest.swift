/// Body of `POST /v1/mark`.
public struct MarkRequest: Codable, Sendable, Equatable {
  /// At most 1,024 bytes of UTF-8.
  public var label: String

  enum CodingKeys: String, CodingKey, CaseIterable {
    case label
  }

  public init(label: String) {
    self.label = label
  }
}
