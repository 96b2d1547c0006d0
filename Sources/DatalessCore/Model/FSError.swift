public import SystemPackage

/// A failed operation: the errno the caller will see, and a sentence for the person who reads the log.
///
/// There is no initializer without an errno, so that no error reaches the request path without an answer for the
/// kernel. Errno names, never numbers, are printed: `EDEADLK` is 35 on Linux and 11 on macOS.
public struct FSError: Error, Sendable, Equatable, CustomStringConvertible {
  /// What the blocked caller is answered with.
  public let errno: Errno
  /// What is wrong and where; lower case, no trailing full stop.
  public let message: String

  public init(_ errno: Errno, _ message: String) {
    self.errno = errno
    self.message = message
  }

  public var description: String { "\(message) (\(errno.name))" }
}
