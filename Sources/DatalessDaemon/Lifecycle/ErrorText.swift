import DatalessControl
import DatalessCore
import SystemPackage

/// The wording that the messages of this folder share.
enum ErrorText {
  /// What the C library says of an errno, with its name: `no such file or directory (ENOENT)`.
  static func reason(_ number: CInt) -> String {
    let errno = Errno(rawValue: number)
    let words = errno.description
    return "\(words.prefix(1).lowercased())\(words.dropFirst()) (\(errno.name))"
  }

  /// A path in quotes, safe on a terminal.
  static func quoted(_ path: [UInt8]) -> String { "'\(TerminalText.escaped(path))'" }
}
