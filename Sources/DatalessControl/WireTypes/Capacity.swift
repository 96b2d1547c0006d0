/// Answer of `GET /v1/capacity`: how much room there is, and what could go for more. In bytes.
public struct CapacityAnswer: Codable, Sendable, Equatable {
  /// What local content may take: the disk, or the quota.
  public var totalBytes: Int64
  /// What is free of it, as statfs(2) of a writable volume shows it.
  public var freeBytes: Int64
  /// Temporary files that could be purged.
  public var temporaryBytes: Int64
  /// Caches of apps that do not run.
  public var cachesBytes: Int64
  /// Content that could be evicted, and come again.
  public var evictableBytes: Int64
  /// The setting `reserve`.
  public var reserveBytes: Int64
  /// For what people ask for: free, and all that could go.
  public var importantBytes: Int64
  /// For what nobody has asked for: free and temporary, less the reserve.
  public var opportunisticBytes: Int64

  enum CodingKeys: String, CodingKey {
    case totalBytes = "total_bytes"
    case freeBytes = "free_bytes"
    case temporaryBytes = "temporary_bytes"
    case cachesBytes = "caches_bytes"
    case evictableBytes = "evictable_bytes"
    case reserveBytes = "reserve_bytes"
    case importantBytes = "important_bytes"
    case opportunisticBytes = "opportunistic_bytes"
  }

  public init(
    totalBytes: Int64, freeBytes: Int64, temporaryBytes: Int64, cachesBytes: Int64, evictableBytes: Int64,
    reserveBytes: Int64, importantBytes: Int64, opportunisticBytes: Int64
  ) {
    self.totalBytes = totalBytes
    self.freeBytes = freeBytes
    self.temporaryBytes = temporaryBytes
    self.cachesBytes = cachesBytes
    self.evictableBytes = evictableBytes
    self.reserveBytes = reserveBytes
    self.importantBytes = importantBytes
    self.opportunisticBytes = opportunisticBytes
  }
}
