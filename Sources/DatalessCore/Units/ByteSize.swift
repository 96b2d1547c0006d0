internal import SystemPackage

/// Numbers of bytes as people write them.
///
/// `k`, `m`, `g`, `t` and `KiB`, `MiB`, `GiB`, `TiB` (also `K`, `Ki`) count in steps of 1024; `kB`, `MB`, `GB`, `TB` in
/// steps of 1000; `B` or nothing is bytes. So `4k` is 4,096 bytes, as dd(1) and truncate(1) have it, and `20MB` is
/// 20,000,000.
public enum ByteSize {
  /// Reads a size such as `4k`, `1.5GiB`, `20MB`, `0` or `123`. A fraction of a byte is dropped.
  ///
  /// - Throws: EINVAL with a message that names the wrong part.
  public static func parse(_ text: String) throws(FSError) -> Int64 {
    try parse(text, what: "size", expected: "a number and a unit, such as 4k, 1.5GiB or 20MB")
  }

  /// As `parse(_:)`; EINVAL for 0, too.
  public static func parsePositive(_ text: String) throws(FSError) -> Int64 {
    let bytes = try parse(text)
    guard bytes > 0 else { throw FSError(.invalidArgument, "malformed size '\(text)': expected 1 byte or more") }
    return bytes
  }

  /// As `parse(_:)`, for values that contain a size: `what` and `expected` stand in the message.
  static func parse(_ text: String, what: String, expected: String) throws(FSError) -> Int64 {
    let number = try DecimalNumber(parsing: text, what: what, expected: expected)
    guard let factor = factor(of: number.unit) else {
      throw FSError(
        .invalidArgument, "malformed \(what) '\(text)': unknown unit '\(number.unit)'; expected \(expected)")
    }
    guard let bytes = number.scaled(by: factor) else {
      throw FSError(.invalidArgument, "malformed \(what) '\(text)': more than 8 EiB; expected \(expected)")
    }
    return bytes
  }

  /// Writes a size for people, in binary units with one digit after the point: `512 B`, `1.2 MiB`.
  public static func format(_ bytes: Int64) -> String {
    if bytes < 0 { return "-" + format(bytes == .min ? .max : -bytes) }
    var unit: Int64 = 1
    for name in ["B", "KiB", "MiB", "GiB", "TiB", "PiB"] {
      // 1023.95 and more would be rounded to 1024 of this unit: the next one says it better.
      if Double(bytes) / Double(unit) < 1023.5 { return "\(DecimalNumber.format(bytes, per: unit)) \(name)" }
      unit *= 1024
    }
    return "\(DecimalNumber.format(bytes, per: unit)) EiB"
  }

  private static func factor(of unit: Substring) -> Int64? {
    switch unit {
    case "", "B", "b": 1
    case "k", "K", "Ki", "KiB", "kib": 1 << 10
    case "m", "M", "Mi", "MiB", "mib": 1 << 20
    case "g", "G", "Gi", "GiB", "gib": 1 << 30
    case "t", "T", "Ti", "TiB", "tib": 1 << 40
    case "kB", "KB": 1000
    case "MB": 1_000_000
    case "GB": 1_000_000_000
    case "TB": 1_000_000_000_000
    default: nil
    }
  }
}
