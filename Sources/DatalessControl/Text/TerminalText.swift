import DatalessCore

/// Bytes as text that is safe on a terminal and unambiguous in a message.
public enum TerminalText {
  /// Control characters, bytes that are not UTF-8, and backslashes are written as escapes: `\n`, `\t`, `\x1b`, `\\`.
  /// Characters that change the direction or visibility of text (bidirectional controls, zero-width ones) are, too.
  public static func escaped(_ bytes: some Collection<UInt8>) -> String { text(bytes) }

  /// Of an array: what other modules call for each record of a log would ask a generic one for every byte.
  public static func escaped(_ bytes: [UInt8]) -> String { text(bytes) }
  public static func escaped(_ bytes: ArraySlice<UInt8>) -> String { text(bytes) }

  private static func text(_ bytes: some Collection<UInt8>) -> String {
    if bytes.allSatisfy({ $0 >= 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "\\") }) {
      return String(decoding: bytes, as: UTF8.self)
    }
    var output = ""
    for element in UTF8Elements(bytes) {
      switch element {
      case .byte(let byte): output += hexadecimal(byte)
      case .scalar(let scalar): append(scalar, to: &output)
      }
    }
    return output
  }

  public static func escaped(_ text: String) -> String { escaped(Array(text.utf8)) }

  /// A sentence that somebody else has written, in which names are escaped already: only what a terminal would obey is
  /// escaped, backslashes stay as they are.
  public static func harmless(_ text: String) -> String {
    var output = ""
    for scalar in text.unicodeScalars {
      if scalar == "\\" { output.unicodeScalars.append(scalar) } else { append(scalar, to: &output) }
    }
    return output
  }

  private static func append(_ scalar: Unicode.Scalar, to output: inout String) {
    switch scalar {
    case "\\": output += "\\\\"
    case "\n": output += "\\n"
    case "\t": output += "\\t"
    case "\r": output += "\\r"
    default:
      if scalar.value < 0x20 || scalar.value == 0x7f {
        output += hexadecimal(UInt8(scalar.value))
      } else if scalar.value < 0x7f {
        output.unicodeScalars.append(scalar)
      } else {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate:
          output += "\\u{\(String(scalar.value, radix: 16))}"
        default: output.unicodeScalars.append(scalar)
        }
      }
    }
  }

  private static func hexadecimal(_ byte: UInt8) -> String {
    "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
  }
}

/// Bytes as a sequence of Unicode scalars and of single bytes that are not part of one.
public struct UTF8Elements: Sequence, IteratorProtocol {
  public enum Element: Sendable, Equatable {
    case scalar(Unicode.Scalar)
    /// 0x80...0xff: not part of well-formed UTF-8.
    case byte(UInt8)
  }

  private let bytes: [UInt8]
  private var index = 0

  public init(_ bytes: some Collection<UInt8>) { self.bytes = Array(bytes) }

  /// Whether the bytes are well-formed UTF-8.
  public static func areAllScalars(_ bytes: some Collection<UInt8>) -> Bool {
    bytes.allSatisfy { $0 < 0x80 }
      || UTF8Elements(bytes).allSatisfy {
        if case .scalar = $0 { true } else { false }
      }
  }

  public mutating func next() -> Element? {
    guard index < bytes.count else { return nil }
    let first = bytes[index]
    if first < 0x80 {
      index += 1
      return .scalar(Unicode.Scalar(first))
    }
    let (length, isScalar) = bytes.withUnsafeBufferPointer { UTF8Scalar.length($0, at: index) }
    var value = UInt32(first) & (0x7f >> UInt32(length))
    for byte in bytes[index + 1..<index + length] { value = value << 6 | UInt32(byte & 0x3f) }
    guard isScalar, let scalar = Unicode.Scalar(value) else {
      index += 1
      return .byte(first)
    }
    index += length
    return .scalar(scalar)
  }
}
