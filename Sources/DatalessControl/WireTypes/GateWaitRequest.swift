/// Body of `POST /v1/gates/wait`: answered when so many callers are blocked, or when the time is over.
public struct GateWaitRequest: Codable, Sendable, Equatable {
  /// LIMIT: a day, so that what a client that has gone left behind is gone as well some day.
  public static let timeoutMillisecondsMax: Int64 = 86_400_000
  public static let defaultTimeoutMilliseconds: Int64 = 30_000

  /// The gate's name.
  public var gate: String
  /// How many callers have to be blocked; 0 or more. Default 1.
  public var callers: Int64?
  /// How long to wait, in milliseconds; 0 to a day. Default 30,000.
  public var timeoutMilliseconds: Int64?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case gate, callers
    case timeoutMilliseconds = "timeout_ms"
  }

  public init(gate: String, callers: Int64? = nil, timeoutMilliseconds: Int64? = nil) {
    self.gate = gate
    self.callers = callers
    self.timeoutMilliseconds = timeoutMilliseconds
  }
}
