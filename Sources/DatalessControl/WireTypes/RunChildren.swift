/// What the command of `dataless run` left running, and what became of it.
public struct RunChildren: Codable, Sendable, Equatable {
  /// How long `run` waited, from the end of the command on.
  public var waitedNanoseconds: Int64
  /// Why it waited no longer: `none_left`, `time_up`, `interrupted`, `volume_ended` or `unknown`.
  public var end: String
  /// Those that were left when the wait ended; empty after `none_left`.
  public var left: [RunChild]

  enum CodingKeys: String, CodingKey, CaseIterable {
    case end, left
    case waitedNanoseconds = "waited_ns"
  }

  public init(waitedNanoseconds: Int64, end: String, left: [RunChild]) {
    self.waitedNanoseconds = waitedNanoseconds
    self.end = end
    self.left = left
  }
}
