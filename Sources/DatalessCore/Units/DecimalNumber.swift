internal import SystemPackage

/// A decimal number at the start of a text, read exactly: `1.5` is 15 tenths, never a binary fraction.
struct DecimalNumber {
  /// All digits as one integer, the fraction's included.
  var digits: Int64
  /// How many of the digits stand after the point, 0...9.
  var fractionDigits: Int
  /// What follows the number, blanks removed.
  var unit: Substring

  /// - Throws: EINVAL; `what` names the kind of value in the message ("size"), `expected` shows a right one.
  init(parsing text: String, what: String, expected: String) throws(FSError) {
    func fail(_ problem: String) -> FSError {
      FSError(.invalidArgument, "malformed \(what) '\(text)': \(problem); expected \(expected)")
    }
    var rest = text[...]
    digits = 0
    fractionDigits = 0
    var seen = 0
    var inFraction = false
    while let character = rest.first {
      if character == ".", !inFraction {
        inFraction = true
        rest.removeFirst()
        continue
      }
      guard let value = character.asciiDigit else { break }
      rest.removeFirst()
      seen += 1
      let (product, overflow) = digits.multipliedReportingOverflow(by: 10)
      let (sum, overflowing) = product.addingReportingOverflow(value)
      if overflow || overflowing { throw fail("the number is too large or has too many digits") }
      digits = sum
      if inFraction { fractionDigits += 1 }
      if fractionDigits > 9 { throw fail("more than nine digits after the point") }
    }
    if seen == 0 {
      if text.first == "-" { throw fail("a negative value is not possible") }
      throw fail(text.isEmpty ? "it is empty" : "it does not start with a number")
    }
    if inFraction && fractionDigits == 0 { throw fail("no digit follows the point") }
    unit = rest.drop { $0 == " " }
  }

  /// The number times `factor`, the remainder dropped; nil if it does not fit.
  func scaled(by factor: Int64) -> Int64? {
    var divisor: Int64 = 1
    for _ in 0..<fractionDigits { divisor *= 10 }
    let product = digits.multipliedFullWidth(by: factor)
    guard product.high < divisor else { return nil }
    let (quotient, _) = UInt64(divisor).dividingFullWidth((UInt64(product.high), product.low))
    return Int64(exactly: quotient)
  }
}

extension DecimalNumber {
  /// Writes `value / unit` with at most one digit after the point, rounded to nearest, without a trailing `.0`.
  static func format(_ value: Int64, per unit: Int64) -> String {
    let (whole, rest) = value.quotientAndRemainder(dividingBy: unit)
    // In floating point, because rest * 10 may not fit; the result is a digit.
    let tenths = Int64((Double(rest) * 10 / Double(unit)).rounded())
    if tenths == 10 { return "\(whole + 1)" }
    return tenths == 0 || whole >= 100 ? "\(tenths >= 5 && whole >= 100 ? whole + 1 : whole)" : "\(whole).\(tenths)"
  }
}

extension Character {
  fileprivate var asciiDigit: Int64? {
    guard let value = asciiValue, value >= 48, value <= 57 else { return nil }
    return Int64(value) - 48
  }
}
