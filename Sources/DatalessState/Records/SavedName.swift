/// Names as the catalog may have them: nothing that leads anywhere but into its own directory.
enum SavedName {
  /// As `Namespace.nameLengthMax`.
  static let lengthMax = 1024

  static func check(_ name: [UInt8]) throws(Damage) {
    guard !name.isEmpty else { throw Damage("a name is empty") }
    guard name.count <= lengthMax else { throw Damage("a name has \(name.count) bytes") }
    guard !name.contains(0), !name.contains(UInt8(ascii: "/")) else { throw Damage("a name has a '/' or a NUL in it") }
    guard name != [0x2e], name != [0x2e, 0x2e] else { throw Damage("a name is '.' or '..'") }
  }

  /// The names of a store's key. - Throws: One of them is none.
  static func components(of key: [UInt8]) throws(Damage) -> [[UInt8]] {
    guard !key.isEmpty else { return [] }
    let names = key.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { Array($0) }
    for name in names { try check(name) }
    return names
  }
}
