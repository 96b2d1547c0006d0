import DatalessCore

/// The pending signals of blocked callers, from /proc/TID/status.
struct ProcSignalProbe: SignalProbe {
  func hasPendingFatalSignal(threadID: Int32) -> Bool? {
    ProcessTable.hasPendingFatalSignal(threadID: threadID)
  }
}
