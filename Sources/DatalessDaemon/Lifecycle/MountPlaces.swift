import DatalessControl
import DatalessCore

/// Which of the directories of a mount lies in which: none may hide another one, contain itself, or be written to where
/// nothing is written.
struct MountPlaces {
  let request: PreflightRequest
  let mounts: MountTable
  /// As of `MountPreflight`.
  let progress: ([UInt8]) -> Void

  /// - Returns: Our own directories that lie in SOURCE.
  func check(
    source: VolumeConfiguration.Source, mountpoint: [UInt8], log: [UInt8], cache: [UInt8]
  ) throws(LifecycleError) -> [[UInt8]] {
    for (path, name) in [(log, "the log"), (cache, "the cache")] {
      // Not even looked at: nothing on a volume is touched by a command.
      guard let volume = mounts.datalessMount(containing: path) else { continue }
      throw LifecycleError(
        "cannot mount: \(name) \(ErrorText.quoted(path)) lies on the dataless volume "
          + "\(ErrorText.quoted(volume.mountPoint)), \(volume.obstacle). Give a place outside of it.")
    }
    let mountPlace = PathLocation(mountpoint, mounts: mounts)
    progress(request.log)
    let logDirectory = CPath.parent(log)
    let logPlace = PathLocation(logDirectory, mounts: mounts)
    progress(request.cacheDirectory)
    let cachePlace = PathLocation(cache, mounts: mounts)
    if mountPlace.contains(logPlace) {
      throw LifecycleError(
        "cannot mount: the log \(ErrorText.quoted(request.log)) lies below MOUNTPOINT, where the volume would hide it. "
          + "Give another file with --log.")
    }
    if mountPlace.contains(cachePlace) {
      throw LifecycleError(
        "cannot mount: the cache \(ErrorText.quoted(request.cacheDirectory)) lies below MOUNTPOINT, where the volume "
          + "would hide it. Give another directory with --cache-dir.")
    }
    guard case .directory(let path) = source, case .directory(let given) = request.source else { return [] }
    progress(given)
    let sourcePlace = PathLocation(path, mounts: mounts)
    if sourcePlace.contains(mountPlace) {
      if request.isTemporary {
        throw LifecycleError(
          "cannot mount: the temporary mountpoint \(ErrorText.quoted(request.mountpoint)) would lie in SOURCE "
            + "\(ErrorText.quoted(given)), which would contain itself. Give a SOURCE further down."
        )
      }
      throw LifecycleError(
        "cannot mount: MOUNTPOINT \(ErrorText.quoted(request.mountpoint)) lies inside SOURCE "
          + "\(ErrorText.quoted(given)): the volume would contain itself. Give a directory outside of SOURCE.")
    }
    if mountPlace.contains(sourcePlace) {
      throw LifecycleError(
        "cannot mount: SOURCE \(ErrorText.quoted(given)) lies inside MOUNTPOINT "
          + "\(ErrorText.quoted(request.mountpoint)), where the volume would hide it. Give another MOUNTPOINT.")
    }
    var excluded: [[UInt8]] = []
    if sourcePlace.contains(logPlace) {
      guard request.logIsDefault else {
        throw LifecycleError(
          "cannot mount: the log \(ErrorText.quoted(request.log)) lies inside SOURCE \(ErrorText.quoted(given)), which "
            + "is never written to. Give a file outside of it with --log.")
      }
      excluded.append(logDirectory)
    }
    if sourcePlace.contains(cachePlace) { excluded.append(cache) }
    return excluded
  }

  /// The state directory is written to, so it lies neither on a volume nor in SOURCE, nor where the mount hides it.
  func checkState(
    _ state: [UInt8], source: VolumeConfiguration.Source, mountpoint: [UInt8]
  ) throws(LifecycleError) {
    let name = "the state directory \(ErrorText.quoted(state))"
    if let volume = mounts.datalessMount(containing: state) {
      throw LifecycleError(
        "cannot mount: \(name) lies on the dataless volume \(ErrorText.quoted(volume.mountPoint)) (EINVAL). "
          + "Give a directory outside of it with --state.")
    }
    progress(request.state ?? state)
    let place = PathLocation(state, mounts: mounts)
    if PathLocation(mountpoint, mounts: mounts).contains(place) {
      throw LifecycleError(
        "cannot mount: \(name) lies below MOUNTPOINT, where the volume would hide it (EINVAL). "
          + "Give another directory with --state.")
    }
    guard case .directory(let path) = source, case .directory(let given) = request.source else { return }
    progress(given)
    let sourcePlace = PathLocation(path, mounts: mounts)
    guard !sourcePlace.contains(place), !place.contains(sourcePlace) else {
      throw LifecycleError(
        "cannot mount: one of \(name) and SOURCE \(ErrorText.quoted(given)) lies inside the other (EINVAL), and SOURCE "
          + "is never written to. Give another directory with --state.")
    }
  }
}

extension MountEntry {
  /// Why nothing of a volume may lie on this one.
  var obstacle: String {
    isReadOnly ? "which is read-only (EROFS)" : "so that one daemon would wait for another (EINVAL)"
  }
}
