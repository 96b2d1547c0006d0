internal import CDatalessLinux
public import DatalessCore
internal import SystemPackage

extension LocalStore {
  public func list(
    _ directory: StoreBinding, into sink: (ListingBatch) throws(FSError) -> Void
  ) throws(FSError) {
    guard directory.version.kind == .directory else {
      throw FSError(.notDirectory, "'\(directory.displayPath)' is not a directory")
    }
    let opened: OpenItem
    do throws(Errno) {
      opened = try OpenItem(openForReading(directory.key, flags: CLINUX_O_DIRECTORY))
    } catch {
      if error == .improperLink, isShownMountPoint(directory) { return }
      throw failure(error, directory)
    }
    try checkIdentity(opened.status, directory)
    try read(opened.raw, status: opened.status, directory: directory, into: sink)
  }

  private func read(
    _ descriptor: CInt, status: FileStatus, directory: StoreBinding,
    into sink: (ListingBatch) throws(FSError) -> Void
  ) throws(FSError) {
    var batch = ListingBatch()
    do throws(DirectoryReader.Failure<FSError>) {
      try DirectoryReader.forEach(descriptor) { (entry) throws(FSError) in
        guard let attributes = try attributes(of: entry, in: descriptor, status, directory) else { return }
        if batch.isFull {
          try sink(batch)
          batch.removeAll()
        }
        batch.append(entry.nameBuffer, attributes)
      }
    } catch {
      switch error {
      case .system(let errno): throw failure(errno, directory)
      case .body(let failure): throw failure
      }
    }
    if !batch.isEmpty { try sink(batch) }
  }

  /// The metadata under which a name is listed; nil if it is not listed.
  private func attributes(
    of entry: DirectoryReader.Entry, in descriptor: CInt, _ parent: FileStatus, _ directory: StoreBinding
  ) throws(FSError) -> ItemAttributes? {
    let status: FileStatus
    do throws(Errno) {
      status = try FileStatus(of: entry.name, in: descriptor)
    } catch {
      switch error {
      // It vanished between getdents64 and statx.
      case .noSuchFileOrDirectory: return nil
      // No right to search the directory, or something is mounted there that does not answer: the name is there all
      // the same, and every use of it fails with its own errno.
      case .permissionDenied, .notPermitted, .socketNotConnected, .staleNFSFileHandle, .hostIsDown, .noRouteToHost,
        .operationNotSupportedByDevice:
        countUnreadable()
        return placeholder(for: entry, parent)
      default:
        let path = directory.key + (directory.key.isEmpty ? [] : [UInt8(ascii: "/")]) + entry.nameBytes
        throw FSError(error, "cannot look at '\(StoreBinding.display(path))' in SOURCE")
      }
    }
    if !excluded.isEmpty, excluded.contains(status.identity) { return nil }
    if !crossMounts, status.isOnOtherMount(than: rootStatus) {
      remember(mountPoint: status.identity)
      return status.isDirectory ? mountPointAttributes(status) : nil
    }
    return status.attributes(home: root.device)
  }

  private func placeholder(for entry: DirectoryReader.Entry, _ parent: FileStatus) -> ItemAttributes {
    // What getdents64 cannot tell counts as a FIFO, which nothing opens.
    let kind = ItemKind(rawValue: entry.type) ?? .fifo
    let never = Timestamp(seconds: 0, nanoseconds: 0)
    let home = parent.attributes(home: root.device)
    return ItemAttributes(
      device: parent.device,
      inode: parent.device == root.device
        ? entry.inode : ForeignInode.number(device: parent.device, inode: entry.inode),
      mode: UInt32(kind.rawValue) << 12, linkCount: 1, uid: home.uid, gid: home.gid, specialDevice: 0, size: 0,
      blocks: 0, accessTime: never, modificationTime: never, changeTime: never)
  }
}
