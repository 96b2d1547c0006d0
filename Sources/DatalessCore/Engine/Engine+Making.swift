internal import SystemPackage

/// New items and names on a writable volume. Each is answered at once: at most a listing comes first.
///
/// Names have 1 to 255 bytes, else ENAMETOOLONG; EEXIST if the name is there; ENOSPC when names or inode numbers are
/// used up; EROFS on a volume that is not writable; ENOENT if the directory was removed.
extension Engine {
  /// Whether, and how, the volume is writable.
  public var writing: EngineConfiguration.Writing { configuration.writing }

  /// What was changed on the volume since it was mounted, as far as it is still there.
  public var changes: VolumeChanges {
    state.withLock { state in
      var changes = VolumeChanges()
      changes.dirtyFiles = state.namespace.counts.filesDirty
      changes.dirtyBytes = state.namespace.counts.bytesDirty
      (changes.namesMade, changes.namesRemoved) = state.namespace.changedNames
      changes.otherAttributes = state.namespace.otherAttributes.count
      return changes
    }
  }

  /// mkdir(2). - Parameter mode: Permissions and the sticky bit.
  public func makeDirectory(
    _ name: UnsafeBufferPointer<UInt8>, in parent: NodeID, mode: UInt32, umask: UInt32, by caller: Caller
  ) -> MakeAnswer {
    make(name, NewItem(mode: 0o040000 | mode & 0o7777, umask: umask, caller: caller), in: parent)
  }

  /// mknod(2): a file, FIFO, socket or device.
  ///
  /// - Parameters:
  ///   - mode: Type and permissions.
  ///   - device: st_rdev of a device.
  public func makeNode(
    _ name: UnsafeBufferPointer<UInt8>, in parent: NodeID, mode: UInt32, umask: UInt32, device: UInt64,
    by caller: Caller
  ) -> MakeAnswer {
    let new = NewItem(mode: mode & 0o177777, umask: umask, specialDevice: device, caller: caller)
    switch new.kind {
    case .file, .fifo, .socket, .characterDevice, .blockDevice: return make(name, new, in: parent)
    case .directory, .symlink: return .failed(.invalidArgument)
    }
  }

  /// symlink(2). - Parameter target: 1 to 4,095 bytes.
  public func makeSymbolicLink(
    _ name: UnsafeBufferPointer<UInt8>, in parent: NodeID, to target: UnsafeBufferPointer<UInt8>, by caller: Caller
  ) -> MakeAnswer {
    guard !target.isEmpty else { return .failed(.noSuchFileOrDirectory) }
    guard target.count < 4096 else { return .failed(.fileNameTooLong) }
    return make(name, NewItem(mode: 0o120777, umask: 0, target: Array(target), caller: caller), in: parent)
  }

  private func make(_ name: UnsafeBufferPointer<UInt8>, _ new: NewItem, in parent: NodeID) -> MakeAnswer {
    changeNames { [timer] state in
      switch state.place(of: name, in: parent) {
      case .again: return nil
      case .needsListing(let directory), .needsEmptiness(let directory): return .needsListing(directory)
      case .failed(let errno): return .failed(errno)
      case .ready(let directory):
        switch state.make(name, new, in: directory, at: timer.now) {
        case .failure(let errno): return .failed(errno)
        case .success(let node):
          state.namespace.countLookup(of: node)
          return .made(state.namespace.snapshot(of: node))
        }
      }
    }
  }

  /// link(2): another name for what is no directory (EPERM). EMLINK from 65,000 names on.
  ///
  /// A dataless file is materialized by it, which the caller does not wait for: the kernel holds the directory
  /// meanwhile. `needsMaterialization` says that nothing else is in the way: `beginMaterialization`, then call again.
  ///
  /// - Parameter isComing: Whether that was done.
  public func link(
    _ node: NodeID, as name: UnsafeBufferPointer<UInt8>, in parent: NodeID, isComing: Bool = false, by caller: Caller
  ) -> MakeAnswer {
    changeNames { [timer] state in
      switch state.place(of: name, in: parent) {
      case .again: return nil
      case .needsListing(let directory), .needsEmptiness(let directory): return .needsListing(directory)
      case .failed(let errno): return .failed(errno)
      case .ready(let directory):
        return state.link(node, as: name, in: directory, isComing: isComing, by: caller, timer.now)
      }
    }
  }

  /// open(2) with O_CREAT of a name that is not there: a file that is open. Its content gets room with its first byte.
  ///
  /// A name that has come meanwhile is EEXIST with O_EXCL, and else ESTALE: the kernel looks it up and opens it then.
  public func create(
    _ name: UnsafeBufferPointer<UInt8>, in parent: NodeID, mode: UInt32, umask: UInt32, openFlags: Int32,
    by caller: Caller
  ) -> CreateAnswer {
    let new = NewItem(mode: 0o100000 | mode & 0o7777, umask: umask, caller: caller)
    return changeNames { [timer] state in
      switch state.place(of: name, in: parent) {
      case .again: return nil
      case .needsListing(let directory), .needsEmptiness(let directory): return .needsListing(directory)
      case .failed(let errno): return .failed(errno)
      case .ready(let directory):
        switch state.make(name, new, in: directory, at: timer.now) {
        case .failure(.fileExists) where openFlags & OpenFlags.exclusive == 0: return .failed(.staleNFSFileHandle)
        case .failure(let errno): return .failed(errno)
        case .success(let node): return state.opened(node, openFlags: openFlags, by: caller)
        }
      }
    }
  }

  /// open(2) with O_TMPFILE: a file without a name, until `link` gives it one.
  public func makeTemporaryFile(
    in parent: NodeID, mode: UInt32, umask: UInt32, openFlags: Int32, by caller: Caller
  ) -> CreateAnswer {
    let new = NewItem(mode: 0o100000 | mode & 0o7777, umask: umask, caller: caller)
    return changeNames { state in
      // Of the directory alone: the name is made here.
      let place = [UInt8(ascii: "#")].withUnsafeBufferPointer { state.place(of: $0, in: parent) }
      switch place {
      case .again: return nil
      case .needsListing(let directory), .needsEmptiness(let directory): return .needsListing(directory)
      case .failed(let errno): return .failed(errno)
      case .ready(let directory):
        switch state.makeTemporary(new, in: directory) {
        case .failure(let errno): return .failed(errno)
        case .success(let node): return state.opened(node, openFlags: openFlags, by: caller)
        }
      }
    }
  }
}

extension EngineState {
  /// A file that was just made is open, and known to the kernel.
  fileprivate mutating func opened(_ node: NodeIndex, openFlags: Int32, by caller: Caller) -> CreateAnswer {
    namespace.count(.open, of: node)
    let handle = openFiles.open(node, openFlags: openFlags, content: .none)
    openers.begin(handle, node, by: SharedWrite.Opener(caller, openFlags: openFlags))
    if OpenFlags.writes(openFlags) { writers.begin(handle, node, by: caller) }
    updateContent(of: node) { $0.noteCached() }
    namespace.countLookup(of: node)
    return .made(namespace.snapshot(of: node), handle: handle)
  }
}
