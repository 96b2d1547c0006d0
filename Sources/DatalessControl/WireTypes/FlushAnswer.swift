/// Answer of `POST /v1/log/flush`: all that was recorded before is in the file.
public struct FlushAnswer: Codable, Sendable, Equatable {
  /// The log file; absolute.
  public var log: String
  public var logBase64: String?
  /// Records lost since the volume was mounted.
  public var lost: Int64

  enum CodingKeys: String, CodingKey, CaseIterable {
    case log, lost
    case logBase64 = "log_b64"
  }

  public init(log: [UInt8], lost: Int64) {
    (self.log, logBase64) = WirePath.split(log)
    self.lost = lost
  }

  public var logBytes: [UInt8] { WirePath.bytes(log, logBase64) }
}
