public import DatalessControl
import DatalessCore
import Glibc
import SystemPackage

/// What this machine grants to this user, as far as it can be seen without a volume: files of the system are read, and
/// nothing is changed. What only a mount shows is `TrialVolume`'s.
public struct MachineExamination {
  var availability = FuseAvailability()
  var userID = geteuid()
  /// Where the kernel says what it allows; another directory in tests.
  var settings = "/proc/sys"

  public init() {}

  /// uname(2)'s release.
  public static var kernelRelease: String {
    var name = utsname()
    guard uname(&name) == 0 else { return "unknown" }
    return withUnsafeBytes(of: &name.release) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }

  /// Everything that is found out here, in the order in which it matters.
  public func checks() -> [DoctorCheck] {
    [fuse(), otherUsers(), stacks(), hungTasks(), descriptors(), runtime(), cache()] + leftovers()
  }

  private func fuse() -> DoctorCheck {
    do throws(LifecycleError) {
      try availability.check(allowOther: false)
    } catch {
      let (finding, remedy) = Self.parts(error)
      return DoctorCheck("fuse", .missing, finding: finding, remedy: remedy)
    }
    let way = userID == 0 ? "mount(2), as root" : "fusermount3"
    return DoctorCheck("fuse", .ok, finding: "\(availability.device) can be opened; volumes are mounted by \(way)")
  }

  private func otherUsers() -> DoctorCheck {
    do throws(LifecycleError) {
      if userID != 0 { try availability.checkAllowOther() }
    } catch {
      let (finding, remedy) = Self.parts(error)
      return DoctorCheck("allow_other", .limited, finding: finding, remedy: remedy)
    }
    return DoctorCheck("allow_other", .ok, finding: "volumes can be shared with other users (--allow-other)")
  }

  /// Yama lets ordinary users read the memory of their descendants only; a caller is no descendant of the daemon.
  private func stacks() -> DoctorCheck {
    let scope = number("kernel/yama/ptrace_scope") ?? 0
    guard userID != 0, scope > 0 else {
      return DoctorCheck("stacks", .ok, finding: "stacks of blocked callers can be read (--stacks)")
    }
    return DoctorCheck(
      "stacks", .limited, finding: "stacks of blocked callers cannot be read: kernel.yama.ptrace_scope is \(scope)",
      remedy: "As root: sysctl kernel.yama.ptrace_scope=0; or mount as root.")
  }

  /// A caller who waits for longer than this is reported by the kernel, and may end the machine.
  private func hungTasks() -> DoctorCheck {
    let seconds = number("kernel/hung_task_timeout_secs") ?? 0
    guard seconds > 0, number("kernel/hung_task_panic") ?? 0 > 0 else {
      return DoctorCheck("hung_tasks", .ok, finding: "long waits do not stop the machine")
    }
    return DoctorCheck(
      "hung_tasks", .limited,
      finding: "the kernel panics when a caller waits for longer than \(seconds) s (kernel.hung_task_panic)",
      remedy: "As root: sysctl kernel.hung_task_panic=0; or keep latencies and gates shorter.")
  }

  private func descriptors() -> DoctorCheck {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
      return DoctorCheck("descriptors", .unknown, finding: "the limit of descriptors cannot be read")
    }
    // One for each file that is open and local, and some forty of the daemon's own.
    guard limit.rlim_max < 4096 else {
      return DoctorCheck("descriptors", .ok, finding: "\(Self.count(limit.rlim_max)) descriptors for a daemon")
    }
    return DoctorCheck(
      "descriptors", .limited,
      finding: "only \(limit.rlim_max) descriptors for a daemon: about as many files can be open at once",
      remedy: "Raise the hard limit: ulimit -Hn 65536, or LimitNOFILE= of its unit.")
  }

  private func runtime() -> DoctorCheck {
    let path = SessionPaths.runtimeDirectory()
    do throws(LifecycleError) {
      _ = try VolumeDirectory.prepareRuntime(path)
    } catch {
      let (finding, remedy) = Self.parts(error)
      return DoctorCheck("runtime", .missing, finding: finding, remedy: remedy)
    }
    return DoctorCheck("runtime", .ok, finding: "sockets and locks are in \(TerminalText.escaped(Array(path.utf8)))")
  }

  private func cache() -> DoctorCheck {
    let path = SessionPaths.cacheDirectory()
    var directory = Array(path.utf8)
    var found = statvfs()
    // It is made by the first mount: what counts is the file system that it will be on.
    while CPath.with(directory, { statvfs($0, &found) }) != 0 {
      guard errno == ENOENT, directory.count > 1 else {
        return DoctorCheck(
          "cache", .unknown, finding: "the room for content in \(TerminalText.escaped(Array(path.utf8))) cannot be read"
        )
      }
      directory = CPath.parent(directory)
    }
    let free = Int64(
      clamping: UInt64(found.f_bavail).multipliedReportingOverflow(by: UInt64(found.f_frsize)).partialValue)
    let text = "\(ByteSize.format(free)) free for content in \(TerminalText.escaped(Array(path.utf8)))"
    guard free < 64 << 20 else { return DoctorCheck("cache", .ok, finding: text) }
    return DoctorCheck(
      "cache", .limited, finding: text, remedy: "Make room, or choose another place: --cache-dir DIRECTORY.")
  }

  /// Mounts whose daemon has died: everybody who looks at one gets ENOTCONN.
  private func leftovers() -> [DoctorCheck] {
    let own = ((try? MountTable.current())?.datalessEntries ?? []).filter { userID == 0 || $0.userID == userID }
    let dead = own.filter { VolumeLiveness.of($0) == .dead }.map(\.mountPoint)
    guard let first = dead.first else {
      return [DoctorCheck("leftovers", .ok, finding: "no volume without its daemon")]
    }
    let name = TerminalText.escaped(first)
    return [
      DoctorCheck(
        "leftovers", .limited,
        finding: "\(HumanText.count(Int64(dead.count), "volume")) without a daemon, such as \(name)",
        remedy: "dataless unmount \(ShellText.word(first))")
    ]
  }

  /// What the trial of a mount has shown, when none was possible.
  public static func mountFailed(_ error: LifecycleError) -> DoctorCheck {
    let (finding, remedy) = parts(error)
    return DoctorCheck("mount", .missing, finding: finding, remedy: remedy)
  }

  // MARK: - Text

  private func number(_ name: String) -> Int64? {
    guard let bytes = try? FileBytes.read("\(settings)/\(name)") else { return nil }
    return Int64(String(decoding: bytes.prefix { $0 > 0x20 }, as: UTF8.self))
  }

  private static func count(_ limit: rlim_t) -> String { limit == rlim_t.max ? "any number of" : "\(limit)" }

  /// An error of a mount is its finding, a full stop, and what to do.
  static func parts(_ error: LifecycleError) -> (finding: String, remedy: String?) {
    var text = Substring(error.message)
    for prefix in ["cannot mount: ", "cannot run: "] where text.hasPrefix(prefix) { text.removeFirst(prefix.count) }
    for position in text.indices.dropLast() where text[position] == "." {
      let next = text.index(after: position)
      // The end of a sentence, and not a dot in a name.
      guard text[next] == " ", let following = text[next...].dropFirst().first, following.isUppercase else { continue }
      return (String(text[..<position]), String(text[next...].dropFirst()))
    }
    return (String(text), nil)
  }
}
