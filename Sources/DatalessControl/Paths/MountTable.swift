import Glibc

/// The mounts of this process' mount namespace, as text. Nothing here touches a mounted file system.
public struct MountTable: Sendable, Equatable {
  /// In the kernel's order: a later entry may lie over an earlier one.
  public var entries: [MountEntry]

  public init(entries: [MountEntry]) { self.entries = entries }

  /// Parses the bytes of /proc/PID/mountinfo; lines that are not understood are left out.
  public init(parsing bytes: [UInt8]) {
    entries = bytes.split(separator: UInt8(ascii: "\n")).compactMap { MountEntry(line: $0) }
  }

  /// mountinfo of this thread: /proc/self is the main thread, which may have ended.
  static func ownBytes() throws(ControlError) -> [UInt8] {
    if let bytes = try? FileBytes.read("/proc/thread-self/mountinfo") { return bytes }
    return try FileBytes.read("/proc/self/mountinfo")
  }

  /// Reads mountinfo of this process, and recognises this user's volumes of other types by their daemons' records.
  ///
  /// - Throws: `ControlError.system` when /proc is not mounted (ENOENT) or not readable (EACCES).
  public static func current() throws(ControlError) -> MountTable {
    var table = MountTable(parsing: try ownBytes())
    for index in table.entries.indices where VolumeLocator.isOwn(table.entries[index]) {
      table.entries[index].isRecorded = VolumeLocator.isRecorded(table.entries[index])
    }
    return table
  }

  /// All mounts of volumes of this program, hidden ones included.
  public var datalessEntries: [MountEntry] { entries.filter(\.isDataless) }

  /// The mount that an absolute, normalised path lies on.
  ///
  /// Walks down from the root by parent ids, so a mount that another one hides is not found.
  public func mount(containing path: [UInt8]) -> MountEntry? {
    let known = Set(entries.map(\.mountID))
    let covering = entries.filter { PathBytes.isPrefix($0.mountPoint, of: path) }
    // In a chroot the parent of the topmost mounts is not listed.
    var current = covering.filter { !known.contains($0.parentID) || $0.parentID == $0.mountID }
      .max { $0.mountPoint.count < $1.mountPoint.count }
    var remaining = covering.count
    while let here = current, remaining > 0 {
      remaining -= 1
      let below = covering.filter { $0.parentID == here.mountID && $0.mountID != here.mountID }
      // The shortest is met first on the way down; one over the same point as its parent is met before any deeper one.
      guard let next = below.min(by: { $0.mountPoint.count < $1.mountPoint.count }) else { break }
      current = next
    }
    return current
  }

  /// Whether a path lies where no system call may look: on a volume, or below the root of a FUSE mount of another user,
  /// which may leave every question without an answer.
  func isText(_ path: [UInt8]) -> Bool {
    guard let entry = mount(containing: path), entry.fileSystemType.hasPrefix("fuse") else { return false }
    return entry.isDataless || (entry.mountPoint != path && entry.userID.map { $0 != geteuid() } ?? false)
  }

  /// The volume that an absolute, normalised path lies on; nil when it lies on another file system.
  public func datalessMount(containing path: [UInt8]) -> MountEntry? {
    guard let entry = mount(containing: path), entry.isDataless else { return nil }
    return entry
  }

  /// The volume mounted exactly at an absolute, normalised path.
  public func datalessMount(at path: [UInt8]) -> MountEntry? {
    guard let entry = datalessMount(containing: path), entry.mountPoint == path else { return nil }
    return entry
  }
}
