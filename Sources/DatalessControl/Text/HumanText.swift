/// Numbers for people: sizes, times and counts with their units, of even width and without a locale.
public enum HumanText {
  /// `812 B`, `4.0 KiB`, `1.5 GiB`.
  public static func size(_ bytes: Int64) -> String {
    guard bytes.magnitude >= 1024 else { return "\(bytes) B" }
    var value = Double(bytes)
    for unit in ["KiB", "MiB", "GiB", "TiB", "PiB"] {
      value /= 1024
      // 1023.95 and above would be printed as 1024.0.
      if abs(value) < 1023.95 || unit == "PiB" { return "\(decimal(value, 1)) \(unit)" }
    }
    return "\(bytes) B"
  }

  /// `812 ns`, `81.2 us`, `51.2 ms`, `1.23 s`, `2 min 03 s`, `3 h 05 min`.
  public static func duration(nanoseconds: Int64) -> String {
    let value = Double(nanoseconds)
    switch nanoseconds.magnitude {
    case ..<1_000: return "\(nanoseconds) ns"
    case ..<999_950: return "\(decimal(value / 1e3, 1)) us"
    case ..<999_950_000: return "\(decimal(value / 1e6, 1)) ms"
    case ..<59_995_000_000: return "\(decimal(value / 1e9, 2)) s"
    default:
      let seconds = nanoseconds.plus(500_000_000) / 1_000_000_000
      let minutes = seconds / 60
      return minutes < 60
        ? "\(minutes) min \(pad(seconds % 60)) s" : "\(minutes / 60) h \(pad(minutes % 60)) min"
    }
  }

  /// `4,812`.
  public static func count(_ value: Int64) -> String {
    let digits = String(value.magnitude)
    var output = ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index) % 3 == 0 { output.append(",") }
      output.append(digit)
    }
    return value < 0 ? "-" + output : output
  }

  /// `4,812 lookups`, `1 lookup`.
  public static func count(_ value: Int64, _ noun: String, plural: String? = nil) -> String {
    "\(count(value)) \(value == 1 ? noun : plural ?? noun + "s")"
  }

  /// `lookup 4,812, open 12`: most first, without zeros; names are escaped for a terminal.
  public static func counts(_ values: [String: Int64]) -> String {
    values.filter { $0.value != 0 }.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
      .map { "\(TerminalText.escaped($0.key)) \(count($0.value))" }.joined(separator: ", ")
  }

  /// `12.3 %`; `100 %` and `0 %` only when it is exactly so.
  public static func percent(_ part: Int64, of whole: Int64) -> String {
    guard whole > 0, part > 0 else { return "0 %" }
    guard part < whole else { return "100 %" }
    let value = Double(part) * 100 / Double(whole)
    return value < 0.1 ? "< 0.1 %" : "\(decimal(min(value, 99.9), 1)) %"
  }

  /// A number with a fixed count of digits behind the point, rounded half away from zero.
  public static func decimal(_ value: Double, _ digits: Int) -> String {
    guard value.isFinite, abs(value) < 1e15 else { return "\(value)" }
    var scale = 1.0
    for _ in 0..<digits { scale *= 10 }
    let scaled = Int64((abs(value) * scale).rounded())
    let sign = value < 0 && scaled != 0 ? "-" : ""
    guard digits > 0 else { return sign + String(scaled) }
    let text = String(scaled)
    let padded = String(repeating: "0", count: max(0, digits + 1 - text.count)) + text
    return sign + padded.dropLast(digits) + "." + padded.suffix(digits)
  }

  private static func pad(_ value: Int64) -> String { value < 10 ? "0\(value)" : String(value) }
}

extension Duration {
  /// The whole duration in nanoseconds, clamped to what fits.
  public var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    guard !overflow else { return seconds < 0 ? .min : .max }
    return product.addingReportingOverflow(attoseconds / 1_000_000_000).partialValue
  }
}
