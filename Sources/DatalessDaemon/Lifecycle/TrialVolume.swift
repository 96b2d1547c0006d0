public import DatalessControl
import DatalessCore
import Glibc

/// A volume of /usr that lives for a moment and that nobody looks into: what the kernel grants, only a mount shows.
public struct TrialVolume {
  /// What of the kernel's fast paths the trial has shown, as `status` names them.
  private let fastPaths: [String: JSONValue]
  private let userID: UInt32

  /// - Parameters:
  ///   - fastPaths: Of the status of the trial's volume.
  ///   - userID: Who mounted it.
  public init(fastPaths: [String: JSONValue], userID: UInt32) {
    self.fastPaths = fastPaths
    self.userID = userID
  }

  /// Mounts it, calls, and leaves nothing behind, not even its log.
  ///
  /// - Throws: `LifecycleError` with the reason why nothing can be mounted, or what `body` throws.
  public static func with<Answer>(_ body: (ReadyVolume) throws -> Answer) throws -> Answer {
    let plan = VolumePlan(source: .directory(Array("/usr".utf8)))
    let session = try RunSession.start(
      plan, command: [], placeholder: [], maxFiles: nil, maxBytes: nil, say: { _ in })
    defer {
      session.end()
      _ = CPath.with(session.configuration.log) { unlink($0) }
    }
    return try body(session.volume)
  }

  /// What the kernel has granted, and what it means where it has not.
  public var checks: [DoctorCheck] {
    [
      flag(
        "passthrough", "resident files are read by the kernel itself",
        denied: "the daemon serves every read of resident files",
        remedy: userID == 0
          ? "Linux 6.9 or newer, and a file system for content that the kernel can pass through to (not overlayfs): --cache-dir."
          : "Only root's volumes have it, on Linux 6.9 or newer; nothing else is different."),
      flag(
        "readdirplus", "a listing brings the attributes along", denied: "each item of a listing is asked for by itself",
        remedy: "Linux 3.9 or newer."),
      flag(
        "direct_io_mmap", "each read(2) of a dataless file is seen with its exact range",
        denied:
          "reads of dataless files go through the page cache: what is seen of them has the ranges that the kernel chooses",
        remedy: "Linux 6.6 or newer."),
      flag(
        "cached_absence", "the kernel remembers names that do not exist",
        denied: "each lookup of a missing name is a request",
        remedy: "Linux 6.16 or newer."),
      flag(
        "posix_acl", "ACLs of SOURCE hold", denied: "ACLs of SOURCE are not enforced", remedy: "Linux 4.9 or newer."),
      flag(
        "parallel_dirops", "lookups in one directory go on beside each other",
        denied: "one lookup at a time in each directory",
        remedy: "Linux 4.7 or newer."),
      text(
        "source_protection", good: "read_only_clone", "SOURCE is seen through a read-only mount of its own",
        other: "SOURCE is opened as it is; atime stays as it is for the user's own files only",
        remedy: "Mount as root, or allow unprivileged user namespaces (kernel.unprivileged_userns_clone)."),
    ]
  }

  private func flag(_ name: String, _ granted: String, denied: String, remedy: String) -> DoctorCheck {
    switch fastPaths[name] {
    case .bool(true): DoctorCheck(name, .ok, finding: granted)
    case .bool(false): DoctorCheck(name, .limited, finding: denied, remedy: remedy)
    default: DoctorCheck(name, .unknown, finding: "the daemon does not say")
    }
  }

  private func text(
    _ name: String, good: String, _ granted: String, other: String, remedy: String
  ) -> DoctorCheck {
    guard case .string(let value) = fastPaths[name] else {
      return DoctorCheck(name, .unknown, finding: "the daemon does not say")
    }
    return value == good
      ? DoctorCheck(name, .ok, finding: granted)
      : DoctorCheck(name, .limited, finding: "\(other) (\(TerminalText.escaped(Array(value.utf8))))", remedy: remedy)
  }
}
