/// What the command of `dataless run` left running, and what became of it.
public struct RunChildren: Codable, Sendable, Equatable {
  /// How long `run` waited, from the end of the command on.
  public var waitedNanoseconds: Int64
  /// Why it waited no longer: `none_left`, `time_up`, `interrupted`, `volume_ended` or `unknown`.
  public var end: String
  /// Those that were left when the wait ended, the first 100; empty after `none_left`.
  public var left: [RunChild]
  /// All of them.
  public var leftCount: Int64
  /// How many of them could not be looked at, for want of descriptors.
  public var notLookedAt: Int64
  /// Processes that the command did not start and that hold the volume, the first 100. They are left alone.
  public var outsiders: [RunChild]

  /// Of each list.
  public static let listedMax = 100

  enum CodingKeys: String, CodingKey, CaseIterable {
    case end, left, outsiders
    case waitedNanoseconds = "waited_ns"
    case leftCount = "left_count"
    case notLookedAt = "not_looked_at"
  }

  /// - Parameter left: All that were looked at.
  public init(
    waitedNanoseconds: Int64, end: String, left: [RunChild], notLookedAt: Int64 = 0, outsiders: [RunChild] = []
  ) {
    self.waitedNanoseconds = waitedNanoseconds
    self.end = end
    self.left = Array(left.prefix(Self.listedMax))
    leftCount = Int64(left.count) + notLookedAt
    self.notLookedAt = notLookedAt
    self.outsiders = Array(outsiders.prefix(Self.listedMax))
  }
}
