/// Extended attributes in the namespace `trusted.`, which the kernel keeps from whoever has no CAP_SYS_ADMIN in the
/// initial user namespace. It refuses getxattr(2) of them by itself on every file system, but leaves listxattr(2) to
/// the file system.
enum TrustedAttributes {
  private static let prefix = Array("trusted.".utf8)
  private static let capSysAdmin: UInt64 = 1 << 21
  /// PROC_USER_INIT_INO: the inode number of the initial user namespace, the same on every Linux.
  private static let initialNamespace: UInt64 = 0xEFFF_FFFD

  /// The names that a caller may see of a list, each ended by a zero byte. The caller is looked at only if there is
  /// something to keep from it.
  ///
  /// - Parameter threadID: In our pid namespace, blocked in its call; 0 (a caller from another one) may see none.
  static func visible(_ names: [UInt8], to threadID: Int32) -> [UInt8] {
    let parts = names.split(separator: 0)
    guard parts.contains(where: { $0.starts(with: prefix) }), !mayList(threadID) else { return names }
    var visible: [UInt8] = []
    for part in parts where !part.starts(with: prefix) {
      visible += part
      visible.append(0)
    }
    return visible
  }

  /// Whether the thread has CAP_SYS_ADMIN in the initial user namespace; false, too, if it cannot be looked at.
  static func mayList(_ threadID: Int32) -> Bool {
    var failure: Int32 = 0
    guard threadID > 0, let status = ProcessStatus.read(threadID, failure: &failure) else { return false }
    // Root of a user namespace of its own has all capabilities there, and none here.
    return status.capabilities & capSysAdmin != 0 && ProcReader.inode(threadID, "ns/user") == initialNamespace
  }
}
