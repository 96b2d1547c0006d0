import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import SystemPackage

/// Turns what the HTTP client and NIO throw into the few things that can be wrong with a volume.
enum ClientErrorTranslation {
  static func translate(_ error: any Error, mountPoint: [UInt8], timeout: Duration) -> any Error {
    if error is ControlError || error is CancellationError { return error }
    if let error = error as? ForeignServer {
      return ControlError(
        code: .daemonNotRunning, errno: .notPermitted,
        message: "cannot reach the daemon of \(TerminalText.escaped(mountPoint)): user \(error.uid) serves its control "
          + "socket (EPERM). `dataless unmount` removes the mount.")
    }
    if let error = error as? HTTPClientError {
      switch error {
      case .connectTimeout, .deadlineExceeded, .readTimeout, .writeTimeout, .getConnectionFromPoolTimeout:
        return timedOut(mountPoint, timeout)
      case .cancelled: return CancellationError()
      // The daemon died between two parts of its answer, or before any.
      case .remoteConnectionClosed: return ControlError.daemonNotRunning(mountPoint)
      default: return other(mountPoint, "\(error)")
      }
    }
    // The answer broke off.
    if let error = error as? HTTPParserError, error == .invalidEOFState {
      return ControlError.daemonNotRunning(mountPoint)
    }
    if let error = error as? IOError { return translate(Errno(rawValue: error.errnoCode), mountPoint) }
    if let error = error as? ChannelError, case .connectTimeout = error { return timedOut(mountPoint, timeout) }
    return other(mountPoint, "\(error)")
  }

  private static func translate(_ errno: Errno, _ mountPoint: [UInt8]) -> ControlError {
    let name = TerminalText.escaped(mountPoint)
    switch errno {
    case .connectionRefused, .noSuchFileOrDirectory, .notDirectory, .connectionReset, .brokenPipe:
      return .daemonNotRunning(mountPoint)
    case .permissionDenied, .notPermitted:
      return .system(
        errno, "cannot reach the daemon of \(name)",
        remedy: "Only its user and root may; run the command as one of them.")
    default: return .system(errno, "cannot reach the daemon of \(name)")
    }
  }

  private static func timedOut(_ mountPoint: [UInt8], _ timeout: Duration) -> ControlError {
    let name = TerminalText.escaped(mountPoint)
    return ControlError(
      code: .timedOut, errno: .timedOut,
      message: "cannot reach the daemon of \(name): no answer within \(timeout.components.seconds) s (ETIMEDOUT). "
        + "`dataless unmount \(ShellText.word(mountPoint))` ends it.")
  }

  private static func other(_ mountPoint: [UInt8], _ text: String) -> ControlError {
    ControlError(
      code: .malformed,
      message: "cannot talk to the daemon of \(TerminalText.escaped(mountPoint)): \(TerminalText.escaped(text)).")
  }
}
