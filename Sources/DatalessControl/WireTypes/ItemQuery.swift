/// The query of `GET /v1/items`.
public struct ItemQuery: Sendable, Equatable {
  /// Relative to the volume's root; empty for the root.
  public var path: [UInt8]
  /// Whether a listed directory is followed by what is in it, at any depth, instead of one level.
  public var recursive: Bool
  /// Where the page before ended; nil for the first page.
  public var after: String?
  /// 1...10,000. Default: 1,000.
  public var limit: Int

  public static let defaultLimit = 1_000
  public static let limitMax = 10_000

  public init(path: [UInt8], recursive: Bool = false, after: String? = nil, limit: Int = Self.defaultLimit) {
    self.path = path
    self.recursive = recursive
    self.after = after
    self.limit = limit
  }
}
