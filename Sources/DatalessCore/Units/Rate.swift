internal import SystemPackage

/// Transfer rates as people write them: a size (see `ByteSize`), with or without `/s`.
public enum Rate {
  /// Reads a rate such as `20MB/s` or `1MiB/s`.
  ///
  /// - Returns: Bytes per second, at least 1.
  /// - Throws: EINVAL with a message that names the wrong part.
  public static func parse(_ text: String) throws(FSError) -> Int64 {
    let expected = "a size per second, such as 20MB/s or 512KiB/s"
    var size = text
    if let slash = text.firstIndex(of: "/") {
      let period = text[text.index(after: slash)...]
      guard period == "s" else {
        throw FSError(.invalidArgument, "malformed rate '\(text)': unknown period '/\(period)'; expected \(expected)")
      }
      size = String(text[..<slash])
    }
    let bytes = try ByteSize.parse(size, what: "rate", expected: expected)
    guard bytes > 0 else {
      throw FSError(
        .invalidArgument, "malformed rate '\(text)': at less than 1 B/s nothing would ever arrive; expected \(expected)"
      )
    }
    return bytes
  }

  /// Writes a rate for people, in decimal units as networks are sold: `20 MB/s`.
  public static func format(_ bytesPerSecond: Int64) -> String {
    var unit: Int64 = 1
    for name in ["B", "kB", "MB", "GB", "TB"] {
      if Double(bytesPerSecond) / Double(unit) < 999.5 {
        return "\(DecimalNumber.format(bytesPerSecond, per: unit)) \(name)/s"
      }
      unit *= 1000
    }
    return "\(DecimalNumber.format(bytesPerSecond, per: unit)) PB/s"
  }
}
