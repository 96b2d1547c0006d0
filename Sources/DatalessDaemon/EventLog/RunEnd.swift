import DatalessControl
import DatalessCore
import SystemPackage

/// How the command of `dataless run` ended, for the log. `run` says it, by names; a name that is none is left out.
struct RunEnd: Sendable {
  var exitStatus: Int32?
  /// Name of the signal that ended it.
  var signal: String?
  /// Name of the errno with which it could not be executed.
  var notStarted: String?
  /// Name of the signal that told `run` to end while the command went on.
  var interruptedBy: String?

  init(exitStatus: Int32? = nil, signal: Int32? = nil) {
    self.exitStatus = exitStatus
    self.signal = signal.map { SignalName.of($0) }
  }

  init(_ request: RunFinishedRequest) {
    exitStatus = request.exitStatus
    signal = Self.signal(request.signal)
    notStarted = request.notStarted.flatMap { Errno(name: $0)?.name }
    interruptedBy = Self.signal(request.interruptedBy)
  }

  private static func signal(_ name: String?) -> String? {
    name.flatMap { SignalName.number(of: $0) }.map { SignalName.of($0) }
  }
}
