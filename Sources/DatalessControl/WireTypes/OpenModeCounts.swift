/// How many opens of files have their reads served in each way.
public struct OpenModeCounts: Codable, Sendable, Equatable {
  /// Each read(2) reaches the volume alone, with its exact range: files that were dataless when they were opened.
  public var direct: Int64
  /// From the kernel's page cache, which asks the volume for what it has not.
  public var pageCache: Int64
  /// From the local content by the kernel itself; such reads do not reach the volume.
  public var passthrough: Int64

  enum CodingKeys: String, CodingKey, CaseIterable {
    case direct, passthrough
    case pageCache = "page_cache"
  }

  public init(direct: Int64, pageCache: Int64, passthrough: Int64) {
    self.direct = direct
    self.pageCache = pageCache
    self.passthrough = passthrough
  }

  /// All of them.
  public var sum: Int64 { direct + pageCache + passthrough }
}
