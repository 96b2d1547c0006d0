/// Bytes as text that is safe on a terminal and unambiguous in a message.
public enum TerminalText {
  /// Control characters, bytes that are not UTF-8, and backslashes are written as escapes: `\n`, `\t`, `\x1b`, `\\`.
  /// Characters that change the direction or visibility of text (bidirectional controls, zero-width ones) are, too.
  public static func escaped(_ bytes: some Collection<UInt8>) -> String {
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
