import DatalessControl
import DatalessCore
import SystemPackage

/// A failure of mounting, unmounting or running, ready to be shown: one line, with its remedy.
public struct LifecycleError: Error, Sendable, Equatable, CustomStringConvertible {
  /// What is wrong, where, and what to do; lower case at the start, a full stop at the end, no line break.
  public let message: String
  /// The exit status of the command that fails with it: 1 failure, 2 usage, 4 timed out.
  public let exitCode: Int32

  public init(_ message: String, exitCode: Int32 = 1) {
    self.message = message.split(separator: "\n", omittingEmptySubsequences: true).joined(separator: "; ")
    self.exitCode = exitCode
  }

  public var description: String { message }
}

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
