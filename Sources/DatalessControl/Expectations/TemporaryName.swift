/// Names that are others in each run, as far as they can be told from names that stay.
enum TemporaryName {
  static let placeholder = Array("<temporary>".utf8)

  /// A path with `<temporary>` for components as mktemp(1) (`tmp.` and ten letters or digits), Python's tempfile (`tmp`
  /// and eight) and GLib (`.goutputstream-` and six) make them, and for UUIDs; an extension stays. A component that is
  /// called so itself gets another `<` at the front.
  static func normalized(_ path: [UInt8]) -> [UInt8] {
    let slash = UInt8(ascii: "/")
    return Array(
      path.split(separator: slash, omittingEmptySubsequences: false).map(component).joined(separator: [slash]))
  }

  private static func component(_ name: ArraySlice<UInt8>) -> [UInt8] {
    if name.drop(while: { $0 == UInt8(ascii: "<") }).elementsEqual(placeholder.dropFirst()),
      name.first == placeholder[0]
    {
      return [UInt8(ascii: "<")] + name
    }
    for length in lengths(name) where length == name.count || name[name.startIndex + length] == UInt8(ascii: ".") {
      return placeholder + name.dropFirst(length)
    }
    return Array(name)
  }

  /// How much of a name may be one of a temporary file, from its beginning.
  private static func lengths(_ name: ArraySlice<UInt8>) -> [Int] {
    var lengths: [Int] = []
    for (prefix, count, isRandom) in [
      ("tmp.", 10, isAlphanumeric), ("tmp", 8, isOfPython), (".goutputstream-", 6, isAlphanumeric),
    ] {
      let start = prefix.utf8.count
      guard name.starts(with: prefix.utf8), name.count >= start + count else { continue }
      if name.dropFirst(start).prefix(count).allSatisfy(isRandom) { lengths.append(start + count) }
    }
    if isUUID(name.prefix(36)) { lengths.append(36) }
    return lengths
  }

  private static func isUUID(_ text: ArraySlice<UInt8>) -> Bool {
    guard text.count == 36 else { return false }
    return text.enumerated().allSatisfy { index, byte in
      [8, 13, 18, 23].contains(index) ? byte == UInt8(ascii: "-") : isHexadecimal(byte)
    }
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
  }
  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
  private static func isLower(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }
  private static func isAlphanumeric(_ byte: UInt8) -> Bool { isDigit(byte) || isLower(byte | 0x20) }
  private static func isOfPython(_ byte: UInt8) -> Bool { isDigit(byte) || isLower(byte) || byte == UInt8(ascii: "_") }
}
