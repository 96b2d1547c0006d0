/// Words of a command line that somebody may paste into a shell: what others may have named is one word there, and
/// nothing that a terminal obeys.
public enum ShellText {
  /// A path, or any other argument: as it is where nothing in it means anything to a shell, else in single quotes; or
  /// as `$'...'` (bash, zsh, ksh, POSIX of 2024) where a terminal would obey a byte of it.
  public static func word(_ bytes: [UInt8]) -> String {
    if !bytes.isEmpty, bytes.allSatisfy(isPlain) { return String(decoding: bytes, as: UTF8.self) }
    let text = String(decoding: bytes, as: UTF8.self)
    if Array(text.utf8) == bytes, TerminalText.harmless(text) == text {
      return "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
    var output = "$'"
    for byte in bytes {
      switch byte {
      case UInt8(ascii: "'"), UInt8(ascii: "\\"): output += "\\" + String(UnicodeScalar(byte))
      case 0x20..<0x7f: output.unicodeScalars.append(UnicodeScalar(byte))
      default: output += (byte < 16 ? "\\x0" : "\\x") + String(byte, radix: 16)
      }
    }
    return output + "'"
  }

  public static func word(_ text: String) -> String { word(Array(text.utf8)) }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "@%_+=:,./-{}".utf8.contains(byte)
    }
  }
}
