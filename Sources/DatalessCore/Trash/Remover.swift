/// Who wants something removed, and what the rights are that the kernel would give to that.
public struct Remover: Sendable, Equatable {
  /// What the log says. Its user and group count.
  public var caller: Caller
  /// Groups besides the caller's own.
  public var groups: Set<UInt32>

  public init(_ caller: Caller, groups: Set<UInt32> = []) {
    self.caller = caller
    self.groups = groups
  }

  /// What is asked for, as bits of a mode.
  static let read: UInt32 = 4
  static let change: UInt32 = 3
  static let search: UInt32 = 1

  var isRoot: Bool { caller.uid == 0 }

  private func isIn(_ group: UInt32) -> Bool { caller.gid == group || groups.contains(group) }

  /// Whether a directory gives these rights.
  ///
  /// - Parameter acl: Its access ACL, if it has one that is known; asked for only where it matters.
  func has(_ rights: UInt32, in directory: NodeRecord, acl: () -> [UInt8]?) -> Bool {
    if isRoot { return true }
    let mode = UInt32(directory.mode)
    if caller.uid == directory.uid { return mode >> 6 & rights == rights }
    if mode & 0o070 != 0, let known = acl().flatMap({ PosixACL($0) }) {
      return known.adjusted(to: mode).gives(rights, ofGroup: directory.gid, to: caller.uid) { isIn($0) }
    }
    return (isIn(directory.gid) ? mode >> 3 : mode) & rights == rights
  }

  /// Whether the sticky bit of a directory keeps an item in it. - Parameter owner: The item's.
  func isHeld(by directory: NodeRecord, owner: UInt32) -> Bool {
    UInt32(directory.mode) & 0o1000 != 0 && !isRoot && caller.uid != directory.uid && caller.uid != owner
  }
}

extension PosixACL {
  /// What it gives to somebody who is not the owner, as the kernel finds it.
  func gives(_ rights: UInt32, ofGroup group: UInt32, to uid: UInt32, isIn: (UInt32) -> Bool) -> Bool {
    let mask = entries.first { $0.tag == .mask }.map { UInt32($0.permissions) } ?? 7
    if let own = entries.first(where: { $0.tag == .user && $0.id == uid }) {
      return UInt32(own.permissions) & mask & rights == rights
    }
    var isMember = false
    for entry in entries where entry.tag == .groupObject || entry.tag == .group {
      guard isIn(entry.tag == .group ? entry.id : group) else { continue }
      isMember = true
      if UInt32(entry.permissions) & rights == rights { return mask & rights == rights }
    }
    guard !isMember else { return false }
    return entries.first { $0.tag == .other }.map { UInt32($0.permissions) & rights == rights } ?? false
  }
}
