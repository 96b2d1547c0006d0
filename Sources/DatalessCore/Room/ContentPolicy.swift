/// When the content of an item comes, and whether it may go: what File Provider calls a content policy.
public enum ContentPolicy: String, Sendable, Hashable, CaseIterable {
  /// As the directory in which it lies; of the root, `standard`.
  case inherited
  /// It comes when it is read. What is local follows the store: another version is fetched at once.
  case lazy
  /// It comes when it is read. What is local becomes dataless when the store has another version.
  case lazyAndEvict = "lazy-and-evict"
  /// It comes at once, follows the store, and stays: pinned.
  case eager

  /// Of whatever has none, and lies in nothing that has one.
  public static let standard = ContentPolicy.lazyAndEvict

  /// Whether content must not be evicted.
  public var keepsContent: Bool { self == .eager }

  /// Whether another version of what is local is fetched at once.
  public var followsStore: Bool { self == .eager || self == .lazy }
}

/// The extended attributes by which programs see, and on a writable volume set, the policy of an item.
enum PolicyAttribute {
  /// The item's own policy, as a word; none if it is inherited.
  static let policy = Array("user.dataless.policy".utf8)
  /// As macOS has it, in Linux's `user.` namespace: `1` for what is pinned itself.
  static let pinned = Array("user.com.apple.fileprovider.pinned#PX".utf8)

  static func isOne(_ name: some Sequence<UInt8>) -> Bool {
    name.elementsEqual(policy) || name.elementsEqual(pinned)
  }

  /// The value of an attribute; nil if the item has none. - Parameter own: The item's own policy.
  static func value(of name: some Sequence<UInt8>, _ own: ContentPolicy) -> [UInt8]? {
    if name.elementsEqual(pinned) { return own == .eager ? [UInt8(ascii: "1")] : nil }
    return own == .inherited ? nil : Array(own.rawValue.utf8)
  }

  /// What setting an attribute means; nil: nothing that there is.
  ///
  /// - Parameter value: nil: it is removed.
  static func policy(_ name: [UInt8], _ value: [UInt8]?) -> ContentPolicy? {
    guard let value else { return .inherited }
    if name == pinned { return value == [UInt8(ascii: "1")] ? .eager : nil }
    return ContentPolicy(rawValue: String(decoding: value, as: UTF8.self))
  }
}
