/// Body of `POST /v1/interrupt`, and its answer.
public struct InterruptRequest: Codable, Sendable, Equatable {
  /// The number that a long request has in the header `dataless-request` of its answer.
  public var request: UInt64

  enum CodingKeys: String, CodingKey, CaseIterable {
    case request
  }

  public init(request: UInt64) {
    self.request = request
  }
}
