internal import SystemPackage

/// Durations as people write them: a number and `ns`, `us`, `ms`, `s`, `m` (minutes) or `h`; a bare `0` needs no unit.
public enum DurationText {
  /// Reads a duration such as `200ms`, `1.5s`, `2m`, `250us` or `0`, exact to the nanosecond.
  ///
  /// - Throws: EINVAL with a message that names the wrong part.
  public static func parse(_ text: String) throws(FSError) -> Duration {
    let expected = "a number and ns, us, ms, s, m or h, such as 200ms or 1.5s"
    let number = try DecimalNumber(parsing: text, what: "duration", expected: expected)
    let factor: Int64
    switch number.unit {
    case "ns": factor = 1
    case "us": factor = 1000
    case "ms": factor = 1_000_000
    case "s": factor = 1_000_000_000
    case "m", "min": factor = 60_000_000_000
    case "h": factor = 3_600_000_000_000
    case "" where number.digits == 0: factor = 1
    case "":
      throw FSError(.invalidArgument, "malformed duration '\(text)': the unit is missing; expected \(expected)")
    default:
      throw FSError(
        .invalidArgument, "malformed duration '\(text)': unknown unit '\(number.unit)'; expected \(expected)")
    }
    guard let nanoseconds = number.scaled(by: factor) else {
      throw FSError(.invalidArgument, "malformed duration '\(text)': more than 292 years; expected \(expected)")
    }
    return .nanoseconds(nanoseconds)
  }

  /// Writes a duration for people, with one digit after the point below 100: `350 ms`, `1.5 s`, `2.5 min`.
  public static func format(_ duration: Duration) -> String {
    let (seconds, attoseconds) = duration.components
    let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let nanoseconds = overflow ? (seconds < 0 ? Int64.min : Int64.max) : whole &+ attoseconds / 1_000_000_000
    if nanoseconds < 0 { return "-" + format(nanoseconds: nanoseconds == .min ? .max : -nanoseconds) }
    return format(nanoseconds: nanoseconds)
  }

  /// As `format(_:)`, from nanoseconds, 0 or more.
  static func format(nanoseconds: Int64) -> String {
    switch nanoseconds {
    case ..<1: "0 s"
    case ..<1000: "\(nanoseconds) ns"
    case ..<999_500: "\(DecimalNumber.format(nanoseconds, per: 1000)) us"
    case ..<999_500_000: "\(DecimalNumber.format(nanoseconds, per: 1_000_000)) ms"
    case ..<119_950_000_000: "\(DecimalNumber.format(nanoseconds, per: 1_000_000_000)) s"
    case ..<7_197_000_000_000: "\(DecimalNumber.format(nanoseconds, per: 60_000_000_000)) min"
    default: "\(DecimalNumber.format(nanoseconds, per: 3_600_000_000_000)) h"
    }
  }
}
