import DatalessCore
import Glibc
import SystemPackage

extension Volume {
  /// Serves programs that coordinate their accesses.
  ///
  /// - Throws: `LifecycleError`.
  func coordinate(at path: String) throws(LifecycleError) {
    let surroundings = CoordinationLoop.Surroundings(
      engine: engine, processes: processes, log: log, timer: timer,
      makeWaiter: { [adapter] in adapter.makeWaiter() }, allowedUserIDs: [0, geteuid()],
      // Half of the descriptors is for files.
      clientsMax: min(CoordinationLoop.clientsMax, DescriptorLimit.raise() / 2))
    do throws(Errno) {
      try coordination.start(at: path, surroundings)
    } catch {
      throw LifecycleError(
        "cannot open the socket for coordinated accesses '\(path)': \(ErrorText.reason(error.rawValue)).")
    }
  }
}
