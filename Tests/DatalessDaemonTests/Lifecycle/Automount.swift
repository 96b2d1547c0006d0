import Glibc
import Synchronization

@testable import DatalessDaemon

/// An autofs mount whose every request for a mount is counted and refused.
final class Automount: Sendable {
  private let path: String
  private let control: CInt
  private let pipe: (read: CInt, write: CInt)
  private let owner: pid_t
  private let server: pthread_t
  private let count: Counter

  private final class Counter: Sendable {
    let requests = Atomic<Int>(0)
    let read: CInt
    let control: CInt
    init(read: CInt, control: CInt) { (self.read, self.control) = (read, control) }

    private func fail(_ token: UInt32) {
      guard let symbol = dlsym(nil, "ioctl") else { return }
      _ = unsafeBitCast(symbol, to: Control.self)(control, 0x9361, CUnsignedLong(token))
    }

    func serve() {
      // struct autofs_v5_packet: protocol, type, token, and who asked for what.
      var packet = [UInt8](repeating: 0, count: 512)
      while Glibc.read(read, &packet, packet.count) > 12 {
        requests.add(1, ordering: .relaxed)
        let token = packet.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 8, as: UInt32.self) }
        fail(token)
      }
    }
  }

  /// AUTOFS_IOC_FAIL. ioctl(2) is variadic, which Swift does not call.
  private typealias Control = @convention(c) (CInt, CUnsignedLong, CUnsignedLong) -> CInt

  var requests: Int { count.requests.load(ordering: .relaxed) }

  init?(at path: String) {
    var ends: [CInt] = [-1, -1]
    guard Glibc.pipe(&ends) == 0 else { return nil }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    // The process group that the file system takes for its daemon's must be another one: that one mounts for nothing.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
    var owner: pid_t = 0
    let arguments = ["sleep", "600"].map { Array($0.utf8) }
    guard CStringArray.with(arguments, { posix_spawnp(&owner, "sleep", nil, &attributes, $0, environ) }) == 0 else {
      return nil
    }
    let options = "fd=\(ends[1]),pgrp=\(owner),minproto=5,maxproto=5,indirect"
    guard mount("automount", path, "autofs", 0, options) == 0 else {
      kill(owner, SIGKILL)
      return nil
    }
    self.path = path
    self.owner = owner
    pipe = (ends[0], ends[1])
    control = open(path, O_RDONLY | O_CLOEXEC)
    count = Counter(read: ends[0], control: control)
    var thread = pthread_t()
    pthread_create(
      &thread, nil,
      { context in
        Unmanaged<Counter>.fromOpaque(context!).takeRetainedValue().serve()
        return nil
      }, Unmanaged.passRetained(count).toOpaque())
    server = thread
  }

  func end() {
    close(control)
    umount2(path, CInt(MNT_DETACH))
    close(pipe.write)
    pthread_join(server, nil)
    close(pipe.read)
    kill(owner, SIGKILL)
    var status: CInt = 0
    waitpid(owner, &status, 0)
  }
}
