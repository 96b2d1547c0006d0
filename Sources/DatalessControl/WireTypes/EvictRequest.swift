/// Body of `POST /v1/evict`.
public struct EvictRequest: Codable, Sendable, Equatable {
  /// Relative to the volume's root; an empty path means all of it. A directory means all below it.
  public var paths: [WirePath]
  /// Whether to stop at the first refusal. Default: false.
  public var stop: Bool?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case paths, stop
  }

  public init(paths: [WirePath], stop: Bool? = nil) {
    self.paths = paths
    self.stop = stop
  }
}
