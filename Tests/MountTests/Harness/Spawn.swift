import Glibc
import Synchronization
import TestSupport

struct HarnessError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// Starting processes, by the C library.
enum Spawn {
  /// Held while a process is started and while descriptors exist that are not yet close-on-exec: a pipe's end in a
  /// stranger's hands would never close.
  static let lock = Mutex(())

  static func start(
    _ arguments: [String], environment: [String: String], input: Int32, output: Int32, errors: Int32
  ) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, input, 0)
    posix_spawn_file_actions_adddup2(&actions, output, 1)
    posix_spawn_file_actions_adddup2(&actions, errors, 2)

    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var all = sigset_t()
    sigfillset(&all)
    posix_spawnattr_setsigdefault(&attributes, &all)
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setpgroup(&attributes, 0)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))

    var variables = ProcessEnvironment.current
    for (name, value) in environment { variables[name] = value }
    var argv: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
    var envp: [UnsafeMutablePointer<CChar>?] = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for pointer in argv + envp { free(pointer) } }
    var pid: pid_t = 0
    let result = lock.withLock { _ in posix_spawnp(&pid, arguments[0], &actions, &attributes, &argv, &envp) }
    guard result == 0 else { throw HarnessError("cannot start \(arguments[0]): errno \(result)") }
    return pid
  }

  /// A descriptor that becomes readable when the process ends: what pidfd_open(2) gives, which Swift cannot call. The
  /// process is not reaped.
  static func descriptorOfEnd(of pid: pid_t) -> Int32 {
    guard let pipe = try? Pipe() else { return -1 }
    Pthread.start {
      var information = siginfo_t()
      while waitid(P_PID, id_t(pid), &information, Int32(WEXITED) | Int32(WNOWAIT)) != 0, errno == EINTR {}
      close(pipe.writing)
    }
    return pipe.reading
  }
}

/// A pipe that no child inherits unless it is given to it.
struct Pipe: Sendable {
  let reading: Int32
  let writing: Int32

  init() throws {
    (reading, writing) = try Spawn.lock.withLock { _ in
      var ends: [Int32] = [-1, -1]
      guard pipe(&ends) == 0 else { throw HarnessError("pipe failed: errno \(errno)") }
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      return (ends[0], ends[1])
    }
  }
}

enum ProcessEnvironment {
  static var current: [String: String] {
    var found: [String: String] = [:]
    var entry = environ
    while let text = entry.pointee {
      let pair = String(cString: text).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if pair.count == 2 { found[String(pair[0])] = String(pair[1]) }
      entry += 1
    }
    return found
  }
}
