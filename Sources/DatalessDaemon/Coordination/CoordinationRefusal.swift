import DatalessCore
import Glibc
import SystemPackage

/// Why an intent is not, or no longer, granted: the API's own errors, by name. The numbers are those of libcdataless.
enum CoordinationCode: UInt16 {
  case granted = 0
  case deadlock = 1
  case busy = 2
  case tooManyPaths = 3
  case badPath = 4
  case throughLink = 5
  case outerNotHeld = 6
  case takenAway = 7
  case volumeEnded = 8
  /// What was asked for cannot be brought here, or is not there: the errno says why.
  case failed = 9
  case badRequest = 10
  case notAllowed = 11

  var name: String {
    switch self {
    case .granted: "ok"
    case .deadlock: "coordination_deadlock"
    case .busy: "coordination_busy"
    case .tooManyPaths: "coordination_too_many_paths"
    case .badPath: "coordination_bad_path"
    case .throughLink: "coordination_through_link"
    case .outerNotHeld: "coordination_outer_not_held"
    case .takenAway: "coordination_taken_away"
    case .volumeEnded: "coordination_volume_ended"
    case .failed: "coordination_failed"
    case .badRequest: "coordination_bad_request"
    case .notAllowed: "coordination_not_allowed"
    }
  }

  /// What goes with it where the code alone says what is wrong.
  var errno: Errno {
    switch self {
    case .granted: Errno(rawValue: 0)
    case .deadlock, .takenAway: .canceled
    case .busy: .resourceBusy
    case .tooManyPaths: .argListTooLong
    case .badPath: .invalidArgument
    case .throughLink: .tooManySymbolicLinkLevels
    case .outerNotHeld: .noSuchProcess
    case .volumeEnded: .timedOut
    case .failed: .ioError
    case .badRequest: .protocolError
    case .notAllowed: .permissionDenied
    }
  }
}

/// Why an intent was refused, or is taken away.
struct CoordinationRefusal: Error, Equatable {
  let code: CoordinationCode
  let errno: Errno
  /// What is wrong, where, and what to do.
  let message: String

  init(_ code: CoordinationCode, _ message: String) {
    self.code = code
    errno = code.errno
    self.message = message
  }

  init(_ error: FSError) {
    code = .failed
    errno = error.errno
    message = error.description
  }

  /// The word in the log.
  var outcome: String { code == .failed ? errno.name : code.name }
}
