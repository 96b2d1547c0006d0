import DatalessControl

/// Reads dates and times as people write them: `2026-01-02`, `03:04`, `2026-01-02T03:04:05.678+01:00`.
struct TimeReader {
  struct Flaw: Error {
    var words: String
  }

  private var rest: ArraySlice<UInt8>

  init(_ text: String) { rest = Array(text.utf8)[...] }

  /// - Returns: nil for what is neither a date nor a time, as `5m`.
  mutating func stamp() throws(Flaw) -> TimeOption.Stamp? {
    var stamp = TimeOption.Stamp()
    let digits = rest.prefix(while: Self.isDigit).count
    let next = rest.dropFirst(digits).first
    guard digits > 0, next == UInt8(ascii: "-") || next == UInt8(ascii: ":") else { return nil }
    if next == UInt8(ascii: "-") {
      stamp.day = try day()
      guard take(UInt8(ascii: "T")) || take(UInt8(ascii: " ")) else { return try ended(stamp) }
    }
    try time(&stamp)
    if take(UInt8(ascii: "Z")) {
      stamp.offset = 0
    } else if let sign = [UInt8(ascii: "+"), UInt8(ascii: "-")].first(where: { rest.first == $0 }) {
      rest.removeFirst()
      let hours = try number(digits: 2, of: "hours of the offset", in: 0...14)
      guard take(UInt8(ascii: ":")) else { throw Flaw(words: "an offset is written as +01:00") }
      let minutes = try number(digits: 2, of: "minutes of the offset", in: 0...59)
      stamp.offset = (sign == UInt8(ascii: "-") ? -1 : 1) * (hours * 3600 + minutes * 60)
    }
    return try ended(stamp)
  }

  private mutating func day() throws(Flaw) -> TimeOption.Stamp.Day {
    let year = try number(digits: 4, of: "year", in: 1...9999)
    guard take(UInt8(ascii: "-")) else { throw Flaw(words: "a date is written as 2026-01-02") }
    let month = try number(digits: 2, of: "month", in: 1...12)
    guard take(UInt8(ascii: "-")) else { throw Flaw(words: "a date is written as 2026-01-02") }
    let last = UTCTime.daysOfMonth(year: year, month: month)
    let day = try number(digits: 2, of: "day", in: 1...last)
    return TimeOption.Stamp.Day(year: year, month: month, day: day)
  }

  private mutating func time(_ stamp: inout TimeOption.Stamp) throws(Flaw) {
    stamp.seconds = 3600 * (try number(digits: 2, of: "hour", in: 0...23))
    guard take(UInt8(ascii: ":")) else { throw Flaw(words: "a time is written as 03:04 or 03:04:05") }
    stamp.seconds += 60 * (try number(digits: 2, of: "minute", in: 0...59))
    guard take(UInt8(ascii: ":")) else { return }
    stamp.seconds += try number(digits: 2, of: "second", in: 0...59)
    guard take(UInt8(ascii: ".")) else { return }
    let fraction = rest.prefix(while: Self.isDigit)
    guard (1...9).contains(fraction.count) else { throw Flaw(words: "expected one to nine digits after the point") }
    rest = rest.dropFirst(fraction.count)
    var nanoseconds: UInt32 = 0
    for index in 0..<9 {
      let digit = index < fraction.count ? fraction[fraction.startIndex + index] - UInt8(ascii: "0") : 0
      nanoseconds = nanoseconds * 10 + UInt32(digit)
    }
    stamp.nanoseconds = nanoseconds
  }

  private mutating func number(digits: Int, of what: String, in range: ClosedRange<Int>) throws(Flaw) -> Int {
    let text = rest.prefix(while: Self.isDigit)
    guard text.count == digits else { throw Flaw(words: "the \(what) has \(digits) digits") }
    rest = rest.dropFirst(digits)
    let value = text.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    guard range.contains(value) else {
      throw Flaw(words: "the \(what) is \(range.lowerBound) to \(range.upperBound), not \(value)")
    }
    return value
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard rest.first == byte else { return false }
    rest.removeFirst()
    return true
  }

  private func ended(_ stamp: TimeOption.Stamp) throws(Flaw) -> TimeOption.Stamp {
    guard rest.isEmpty else {
      throw Flaw(
        words: "'\(TerminalText.escaped(ArgumentBytes.decode(String(decoding: rest, as: UTF8.self))))' is too much")
    }
    return stamp
  }

  private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
}
