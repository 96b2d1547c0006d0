import DatalessControl
import Glibc
import Synchronization
import SystemPackage

/// What else is mounted on a volume, as this process' mount namespace has it.
///
/// The kernel detaches a mount whose mountpoint it finds stale: so what makes names stale has to know. The mount table
/// is read again only when it has changed, which poll(2) tells (proc(5): POLLERR and POLLPRI on an open mountinfo).
///
/// LIMIT: what is mounted in other mount namespaces alone is not seen.
final class MountsBelow: Sendable {
  private struct State {
    /// Of the open mount table; -1 before the first look, or where there is none.
    var descriptor: CInt = -1
    var places: [[UInt8]] = []
  }

  private let mountpoint: [UInt8]
  private let state = Mutex(State())

  init(mountpoint: [UInt8]) { self.mountpoint = mountpoint }

  deinit { state.withLock { if $0.descriptor >= 0 { close($0.descriptor) } } }

  /// Whether anything is.
  var isAny: Bool { !places.isEmpty }

  /// Where: absolute paths, below any mountpoint of the volume.
  var places: [[UInt8]] {
    state.withLock { state in
      if hasChanged(&state) { look(&state) }
      return state.places
    }
  }

  private func hasChanged(_ state: inout State) -> Bool {
    guard state.descriptor >= 0 else { return true }
    var request = pollfd(fd: state.descriptor, events: Int16(POLLPRI), revents: 0)
    return poll(&request, 1, 0) != 0
  }

  private func look(_ state: inout State) {
    if state.descriptor < 0 { state.descriptor = Self.open() }
    // Before it is read: a change that comes meanwhile is told by the next poll.
    guard state.descriptor >= 0, lseek(state.descriptor, 0, SEEK_SET) == 0,
      let bytes = try? FileBytes.read(descriptor: state.descriptor, named: "the mount table", limit: 64 << 20)
    else { return state.places = [] }
    state.places = Self.places(in: MountTable(parsing: bytes), on: mountpoint)
  }

  private static func open() -> CInt {
    // The main thread may have ended.
    for path in ["/proc/thread-self/mountinfo", "/proc/self/mountinfo"] {
      let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
      if descriptor >= 0 { return descriptor }
    }
    return -1
  }

  /// What is mounted on the volume at a mountpoint, or on a bind mount of it; parts of the volume itself, too.
  static func places(in table: MountTable, on mountpoint: [UInt8]) -> [[UInt8]] {
    guard let volume = table.entries.last(where: { $0.mountPoint == mountpoint && $0.fileSystemType.hasPrefix("fuse") })
    else { return [] }
    let own = Set(table.entries.lazy.filter { $0.device == volume.device }.map(\.mountID))
    return table.entries.filter { own.contains($0.parentID) }.map(\.mountPoint)
  }
}
