import Glibc

/// Where a volume keeps its socket, cache and log, and where a command looks for them.
public enum SessionPaths {
  /// Files in a volume's runtime directory.
  public static let socketName = "control.sock"
  public static let coordinationName = "coordination.sock"
  public static let recordName = "session.json"
  /// Held with flock(2) by the daemon as long as it lives: a lock that can be had means that the daemon is dead.
  public static let lockName = "lock"
  /// Logs kept in the default directory; older ones are removed at mount.
  public static let logsKept = 20
  /// The longest path that fits into `sockaddr_un`, without the NUL.
  public static let socketPathLengthMax = 107

  /// The runtime directory of one user: root `/run/dataless`; else `$XDG_RUNTIME_DIR/dataless`, or without the variable
  /// `/tmp/dataless-<uid>`.
  ///
  /// - Parameter isSystem: Whether user 0 is the system's root. Default: whether it owns `/run`.
  public static func runtimeDirectory(
    userID: UInt32 = currentUserID(), environment: [String: String] = processEnvironment(),
    isSystem: Bool = rootOwnsRun()
  ) -> String {
    if userID == 0, isSystem { return "/run/dataless" }
    if let base = directory(environment["XDG_RUNTIME_DIR"]) { return "\(base)/dataless" }
    return "/tmp/dataless-\(userID)"
  }

  /// Where the runtime directory of a volume's owner may be, best first. The owner is the mount's `user_id=` option;
  /// the environment counts only for the caller's own volumes.
  public static func runtimeDirectoryCandidates(
    owner: UInt32, caller: UInt32 = currentUserID(), environment: [String: String] = processEnvironment()
  ) -> [String] {
    var candidates: [String] = []
    if owner == caller { candidates.append(runtimeDirectory(userID: owner, environment: environment)) }
    candidates += owner == 0 ? ["/run/dataless"] : ["/run/user/\(owner)/dataless", "/tmp/dataless-\(owner)"]
    return candidates.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }

  /// The runtime directory of one volume: `<runtime>/<major>:<minor>`.
  ///
  /// - Parameter device: As /proc/self/mountinfo prints it.
  public static func volumeDirectory(runtime: String, device: String) -> String { "\(runtime)/\(device)" }

  /// The control socket of one volume. - Parameter device: As of `volumeDirectory`.
  public static func socket(runtime: String, device: String) -> String {
    "\(volumeDirectory(runtime: runtime, device: device))/\(socketName)"
  }

  /// The directory that holds one folder of content per session: `--cache-dir` if given, else for root
  /// `/var/cache/dataless`, else `${XDG_CACHE_HOME:-~/.cache}/dataless`.
  public static func cacheDirectory(
    userID: UInt32 = currentUserID(), environment: [String: String] = processEnvironment(),
    isSystem: Bool = rootOwnsRun()
  ) -> String {
    if userID == 0, isSystem { return "/var/cache/dataless" }
    return base("XDG_CACHE_HOME", below: "/.cache", userID: userID, environment: environment) + "/dataless"
  }

  /// The default directory of logs: root `/var/log/dataless`, else `${XDG_STATE_HOME:-~/.local/state}/dataless/logs`.
  public static func logDirectory(
    userID: UInt32 = currentUserID(), environment: [String: String] = processEnvironment(),
    isSystem: Bool = rootOwnsRun()
  ) -> String {
    if userID == 0, isSystem { return "/var/log/dataless" }
    return base("XDG_STATE_HOME", below: "/.local/state", userID: userID, environment: environment) + "/dataless/logs"
  }

  /// `<time>-<session>.jsonl`, such as `20260102T030405Z-0123456789ab.jsonl`; names sort by time.
  public static func logName(session: String, seconds: Int64) -> String {
    "\(UTCTime.compact(seconds: seconds))-\(session).jsonl"
  }

  /// The effective user of this process.
  public static func currentUserID() -> UInt32 { geteuid() }

  /// Whether `/run` belongs to user 0. In a user namespace (`unshare -Ur`, a rootless container) that user is an
  /// ordinary one, and the system's directories are not its own: it has those of an ordinary user.
  public static func rootOwnsRun() -> Bool {
    var status = stat()
    return lstat("/run", &status) != 0 || status.st_uid == 0
  }

  /// Opens a runtime directory that belongs to a user and that nobody else can enter.
  ///
  /// - Parameters:
  ///   - path: As `runtimeDirectory` or `runtimeDirectoryCandidates` say.
  ///   - owner: Default: the caller.
  ///   - creating: Makes it if it is missing. Default: no.
  /// - Throws: `UntrustedPath`, also for a symbolic link in its place; ENOENT when there is none.
  public static func openRuntime(
    _ path: String, owner: UInt32 = currentUserID(), creating: Bool = false
  ) throws(UntrustedPath) -> TrustedDirectory {
    try TrustedDirectory.open(
      Array(path.utf8), owner: owner, others: .nothing, followsLast: false, creating: creating)
  }

  /// A new random session id: 12 lowercase hexadecimal digits.
  public static func newSessionID() -> String {
    let digits = String(UInt64.random(in: 0..<(1 << 48)), radix: 16)
    return String(repeating: "0", count: 12 - digits.count) + digits
  }

  /// The environment of this process. Entries that are not UTF-8 are repaired, as no variable we read may have one.
  public static func processEnvironment() -> [String: String] {
    var result: [String: String] = [:]
    for name in ["XDG_RUNTIME_DIR", "XDG_CACHE_HOME", "XDG_STATE_HOME", "HOME", "TMPDIR"] {
      if let value = getenv(name) { result[name] = String(cString: value) }
    }
    return result
  }

  /// An absolute directory without a trailing slash; the XDG specification says to ignore a relative one.
  private static func directory(_ value: String?) -> String? {
    guard var value, value.hasPrefix("/") else { return nil }
    while value.count > 1, value.hasSuffix("/") { value.removeLast() }
    return value
  }

  private static func base(
    _ variable: String, below: String, userID: UInt32, environment: [String: String]
  ) -> String {
    if let value = directory(environment[variable]) { return value }
    return (directory(environment["HOME"]) ?? homeDirectory(userID) ?? "/tmp/dataless-\(userID)") + below
  }

  /// The home directory in the password database, for a user without $HOME.
  private static func homeDirectory(_ userID: UInt32) -> String? {
    var entry = passwd()
    var result: UnsafeMutablePointer<passwd>?
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4096) { buffer in
      guard getpwuid_r(userID, &entry, buffer.baseAddress!, buffer.count, &result) == 0, result != nil,
        let home = entry.pw_dir
      else { return nil }
      return directory(String(cString: home))
    }
  }
}
