/// A process that the command of `dataless run` left running, or another one that holds its volume.
public struct RunChild: Codable, Sendable, Equatable {
  public var process: WireProcess
  /// By what it kept the volume in use: `working_directory`, `root_directory`, `open_file`, `mapping`, `waiting_call`;
  /// absent when that could not be seen.
  public var holds: [String]?
  /// Whether `run` told it to end.
  public var ended: Bool

  enum CodingKeys: String, CodingKey, CaseIterable {
    case process, holds, ended
  }

  public init(process: WireProcess, holds: [String]? = nil, ended: Bool) {
    self.process = process
    self.holds = holds
    self.ended = ended
  }
}
