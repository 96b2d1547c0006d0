import ArgumentParser
import DatalessControl
import DatalessCore
import TestSupport
import Testing

@testable import DatalessCommands

/// Moments on the command line, and local times.
@Suite struct TimeOptionTests {
  /// 2026-01-02T03:04:05.000000006Z.
  private static let now = Nanoseconds(1_767_323_045_000_000_006)

  private static func moment(_ text: String, _ zone: LogZone = .utc) throws -> LogMoment {
    try TimeOption.parse(text).moment(now: now, zone: zone)
  }

  @Test(
    arguments: [
      ("5m", 1_767_322_745, 6), ("0", 1_767_323_045, 6), ("1.5s", 1_767_323_043, 500_000_006),
      ("2026-01-02T03:04:05Z", 1_767_323_045, 0), ("2026-01-02 03:04:05.25", 1_767_323_045, 250_000_000),
      ("2026-01-02T04:34:05+01:30", 1_767_323_045, 0), ("2026-01-01T22:04:05-05:00", 1_767_323_045, 0),
      ("2026-01-02", 1_767_312_000, 0), ("03:04", 1_767_323_040, 0), ("03:04:05.123456789", 1_767_323_045, 123_456_789),
      ("2024-02-29", 1_709_164_800, 0), ("03:04Z", 1_767_323_040, 0),
    ] as [(String, Int64, UInt32)])
  func timesThatAreMeant(text: String, seconds: Int64, nanoseconds: UInt32) throws {
    #expect(try Self.moment(text) == LogMoment(seconds: seconds, nanoseconds: nanoseconds))
  }

  /// Without an offset of its own a time is of the zone that is asked for, and so is today.
  @Test func aTimeWithoutAnOffsetIsOfTheZone() throws {
    let zone = LogZone.fixed(-4 * 3600)
    #expect(try Self.moment("2026-01-01T23:04:05", zone) == LogMoment(seconds: 1_767_323_045, nanoseconds: 0))
    #expect(try Self.moment("23:04:05", zone) == LogMoment(seconds: 1_767_323_045, nanoseconds: 0))
    #expect(try Self.moment("2026-01-02T03:04:05Z", zone) == LogMoment(seconds: 1_767_323_045, nanoseconds: 0))
  }

  @Test(arguments: [
    ("", "expected"), ("soon", "expected"), ("5", "expected"), ("-5m", "expected"), ("2026-13-01", "month"),
    ("2026-02-29", "the day is 1 to 28, not 29"), ("2026-1-1", "month"), ("24:00", "hour"), ("03:60", "minute"),
    ("03:04:61", "second"), ("3:04", "hour"), ("03:04:05.", "digits"), ("03:04:05.1234567890", "digits"),
    ("2026-01-02T", "hour"), ("2026-01-02T03", "03:04"), ("03:04+1", "offset"), ("03:04+01:99", "offset"),
    ("2026-01-02x", "'x' is too much"), ("03:04:05ZZ", "'Z' is too much"), ("99999-01-01", "year"),
  ])
  func timesThatAreNone(text: String, words: String) {
    let error = #expect(throws: ValidationError.self) { try TimeOption.parse(text) }
    #expect(error?.message.contains(words) == true && error?.message.contains("expected a time such as") == true)
  }

  /// Nothing of what is typed reaches the terminal as it is.
  @Test(arguments: TestSeed.seeds) func noTextIsAReasonToEnd(seed: UInt64) {
    var random = TestRandom(seed: seed)
    let pieces = [
      "2026", "-", "01", ":", "T", "Z", "+", " ", ".", "99", "\u{1b}[2J", "\u{e9}", "m", "9223372036854775807",
    ]
    for _ in 0..<2_000 {
      let text = (0..<random.below(12)).map { _ in random.element(of: pieces) }.joined()
      do {
        _ = try TimeOption.parse(text).moment(now: Self.now, zone: .local)
      } catch {
        #expect(isSafe((error as? ValidationError)?.message ?? ""), "\(TerminalText.escaped(text))")
      }
    }
  }

  @Test(arguments: TestSeed.seeds) func secondsAndTheirTextAreInverse(seed: UInt64) {
    var random = TestRandom(seed: seed)
    for _ in 0..<2_000 {
      let seconds = Int64(random.below(1 << 37)) - 1 << 35
      #expect(UTCTime.seconds(rfc3339: UTCTime.rfc3339(seconds: seconds, nanoseconds: 7)) == seconds)
    }
    for text in ["", "Z", "2026-01-02T03:04:05.0", "2026-xx-02T03:04:05Z", "2026-13-02T03:04:05Z"] {
      #expect(UTCTime.seconds(rfc3339: text) == nil)
    }
  }

  @Test func aTimeOfDayIsReadAsItIsWritten() {
    // Whatever zone this machine has: a time of day read in it is written alike.
    let zone = LogZone.local
    for day in stride(from: 20_000, to: 20_370, by: 1) {
      let moment = zone.seconds(ofDay: day, seconds: 12 * 3600)
      #expect(moment + Int64(zone.offset(at: moment)) == Int64(day * 86_400 + 12 * 3600))
      #expect(zone.day(of: moment) == day)
    }
  }
}
