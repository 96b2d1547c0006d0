/// Body of `POST /v1/scenario/settings`.
public struct SettingsRequest: Codable, Sendable, Equatable {
  /// By name. A string is read as YAML, as `dataless set` reads it: `"5"` is the number.
  public var settings: [String: JSONValue]

  enum CodingKeys: String, CodingKey, CaseIterable {
    case settings
  }

  public init(settings: [String: JSONValue]) {
    self.settings = settings
  }
}
