public import DatalessControl

/// What a starting daemon tells its launcher, once, as one line of JSON.
public enum ReadyMessage: Sendable, Codable, Equatable {
  /// The volume answers.
  case ready(ReadyVolume)
  /// The volume could not be started.
  case error(message: String, exitCode: Int32)

  private enum CodingKeys: String, CodingKey {
    case ready, error
  }

  private struct Failure: Codable {
    var message: String
    var exitCode: Int32

    enum CodingKeys: String, CodingKey {
      case message
      case exitCode = "exit_code"
    }
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    if let volume = try container.decodeIfPresent(ReadyVolume.self, forKey: .ready) {
      self = .ready(volume)
    } else {
      let failure = try container.decode(Failure.self, forKey: .error)
      self = .error(message: failure.message, exitCode: failure.exitCode)
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    switch self {
    case .ready(let volume): try container.encode(volume, forKey: .ready)
    case .error(let message, let exitCode):
      try container.encode(Failure(message: message, exitCode: exitCode), forKey: .error)
    }
  }

  /// The message as one line of JSON, with its line feed.
  public func line() throws(ControlError) -> [UInt8] { try WireCoding.encode(self) + [UInt8(ascii: "\n")] }

  /// Reads a message from the first line of `bytes`; nil while no whole line has come.
  ///
  /// - Throws: `ControlError.malformed` for a line that is no message.
  public static func first(in bytes: [UInt8]) throws(ControlError) -> ReadyMessage? {
    guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
    return try WireCoding.decode(ReadyMessage.self, from: Array(bytes[..<end]), named: "the daemon's first message")
  }
}

/// A volume that has just begun to answer.
public struct ReadyVolume: Sendable, Codable, Equatable {
  public var mountpoint: [UInt8]
  /// The event log's file.
  public var log: [UInt8]
  public var session: String
  /// The daemon's process id.
  public var pid: Int32
  /// The volume's device as /proc/self/mountinfo prints it, such as `0:52`; empty when it could not be found there.
  public var device: String
  /// What the user should know, one sentence each.
  public var warnings: [String]

  public init(
    mountpoint: [UInt8], log: [UInt8], session: String, pid: Int32, device: String, warnings: [String]
  ) {
    self.mountpoint = mountpoint
    self.log = log
    self.session = session
    self.pid = pid
    self.device = device
    self.warnings = warnings
  }
}
