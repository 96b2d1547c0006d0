/// Body of `POST /v1/materialize` and `POST /v1/refresh`.
public struct PathsRequest: Codable, Sendable, Equatable {
  /// Relative to the volume's root; an empty path means all of it. A directory means all below it.
  public var paths: [WirePath]

  enum CodingKeys: String, CodingKey, CaseIterable {
    case paths
  }

  public init(paths: [WirePath]) {
    self.paths = paths
  }
}
