internal import CDataless
internal import Glibc

/// An intent that is not granted, or was taken away.
public struct CoordinationError: Error, Sendable, Equatable, CustomStringConvertible {
  /// Its name in docs/COORDINATION.md: `coordination_deadlock` and so on; `coordination_failed` where `errno` alone
  /// says why, and `coordination_not_asked` where nobody could be asked.
  public let name: String
  /// The number of errno(3) that goes with it.
  public let errno: Int32
  /// What is wrong, where, and what to do.
  public let message: String

  public init(name: String, errno: Int32, message: String) {
    self.name = name
    self.errno = errno
    self.message = message
  }

  public var description: String { "\(message) (\(name))" }

  /// Nobody was asked.
  static func notAsked(_ what: String, errno: Int32) -> CoordinationError {
    guard errno == EACCES else {
      return CoordinationError(
        name: "coordination_not_asked", errno: errno, message: "\(what): \(String(cString: strerror(errno)))")
    }
    return CoordinationError(
      name: String(cString: dataless_coordination_name(DATALESS_COORDINATION_NOT_ALLOWED)), errno: errno,
      message: "\(what): only the user who has mounted the volume and root may, and only its daemon answers")
  }
  static func outerNotHeld(_ message: String) -> CoordinationError {
    CoordinationError(
      name: String(cString: dataless_coordination_name(DATALESS_COORDINATION_OUTER_NOT_HELD)), errno: ESRCH,
      message: message)
  }
}
