/// A file registered with the kernel as the backing of passthrough opens, valid for one session.
public struct BackingID: Sendable, Hashable, RawRepresentable {
  /// Greater than zero.
  public let rawValue: Int32

  public init(rawValue: Int32) { self.rawValue = rawValue }
}
