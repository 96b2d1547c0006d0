/// A place in a program, in a line of text.
public enum PlaceText {
  /// `load (fm.py:42)`; `load, which begins (nb.cjs:2)` where the line is only that at which its function begins.
  ///
  /// - Parameters:
  ///   - function: Escaped for a terminal.
  ///   - file: Without its directories, escaped for a terminal; nil or empty where it is not known.
  ///   - isFunctionLine: Whether the function begins at the line, and stands nobody knows where.
  public static func text(_ function: String, file: String?, line: UInt32?, isFunctionLine: Bool) -> String {
    guard let file, !file.isEmpty else { return function }
    guard let line else { return "\(function) (\(file))" }
    return "\(function)\(isFunctionLine ? ", which begins" : "") (\(file):\(line))"
  }
}
