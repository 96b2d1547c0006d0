/// Body of `POST /v1/mark`.
public struct MarkRequest: Codable, Sendable, Equatable {
  /// At most 1,024 bytes of UTF-8.
  public var label: String

  public init(label: String) {
    self.label = label
  }
}

extension MarkRequest: WireRequest {
  public static var keys: [String] { ["label"] }
}

/// Answer of `POST /v1/log/flush`: all that was recorded before is in the file.
public struct FlushAnswer: Codable, Sendable, Equatable {
  /// The log file; absolute.
  public var log: String
  public var logBase64: String?
  /// Records lost since the volume was mounted.
  public var lost: Int64

  enum CodingKeys: String, CodingKey {
    case log, lost
    case logBase64 = "log_b64"
  }

  public init(log: [UInt8], lost: Int64) {
    (self.log, logBase64) = WirePath.split(log)
    self.lost = lost
  }

  public var logBytes: [UInt8] { WirePath.bytes(log, logBase64) }
}

/// Answer of requests that write one record into the event log.
public struct SequenceAnswer: Codable, Sendable, Equatable {
  /// The number of that record.
  public var seq: UInt64

  public init(seq: UInt64) {
    self.seq = seq
  }
}

/// Body of `POST /v1/interrupt`, and its answer.
public struct InterruptRequest: Codable, Sendable, Equatable {
  /// The number that a long request has in the header `dataless-request` of its answer.
  public var request: UInt64

  public init(request: UInt64) {
    self.request = request
  }
}

extension InterruptRequest: WireRequest {
  public static var keys: [String] { ["request"] }
}
