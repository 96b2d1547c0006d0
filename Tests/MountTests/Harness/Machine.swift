import FoundationEssentials
import Glibc

/// What this machine and this run of the tests have.
enum Machine {
  static let isRoot = geteuid() == 0

  static let hasFuse = access("/dev/fuse", F_OK) == 0

  /// Whether an ordinary user's tests can be run: from root, by giving up root for the first ordinary id.
  static let hasSetpriv = isRoot && access("/usr/bin/setpriv", X_OK) == 0 && access("/usr/bin/unshare", X_OK) == 0

  /// Whether root of a user namespace of its own may be had: some systems forbid it, containers above all.
  static let hasUserNamespaces: Bool = {
    guard access("/usr/bin/unshare", X_OK) == 0 else { return false }
    let command = "unshare --user --map-root-user --mount true 2>/dev/null"
    guard let stream = popen(command, "r") else { return false }
    return pclose(stream) == 0
  }()

  static let hasACLTools = access("/usr/bin/setfacl", X_OK) == 0 && access("/usr/bin/setfattr", X_OK) == 0

  /// The executable under test: the one built beside the tests, or $DATALESS.
  static let dataless: String = {
    if let given = ProcessEnvironment.current["DATALESS"] { return given }
    let bundle = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    return bundle.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
      + "/dataless"
  }()

  /// Seconds that each race of the suite `Races` takes: $DATALESS_RACE_SECONDS, or few enough for every run of the
  /// tests.
  static let raceSeconds = ProcessEnvironment.current["DATALESS_RACE_SECONDS"].flatMap { Int($0) } ?? 3

  /// Where volumes of this user have their sockets.
  static let runtimeDirectory: String =
    isRoot
    ? "/run/dataless"
    : ProcessEnvironment.current["XDG_RUNTIME_DIR"].map { "\($0)/dataless" } ?? "/tmp/dataless-\(geteuid())"

  /// The user and group id of `nobody`: fusermount3 wants a user that has a name.
  static let ordinaryID = "65534"

  /// The mounts of this process: mountpoint and device (major:minor), in order.
  static func mounts() -> [(point: String, device: String)] {
    let text = FileManager.default.contents(atPath: "/proc/self/mountinfo") ?? Data()
    return String(decoding: text, as: UTF8.self).split(separator: "\n").compactMap { line in
      let fields = line.split(separator: " ")
      return fields.count > 4 ? (String(fields[4]), String(fields[2])) : nil
    }
  }

  static func isMounted(_ path: String) -> Bool { mounts().contains { $0.point == path } }

  static func processExists(_ pid: Int) -> Bool {
    guard let stat = FileManager.default.contents(atPath: "/proc/\(pid)/stat") else { return false }
    // A zombie that its parent has not reaped yet is no process any more.
    let afterName = String(decoding: stat, as: UTF8.self).split(separator: ")").last ?? ""
    return !afterName.hasPrefix(" Z") && !afterName.hasPrefix(" X")
  }

  static func freeBytes(at path: String) -> UInt64 {
    var information = statvfs()
    guard statvfs(path, &information) == 0 else { return 0 }
    return UInt64(information.f_bavail) * UInt64(information.f_frsize)
  }
}
