import Glibc

@testable import DatalessDaemon

/// A thread that alone of this process gives up its privileges: in Linux they belong to threads, only the C library
/// sets those of all at once.
enum UnprivilegedThread {
  private typealias SystemCall = @convention(c) (Int, Int, Int, Int) -> Int

  /// Runs a body as a user and group; nil where the thread cannot become that.
  static func value<Value: Sendable>(uid: UInt32, gid: UInt32, _ body: @escaping @Sendable () -> Value) -> Value? {
    let done = TestSignal<Value?>()
    LaneThread.startOrTrap(name: "unprivileged") { done.send(become(uid, gid) ? body() : nil) }
    return done.wait()?.first ?? nil
  }

  private static func become(_ uid: UInt32, _ gid: UInt32) -> Bool {
    // Swift cannot call the variadic syscall(2); four integers are passed alike on the architectures we run on.
    guard let address = dlsym(nil, "syscall") else { return false }
    let call = unsafeBitCast(address, to: SystemCall.self)
    #if arch(arm64)
      let (setresgid, setresuid) = (149, 147)
    #else
      let (setresgid, setresuid) = (119, 117)
    #endif
    return call(setresgid, Int(gid), Int(gid), Int(gid)) == 0 && call(setresuid, Int(uid), Int(uid), Int(uid)) == 0
  }
}
