/// Answer of `GET /v1/items`: a part of a listing.
public struct ItemPage: Codable, Sendable, Equatable {
  /// A directory before what is in it; siblings in no particular order.
  public var items: [VolumeItem]
  /// What to pass as `after` to go on; absent at the end.
  public var next: String?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case items, next
  }

  public init(items: [VolumeItem], next: String? = nil) {
    self.items = items
    self.next = next
  }
}
