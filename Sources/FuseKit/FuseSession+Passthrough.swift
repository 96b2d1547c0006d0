internal import CFuse3
public import SystemPackage

extension FuseSession {
  /// Registers an open file as the backing of passthrough opens.
  ///
  /// - Parameter file: A regular file on a file system that is not stacked itself. The kernel keeps it open by itself;
  ///   its own descriptor may be closed.
  /// - Throws: EPERM without CAP_SYS_ADMIN; EOPNOTSUPP if passthrough was not agreed on or the file is not suitable;
  ///   ELOOP if its file system is stacked; ENOTTY before Linux 6.9.
  ///
  /// C: ioctl FUSE_DEV_IOC_BACKING_OPEN.
  public func registerBacking(_ file: FileDescriptor) throws(Errno) -> BackingID {
    let result = cfuse_backing_open(device, file.rawValue)
    if result < 0 { throw Errno(rawValue: -result) }
    return BackingID(rawValue: result)
  }

  /// Gives a backing up. Opens that name it keep it until they are released. C: ioctl FUSE_DEV_IOC_BACKING_CLOSE.
  ///
  /// - Throws: ENOENT if there is no such backing.
  public func unregisterBacking(_ backing: BackingID) throws(Errno) {
    let result = cfuse_backing_close(device, backing.rawValue)
    if result < 0 { throw Errno(rawValue: -result) }
  }
}
