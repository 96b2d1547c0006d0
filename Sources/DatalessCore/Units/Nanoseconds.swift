/// A span of time in whole nanoseconds, as clocks give it and logs tell it: 8 bytes, where `Duration` has 16 and counts
/// attoseconds. Sums and differences stop at the ends of `Int64`, 292 years away, where they would trap: spans come
/// from scenarios and from logs of others, too.
public struct Nanoseconds: Sendable, Hashable, Comparable, AdditiveArithmetic, ExpressibleByIntegerLiteral, Codable {
  public let rawValue: Int64

  @inlinable
  public init(_ rawValue: Int64) { self.rawValue = rawValue }

  @inlinable
  public init(integerLiteral value: Int64) { rawValue = value }

  public static let zero = Nanoseconds(0)
  /// Longer than anything lasts: as long as a gate may hold.
  public static let max = Nanoseconds(.max)

  public static func microseconds(_ count: Int64) -> Nanoseconds { count * 1_000 }
  public static func milliseconds(_ count: Int64) -> Nanoseconds { count * 1_000_000 }
  public static func seconds(_ count: Int64) -> Nanoseconds { count * 1_000_000_000 }

  @inlinable
  public static func < (left: Nanoseconds, right: Nanoseconds) -> Bool { left.rawValue < right.rawValue }

  @inlinable
  public static func + (left: Nanoseconds, right: Nanoseconds) -> Nanoseconds {
    let (sum, overflow) = left.rawValue.addingReportingOverflow(right.rawValue)
    return Nanoseconds(overflow ? (right.rawValue < 0 ? .min : .max) : sum)
  }

  @inlinable
  public static func - (left: Nanoseconds, right: Nanoseconds) -> Nanoseconds {
    let (difference, overflow) = left.rawValue.subtractingReportingOverflow(right.rawValue)
    return Nanoseconds(overflow ? (right.rawValue < 0 ? .max : .min) : difference)
  }

  @inlinable
  public static func * (count: Int64, span: Nanoseconds) -> Nanoseconds {
    let (product, overflow) = span.rawValue.multipliedReportingOverflow(by: count)
    return Nanoseconds(overflow ? ((span.rawValue < 0) == (count < 0) ? .max : .min) : product)
  }

  public init(from decoder: any Decoder) throws { rawValue = try decoder.singleValueContainer().decode(Int64.self) }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(rawValue)
  }

  /// The same span as the standard library writes it.
  public var duration: Duration { .nanoseconds(rawValue) }
}
