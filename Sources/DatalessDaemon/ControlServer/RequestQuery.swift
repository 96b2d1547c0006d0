import DatalessCore
import DatalessControl

/// The parameters of a request's query. One that the call does not take is refused: ignored, it would answer another
/// question than was asked.
struct RequestQuery {
  private var values: [String: String] = [:]

  /// - Parameters:
  ///   - query: What follows the question mark, as it came; nil for none.
  ///   - route: The call.
  init(_ query: String?, of route: ControlRoute) throws(ControlFailure) {
    for part in (query ?? "").split(separator: "&") {
      let mark = part.firstIndex(of: "=") ?? part.endIndex
      let name = try Self.decode(part[..<mark])
      guard route.queryParameters.contains(name) else {
        let known = route.queryParameters.map { "`\($0)`" }.joined(separator: ", ")
        throw ControlRequestHandler.invalid(
          "`\(TerminalText.escaped(name))` is no parameter of \(route.rawValue)"
            + (known.isEmpty ? ", which takes none" : "; it takes \(known)")
            + " (version \(Version.current) of the daemon)")
      }
      guard values.updateValue(try Self.decode(part[mark...].dropFirst()), forKey: name) == nil else {
        throw ControlRequestHandler.invalid("`\(name)` is there twice; give it once")
      }
    }
  }

  subscript(_ name: String) -> String? { values[name] }

  /// The path that `path_b64` or `path` names, base64 first; without both the root.
  func path() throws -> [UInt8] {
    guard let base64 = values["path_b64"] else {
      return try ControlRequestHandler.relative(Array((values["path"] ?? "").utf8))
    }
    guard let bytes = Base64.decode(base64) else { throw ControlRequestHandler.invalid("`path_b64` is not base64") }
    return try ControlRequestHandler.relative(bytes)
  }

  /// RFC 3986, section 2.1; a plus sign is itself.
  private static func decode(_ text: Substring) throws(ControlFailure) -> String {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      let digits = rest.prefix(2).compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
      guard digits.count == 2 else {
        throw ControlRequestHandler.invalid("a percent sign in the query is not followed by two hexadecimal digits")
      }
      bytes.append(UInt8(digits[0] * 16 + digits[1]))
      rest = rest.dropFirst(2)
    }
    guard UTF8Elements.areAllScalars(bytes) else {
      throw ControlRequestHandler.invalid("the query is not UTF-8; a path that is not goes into `path_b64`")
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
