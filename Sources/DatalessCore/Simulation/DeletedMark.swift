/// What Linux puts behind the path of an executable that has lost its name: it was removed, or replaced by an upgrade.
public enum DeletedMark {
  public static let bytes = Array(" (deleted)".utf8)

  /// The path in front of it; nil where there is none, or it is all there is.
  public static func removed(from path: [UInt8]) -> [UInt8]? {
    guard path.count > bytes.count, path.suffix(bytes.count).elementsEqual(bytes) else { return nil }
    return Array(path.dropLast(bytes.count))
  }
}
