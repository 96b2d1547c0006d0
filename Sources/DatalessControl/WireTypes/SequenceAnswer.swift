/// Answer of requests that write one record into the event log.
public struct SequenceAnswer: Codable, Sendable, Equatable {
  /// The number of that record.
  public var seq: UInt64

  enum CodingKeys: String, CodingKey, CaseIterable {
    case seq
  }

  public init(seq: UInt64) {
    self.seq = seq
  }
}
