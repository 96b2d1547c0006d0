import DatalessCore
import SystemPackage
import Testing

@Suite struct UnitsTests {
  @Test(arguments: [
    ("0", 0), ("123", 123), ("4k", 4096), ("4K", 4096), ("4KiB", 4096), ("1m", 1 << 20), ("1.5GiB", 3 << 29),
    ("20MB", 20_000_000), ("1kB", 1000), ("2 TB", 2_000_000_000_000), ("1t", 1 << 40), ("0.5k", 512), ("7B", 7),
    ("9223372036854775807", Int64.max), ("0.000000001k", 0), ("1.999", 1),
  ])
  func sizes(text: String, bytes: Int64) throws {
    #expect(try ByteSize.parse(text) == bytes)
  }

  @Test(arguments: [
    ("", "it is empty"), ("k", "does not start with a number"), ("-4k", "negative"), ("4x", "unknown unit 'x'"),
    ("4kk", "unknown unit 'kk'"), ("1.", "no digit follows"), ("1.2.3k", "unknown unit '.3k'"),
    ("9223372036854775808", "too large"), ("9000000t", "more than 8 EiB"), ("1.1234567890k", "more than nine digits"),
    (".", "does not start with a number"), ("\u{0661}k", "does not start with a number"),
  ])
  func malformedSizes(text: String, reason: String) {
    let error = thrown { () throws(FSError) in _ = try ByteSize.parse(text) }
    #expect(error?.errno == .invalidArgument)
    #expect(error?.message.contains(reason) == true, "\(error?.message ?? "accepted")")
    #expect(error?.message.hasPrefix("malformed size '\(text)': ") == true)
  }

  @Test(arguments: [
    (0, "0 B"), (1023, "1023 B"), (1024, "1 KiB"), (1_258_291, "1.2 MiB"), (1_048_575, "1 MiB"), (3 << 29, "1.5 GiB"),
    (100 << 20, "100 MiB"), (Int64.max, "8 EiB"), (-1024, "-1 KiB"), (Int64.min, "-8 EiB"),
  ])
  func sizeTexts(bytes: Int64, text: String) {
    #expect(ByteSize.format(bytes) == text)
  }

  @Test(arguments: [
    ("200ms", 200_000_000), ("1.5s", 1_500_000_000), ("2m", 120_000_000_000), ("250us", 250_000), ("0", 0), ("7ns", 7),
    ("1h", 3_600_000_000_000), ("0.000000001s", 1), ("1 s", 1_000_000_000), ("0s", 0),
  ])
  func durations(text: String, nanoseconds: Int64) throws {
    #expect(try DurationText.parse(text) == .nanoseconds(nanoseconds))
  }

  @Test(arguments: [
    ("200", "the unit is missing"), ("1d", "unknown unit 'd'"), ("ms", "does not start with a number"),
    ("-1s", "negative"), ("3000000h", "more than 292 years"), ("", "it is empty"), ("1s2", "unknown unit 's2'"),
  ])
  func malformedDurations(text: String, reason: String) {
    let error = thrown { () throws(FSError) in _ = try DurationText.parse(text) }
    #expect(error?.message.contains(reason) == true, "\(error?.message ?? "accepted")")
  }

  @Test(arguments: [
    (0, "0 s"), (350_000_000, "350 ms"), (1_500_000_000, "1.5 s"), (999, "999 ns"), (250_000, "250 us"),
    (999_900_000, "1 s"), (90_000_000_000, "90 s"), (150_000_000_000, "2.5 min"), (7_200_000_000_000, "2 h"),
    (-350_000_000, "-350 ms"), (12_340_000, "12.3 ms"),
  ])
  func durationTexts(nanoseconds: Int64, text: String) {
    #expect(DurationText.format(.nanoseconds(nanoseconds)) == text)
  }

  @Test(arguments: [("20MB/s", 20_000_000), ("1MiB/s", 1 << 20), ("20MB", 20_000_000), ("1/s", 1)])
  func rates(text: String, bytes: Int64) throws {
    #expect(try Rate.parse(text) == bytes)
  }

  @Test(arguments: [
    ("20MB/m", "unknown period '/m'"), ("0", "nothing would ever arrive"), ("fast", "does not start with a number"),
    ("20Mbit/s", "unknown unit 'Mbit'"), ("20MB/", "unknown period '/'"),
  ])
  func malformedRates(text: String, reason: String) {
    let error = thrown { () throws(FSError) in _ = try Rate.parse(text) }
    #expect(error?.message.contains(reason) == true, "\(error?.message ?? "accepted")")
    #expect(error?.message.hasPrefix("malformed rate '") == true)
  }

  @Test func rateTexts() {
    #expect(Rate.format(20_000_000) == "20 MB/s")
    #expect(Rate.format(1 << 20) == "1 MB/s")
    #expect(Rate.format(1_500) == "1.5 kB/s")
    #expect(Rate.format(12) == "12 B/s")
  }
}
