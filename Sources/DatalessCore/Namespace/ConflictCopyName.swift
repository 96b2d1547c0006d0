/// What a file is called that was changed here, when the store's version takes its name: `notes (local
/// 2026-11-23).txt`; as sync clients do it.
enum ConflictCopyName {
  /// LIMIT: bytes of a name.
  private static var lengthMax: Int { 255 }
  /// LIMIT: bytes of what is taken for the ending of a name, its dot included.
  private static var endingMax: Int { 16 }

  /// - Parameters:
  ///   - time: The date in it is that in UTC.
  ///   - attempt: 1, 2, 3 ...: each gives another name.
  static func make(of name: [UInt8], at time: Timestamp, attempt: Int) -> [UInt8] {
    let number = attempt > 1 ? " \(attempt)" : ""
    let mark = Array(" (local \(date(time.seconds))\(number))".utf8)
    let ending = ending(of: name)
    var stem = name[..<ending.startIndex]
    while stem.count + mark.count + ending.count > lengthMax { stem.removeLast() }
    // Not in the middle of a character: the bytes that follow the first one of it.
    if stem.count < ending.startIndex {
      while let next = name[stem.endIndex...].first, next & 0xc0 == 0x80, !stem.isEmpty { stem.removeLast() }
    }
    return stem + mark + ending
  }

  /// The last dot and what follows, unless the name begins with it.
  private static func ending(of name: [UInt8]) -> ArraySlice<UInt8> {
    guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > 0, name.count - dot <= endingMax,
      name[..<dot].contains(where: { $0 != UInt8(ascii: ".") })
    else { return name[name.endIndex...] }
    return name[dot...]
  }

  /// YYYY-MM-DD of the proleptic Gregorian calendar; the years are 0001 to 9999.
  private static func date(_ seconds: Int64) -> String {
    // Source: H. Hinnant, chrono-compatible low-level date algorithms, civil_from_days.
    let days = min(max(seconds, -62_135_596_800), 253_402_300_799).flooredDays + 719_468
    let era = days / 146_097
    let dayOfEra = days % 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let month = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * month + 2) / 5 + 1
    let civil = month < 10 ? month + 3 : month - 9
    let year = yearOfEra + era * 400 + (civil <= 2 ? 1 : 0)
    return "\(padded(year, 4))-\(padded(civil, 2))-\(padded(day, 2))"
  }

  private static func padded(_ number: Int64, _ width: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
  }
}

extension Int64 {
  fileprivate var flooredDays: Int64 { self >= 0 ? self / 86_400 : -((-self + 86_399) / 86_400) }
}
