/// Opens of files by the way in which their reads are served.
public struct OpenCounts: Codable, Sendable, Equatable {
  /// Those that are open at this moment.
  public var now: OpenModeCounts
  /// All since the volume was mounted.
  public var sinceMount: OpenModeCounts

  enum CodingKeys: String, CodingKey, CaseIterable {
    case now
    case sinceMount = "since_mount"
  }

  public init(now: OpenModeCounts, sinceMount: OpenModeCounts) {
    self.now = now
    self.sinceMount = sinceMount
  }
}
