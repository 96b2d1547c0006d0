internal import CDatalessLinux
internal import DatalessCore
internal import Glibc
internal import SystemPackage

/// Whether what lies in a state directory is what it should be, before anything of it is opened. Somebody may have
/// prepared it.
enum StateInspection {
  /// The names in it. Those that are not ours are left alone, whatever they are; ours have to be plain files, and
  /// `content` a directory, of this user's, which nobody else can read.
  ///
  /// - Throws: EPERM (not this user's alone), ENOTDIR, EACCES, EIO.
  static func names(_ files: StateFiles, _ path: String) throws(FSError) -> Set<String> {
    let home = try StateDirectory.naming(path) { () throws(Errno) in try files.status(nil) }
    guard home.uid == geteuid() else {
      throw FSError(.notPermitted, "cannot use the state directory '\(path)': it belongs to user \(home.uid)")
    }
    guard home.mode & 0o022 == 0 else {
      throw FSError(
        .notPermitted,
        "cannot use the state directory '\(path)': others can write to it. Make it yours alone (chmod 700)")
    }
    let found = try StateDirectory.naming(path) { () throws(Errno) in try files.names() }
    var names = Set(found.map { String(decoding: $0, as: UTF8.self) })
    names.remove("lost+found")
    for name in names.intersection(StateName.files.union([StateName.content])).sorted() {
      guard let status = try StateDirectory.naming(path, { () throws(Errno) in try status(of: name, files) }) else {
        names.remove(name)
        continue
      }
      if let flaw = flaw(of: status, isDirectory: name == StateName.content) {
        throw FSError(.notPermitted, "cannot use the state directory '\(path)': '\(name)' in it \(flaw)")
      }
    }
    return names
  }

  /// nil if it has gone since it was listed: another process is about to make the directory, or to end with it. The
  /// lock says so later, and who holds it.
  private static func status(of name: String, _ files: StateFiles) throws(Errno) -> StateFiles.Status? {
    do throws(Errno) {
      let status = try files.status(name)
      // Removed while it was looked at.
      return status.linkCount > 0 ? status : nil
    } catch {
      guard error == .noSuchFileOrDirectory else { throw error }
      return nil
    }
  }

  private static func flaw(of status: StateFiles.Status, isDirectory: Bool) -> String? {
    guard isDirectory ? status.isDirectory : status.isFile else {
      return isDirectory ? "is no directory" : "is no regular file"
    }
    guard status.uid == geteuid() else { return "belongs to user \(status.uid)" }
    guard isDirectory || status.linkCount == 1 else { return "has other names" }
    guard status.mode & 0o077 == 0 else { return "is open to others. Make it yours alone (chmod -R go-rwx)" }
    return nil
  }
}
