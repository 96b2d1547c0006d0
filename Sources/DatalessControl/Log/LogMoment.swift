/// A moment as records write theirs, so that the two are compared without reading either: UTC, nine digits of a second.
public struct LogMoment: Sendable, Equatable, Comparable {
  /// `2026-01-02T03:04:05.000000006Z`.
  let text: [UInt8]

  /// - Parameters:
  ///   - seconds: Since 1970-01-01T00:00:00Z. Before the year 0 and from 10000 on it is the first or last of what has
  ///     four digits.
  ///   - nanoseconds: 0..<1_000_000_000.
  public init(seconds: Int64, nanoseconds: UInt32) {
    let (first, last): (Int64, Int64) = (-62_167_219_200, 253_402_300_799)
    text = Array(UTCTime.rfc3339(seconds: min(max(seconds, first), last), nanoseconds: nanoseconds).utf8)
  }

  /// The moment of a record; nil when it has none, or writes it otherwise.
  init?(_ record: LogRecord) {
    guard let raw = record.json.raw("time"), raw.count == 32 else { return nil }
    text = Array(raw.dropFirst().dropLast())
  }

  public static func < (left: LogMoment, right: LogMoment) -> Bool {
    left.text.lexicographicallyPrecedes(right.text)
  }
}
