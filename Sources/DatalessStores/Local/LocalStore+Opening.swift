internal import CDatalessLinux
public import DatalessCore
internal import Glibc
internal import SystemPackage

extension LocalStore {
  /// Opens an item for reading, sparing its access time where the kernel lets us.
  ///
  /// - Parameter flags: Added to O_RDONLY | O_NONBLOCK; O_NONBLOCK because the name may be a FIFO by now.
  func openForReading(_ path: [UInt8], flags: CInt = 0) throws(Errno) -> OwnedDescriptor {
    let all = O_RDONLY | CLINUX_O_NONBLOCK | flags
    // A read-only mount moves no access time; asking for O_NOATIME would only be refused for other people's files.
    if protection == .readOnlyClone { return try openBeneath(path, flags: all) }
    do throws(Errno) {
      return try openBeneath(path, flags: all | CLINUX_O_NOATIME)
    } catch {
      guard error == .notPermitted else { throw error }
    }
    let opened = try openBeneath(path, flags: all)
    countUnprotectedOpen()
    return opened
  }

  func openBeneath(_ path: [UInt8], flags: CInt) throws(Errno) -> OwnedDescriptor {
    try SystemCall.openBeneath(source.descriptor.raw, path, flags: flags, crossMounts: crossMounts)
  }

  /// Opens a regular file on which another process holds a lease (Samba, NFS server): O_NONBLOCK fails there with
  /// EAGAIN.
  ///
  /// The file is pinned by O_PATH first and opened again through /proc only once it is known to be a regular file.
  func openWaitingForLease(_ path: [UInt8]) throws(Errno) -> OwnedDescriptor {
    let pin = try openBeneath(path, flags: CLINUX_O_PATH)
    guard try FileStatus(of: pin.raw).kind == .file else { throw .staleNFSFileHandle }
    let flags = O_RDONLY | CLINUX_O_CLOEXEC
    let result = Self.procPath(of: pin.raw).withCString { text in clinux_openat(CLINUX_AT_FDCWD, text, flags, 0) }
    let opened = OwnedDescriptor(CInt(try SystemCall.check(result)))
    if protection != .readOnlyClone { countUnprotectedOpen() }
    return opened
  }

  /// Opens an item as a mere handle (O_PATH), which reads nothing and triggers nothing, and checks that it is the
  /// listed one.
  ///
  /// - Returns: nil if it is a mount point that is shown as an empty directory.
  func pin(_ item: StoreBinding) throws(FSError) -> OpenItem? {
    let handle: OpenItem
    do throws(Errno) {
      handle = try OpenItem(openBeneath(item.key, flags: CLINUX_O_PATH))
    } catch {
      if error == .improperLink, isShownMountPoint(item) { return nil }
      throw failure(error, item)
    }
    try checkIdentity(handle.status, item)
    return handle
  }

  /// Whether `item` is a mount point as `list` shows it, and still the same.
  func isShownMountPoint(_ item: StoreBinding) -> Bool {
    guard !crossMounts, item.version.kind == .directory else { return false }
    do throws(Errno) {
      let handle = try SystemCall.openBeneath(
        source.descriptor.raw, item.key, flags: CLINUX_O_PATH, crossMounts: true)
      let status = try FileStatus(of: handle.raw)
      return status.isDirectory && mountPointAttributes(status).inode == item.version.inode
    } catch {
      return false
    }
  }

  /// The metadata of a mount point that is shown empty. Its number differs from every other one, also where the same
  /// directory is mounted twice or is seen at its own place, too.
  func mountPointAttributes(_ status: FileStatus) -> ItemAttributes {
    var attributes = status.attributes(home: root.device)
    attributes.inode = ForeignInode.number(device: ~status.device, inode: status.inode)
    return attributes
  }

  /// - Throws: ESTALE unless `status` is that of the listed item: device, inode, birth and type.
  func checkIdentity(_ status: FileStatus, _ item: StoreBinding) throws(FSError) {
    let now = status.attributes(home: root.device)
    guard now.device == item.version.device, now.inode == item.version.inode,
      now.birth == item.version.birth, now.kind == item.version.kind
    else { throw stale(item, "it was replaced by another item since it was listed") }
  }

  public func generation(of item: StoreBinding) -> UInt32 {
    guard hasGenerations else { return 0 }
    do throws(FSError) {
      guard let handle = try pin(item) else { return 0 }
      return generation(handle.raw, device: handle.status.device)
    } catch {
      return 0
    }
  }

  /// The generation of an open item; 0 if its file system gives none.
  func generation(_ descriptor: CInt, device: UInt64) -> UInt32 {
    // A crossed mount may be of any kind.
    guard hasGenerations, !crossMounts || device == rootStatus.device else { return 0 }
    return UInt32(clamping: clinux_handle_hash(descriptor))
  }

  static func procPath(of descriptor: CInt) -> String { "/proc/self/fd/\(descriptor)" }

  func stale(_ item: StoreBinding, _ reason: String) -> FSError {
    FSError(.staleNFSFileHandle, "'\(item.displayPath)' in SOURCE: \(reason)")
  }

  /// Turns what the kernel said about a path into what the caller gets. A path that leads elsewhere by now is ESTALE.
  func failure(_ error: Errno, _ item: StoreBinding) -> FSError {
    switch error {
    case .tooManySymbolicLinkLevels:
      stale(item, "a part of its path became a symbolic link since it was listed")
    case .improperLink:
      stale(item, "another file system was mounted over a part of its path since it was listed")
    case .notDirectory:
      stale(item, "a part of its path is no directory any more")
    case .noSuchAddressOrDevice, .operationNotSupportedByDevice:
      stale(item, "it became a socket or a device since it was listed")
    case .noSuchFileOrDirectory:
      FSError(error, "'\(item.displayPath)' is gone from SOURCE")
    default:
      FSError(error, "cannot read '\(item.displayPath)' in SOURCE")
    }
  }
}

/// An item of SOURCE that was opened, and what it was at that moment.
struct OpenItem: ~Copyable {
  private let descriptor: OwnedDescriptor
  let status: FileStatus

  var raw: CInt { descriptor.raw }

  init(_ descriptor: consuming OwnedDescriptor) throws(Errno) {
    status = try FileStatus(of: descriptor.raw)
    self.descriptor = descriptor
  }

  /// Gives the descriptor away.
  consuming func release() -> CInt { descriptor.release() }
}
