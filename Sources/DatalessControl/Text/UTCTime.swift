/// Wall-clock time as text, in UTC, by the proleptic Gregorian calendar.
public enum UTCTime {
  /// `2026-01-02T03:04:05.000000006Z`: RFC 3339 with nine digits.
  ///
  /// - Parameters:
  ///   - seconds: Since 1970-01-01T00:00:00Z; may be negative.
  ///   - nanoseconds: 0..<1_000_000_000.
  public static func rfc3339(seconds: Int64, nanoseconds: UInt32) -> String {
    let (date, time) = parts(seconds)
    return "\(pad(date.year, 4))-\(pad(date.month, 2))-\(pad(date.day, 2))T"
      + "\(pad(time.hour, 2)):\(pad(time.minute, 2)):\(pad(time.second, 2)).\(pad(Int(nanoseconds), 9))Z"
  }

  /// `20260102T030405Z`, for file names.
  public static func compact(seconds: Int64) -> String {
    let (date, time) = parts(seconds)
    return "\(pad(date.year, 4))\(pad(date.month, 2))\(pad(date.day, 2))T"
      + "\(pad(time.hour, 2))\(pad(time.minute, 2))\(pad(time.second, 2))Z"
  }

  private static func parts(
    _ seconds: Int64
  ) -> (date: (year: Int, month: Int, day: Int), time: (hour: Int, minute: Int, second: Int)) {
    let day = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
    let rest = Int(seconds - day * 86_400)
    return (civil(daysSince1970: Int(day)), (rest / 3600, rest / 60 % 60, rest % 60))
  }

  /// Howard Hinnant's `civil_from_days`: exact for every date, without tables.
  private static func civil(daysSince1970 days: Int) -> (year: Int, month: Int, day: Int) {
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
  }

  /// The inverse of `rfc3339`, to the second; nil for what it would not write.
  public static func seconds(rfc3339 text: String) -> Int64? {
    let bytes = Array(text.utf8)
    guard bytes.count >= 20, bytes.last == UInt8(ascii: "Z") else { return nil }
    func number(_ range: Range<Int>) -> Int? {
      bytes[range].allSatisfy { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
        ? bytes[range].reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) } : nil
    }
    guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10), let hour = number(11..<13),
      let minute = number(14..<16), let second = number(17..<19), (1...12).contains(month), (1...31).contains(day)
    else { return nil }
    return Int64(days(year: year, month: month, day: day) * 86_400 + hour * 3600 + minute * 60 + second)
  }

  /// Days since 1970-01-01; Howard Hinnant's `days_from_civil`, the inverse of `civil`.
  public static func days(year: Int, month: Int, day: Int) -> Int {
    let shifted = month <= 2 ? year - 1 : year
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  /// 28 to 31. - Parameter month: 1 to 12.
  public static func daysOfMonth(year: Int, month: Int) -> Int {
    days(year: month == 12 ? year + 1 : year, month: month == 12 ? 1 : month + 1, day: 1)
      - days(year: year, month: month, day: 1)
  }

  private static func pad(_ value: Int, _ width: Int) -> String {
    let digits = String(value)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}
