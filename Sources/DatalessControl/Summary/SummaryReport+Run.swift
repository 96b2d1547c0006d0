extension SummaryReport {
  /// The command of `dataless run`.
  public struct Run: Codable, Sendable, Equatable {
    public var command: [String] = []
    /// Whether the log keeps only the program and its script.
    public var isCommandWithheld = false
    public var exitStatus: Int64?
    public var signal: String?
    /// The budget that was exceeded first, if one was.
    public var exceeded: Excess?
    enum CodingKeys: String, CodingKey, CaseIterable {
      case command, signal, exceeded
      case isCommandWithheld = "command_withheld"
      case exitStatus = "exit_status"
    }
  }

  public struct Excess: Codable, Sendable, Equatable {
    /// `files` or `bytes`.
    public var budget: String
    public var limit: Int64
    public var used: Int64
    public var path: String
    /// `comm[pid]`.
    public var process: String
    enum CodingKeys: String, CodingKey, CaseIterable { case budget, limit, used, path, process }
  }
}
