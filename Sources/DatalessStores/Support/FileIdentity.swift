public import DatalessCore
public import SystemPackage

/// What a file is, whatever its name: the numbers that stat(2) calls st_dev and st_ino.
public struct FileIdentity: Sendable, Hashable {
  public var device: UInt64
  public var inode: UInt64

  public init(device: UInt64, inode: UInt64) {
    self.device = device
    self.inode = inode
  }

  /// The identity of what `path` names, symbolic links followed.
  ///
  /// - Throws: ENOENT, ENOTDIR, EACCES, ELOOP and the other errnos of stat(2).
  public init(of path: FilePath) throws(FSError) {
    do throws(Errno) {
      self = try FileStatus(following: path).identity
    } catch {
      throw FSError(error, "cannot look at '\(path)'")
    }
  }
}
