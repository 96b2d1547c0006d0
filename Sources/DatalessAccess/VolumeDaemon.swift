internal import Glibc

/// The daemon to which a connection leads. A volume has one of its own: intents of two volumes have the same numbers,
/// and are told apart by it.
struct VolumeDaemon: Sendable, Equatable {
  private let process: Int32

  /// nil where it is not seen from here, as in a container.
  init?(of descriptor: Int32) {
    // `struct ucred`, which glibc only declares for _GNU_SOURCE: process, user and group.
    var credentials: (Int32, UInt32, UInt32) = (0, 0, 0)
    var size = socklen_t(MemoryLayout.size(ofValue: credentials))
    guard getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0, credentials.0 > 0 else {
      return nil
    }
    process = credentials.0
  }
}
