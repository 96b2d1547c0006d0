internal import CDatalessLinux
internal import Glibc

/// This program started again, for stacks: a process with one socket and nothing else of its parent.
public struct StackHelper: Sendable {
  public enum Role: String, Sendable {
    case capture = "stack-capture"
    case symbols = "stack-symbols"
  }

  /// How the child knows what it was started for; `dataless` asks before it does anything.
  public static let variable = "DATALESS_HELPER"
  static let userVariable = "DATALESS_HELPER_USER"
  static let socketDescriptor: Int32 = 3

  public let processID: Int32

  /// - Parameter identity: Whose files the symbol process is to parse.
  /// - Returns: nil when there is no memory, no process or no descriptor left.
  public static func start(
    _ role: Role, executable: String = "/proc/self/exe", identity: CallerIdentity? = nil
  ) -> (helper: StackHelper, socket: StackSocket)? {
    guard let (own, its) = StackSocket.pair() else { return nil }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (descriptor, flags) in [(Int32(0), O_RDONLY), (1, O_WRONLY), (2, O_WRONLY)] {
      posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", flags, 0)
    }
    posix_spawn_file_actions_adddup2(&actions, its.descriptor, socketDescriptor)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    // Nothing of our environment: it may be root's.
    var environment = ["\(variable)=\(role.rawValue)", "SWIFT_BACKTRACE=enable=no"]
    if let identity { environment.append("\(userVariable)=\(identity.user):\(identity.group)") }
    var processID: Int32 = 0
    let result = withStrings(["dataless", "(\(role.rawValue))"]) { arguments in
      withStrings(environment) { posix_spawn(&processID, executable, &actions, &attributes, arguments, $0) }
    }
    guard result == 0 else { return nil }
    return (StackHelper(processID: processID), own)
  }

  /// From now on it gets what processor time is left over; as much as is its share where that could not be undone.
  func standBack() {
    if Self.maySchedule { clinux_run_when_idle(processID) } else { clinux_run_after_others(processID) }
  }

  /// From now on it gets as much as others.
  func hurry() { if Self.maySchedule { clinux_run_as_others(processID) } }

  /// Whether this process may give others back what it has taken from them: CAP_SYS_NICE.
  private static let maySchedule: Bool = {
    guard let text = ProcessFile.bytes("self/status", limit: 64 << 10),
      let digits = CallerIdentity.line("CapEff:", text)?.first, let set = Hexadecimal.number(digits)
    else { return false }
    return set >> 23 & 1 == 1
  }()

  /// Ends it at once and does not wait: it may be stuck in the kernel.
  public func end() { kill(processID, SIGKILL) }

  /// Whether it has ended; its number is free then.
  public func isGone() -> Bool { waitpid(processID, nil, WNOHANG) != 0 }

  private static func withStrings<Result>(
    _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
  ) -> Result {
    let pointers = strings.map { strdup($0) }
    defer { for pointer in pointers { free(pointer) } }
    return body(pointers + [nil])
  }

  /// Serves in a process that `start` has made. The process ends afterwards.
  ///
  /// - Returns: Its exit status.
  public static func serve(_ role: Role) -> Int32 {
    guard fcntl(socketDescriptor, F_GETFL) >= 0 else { return 1 }
    closefrom(socketDescriptor + 1)
    _ = fcntl(socketDescriptor, F_SETFD, FD_CLOEXEC)
    let socket = StackSocket(descriptor: socketDescriptor)
    switch role {
    case .capture:
      CaptureServer(socket) { start(.symbols, identity: $0).map { (helper: $0.helper, socket: $0.socket) } }.run()
    case .symbols:
      guard let identity = givenIdentity() else { return 1 }
      SymbolServer.run(socket) { SymbolServer.shutOff(identity) }
    }
    return 0
  }

  private static func givenIdentity() -> CallerIdentity? {
    guard let value = getenv(userVariable).map({ String(cString: $0) }) else { return nil }
    let words = value.split(separator: ":")
    guard words.count == 2, let user = UInt32(words[0]), let group = UInt32(words[1]) else { return nil }
    return CallerIdentity(user: user, group: group)
  }
}
