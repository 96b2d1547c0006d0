import DatalessControl
import DatalessCore
import SystemPackage

/// `dataless remove` over the engine.
extension VolumeBackend {
  func remove(_ paths: [[UInt8]], by peer: ControlPeer) async throws -> RemoveAnswer {
    let paths = try await followed(paths, lists: true).all()
    for path in paths { if let error = try crossing(path) { throw refusal(path, error) } }
    let caller = volume.processes.caller(threadID: peer.pid, uid: peer.uid, gid: peer.gid)
    let remover = Remover(caller, groups: peer.groups)
    let transfer = MaterializeTransfer(engine: engine, makeWaiter: { [volume] in volume.adapter.makeWaiter() })
    while true {
      try Task.checkCancellation()
      let answer = await withCheckedContinuation { [engine] continuation in
        engine.remove(paths, by: remover) { continuation.resume(returning: $0) }
      }
      switch answer {
      case .removed(let found): return RemoveAnswer(found)
      case .needsListing(let directory): try await transfer.list(directory)
      case .refused(let path, let error): throw refusal(path, error)
      }
    }
  }

  private func refusal(_ path: [UInt8], _ error: FSError) -> FSError {
    let name = TerminalText.escaped(path.isEmpty ? volume.configuration.mountpoint : path)
    return FSError(error.errno, "cannot remove '\(name)': \(error.message). Nothing was removed")
  }

  /// Why a path cannot go that another file system is mounted on, or below: EBUSY, as rmdir(2) has it.
  func crossing(_ path: [UInt8]) throws -> FSError? {
    let mountpoint = volume.configuration.mountpoint
    let target = path.isEmpty ? mountpoint : PathBytes.join(mountpoint, path)
    let mount = try MountTable.current().entries.first {
      $0.mountPoint != mountpoint && PathBytes.isPrefix(target, of: $0.mountPoint)
    }
    return mount.map {
      FSError(
        .resourceBusy, "'\(TerminalText.escaped($0.mountPoint))' is the mountpoint of another file system: unmount it")
    }
  }
}

extension RemoveAnswer {
  init(_ found: RemovedItems) {
    self.init(
      items: Int64(found.items), directories: Int64(found.directories), bytes: found.bytes,
      dirtyItems: Int64(found.dirtyItems), dirtyBytes: found.dirtyBytes, dropped: found.dirtyPaths)
  }
}
