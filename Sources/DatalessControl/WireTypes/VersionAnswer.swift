/// Answer of `GET /v1/version`: what the daemon is, and what it can.
public struct VersionAnswer: Codable, Sendable, Equatable {
  /// Of the program that serves the volume, such as `0.1.0`: of the time when it was mounted.
  public var version: String
  /// Of the control API: the number in its paths.
  public var api: Int64
  /// What the daemon can, by name, in alphabetical order. A name stays; a later version has more.
  public var features: [String]

  public init(version: String, api: Int64, features: [String]) {
    self.version = version
    self.api = api
    self.features = features
  }

  /// What this program is and can.
  public static let current = VersionAnswer(
    version: Version.current, api: Version.api, features: ControlFeature.allCases.map(\.rawValue).sorted())
}
