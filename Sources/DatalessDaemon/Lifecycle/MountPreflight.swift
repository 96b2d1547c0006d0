import DatalessControl
import DatalessCore
import DatalessStores
import Glibc

/// Everything that can be wrong with a mount before it is tried, each with its remedy.
///
/// The checks touch SOURCE and the directories around it, any of which may hang: a command runs them in a child with a
/// time limit (`PreflightChild`), never in its own process.
public struct MountPreflight {
  private let request: PreflightRequest
  private let mounts: MountTable
  private let resolver: PathResolver
  private let fuse: FuseAvailability
  private let progress: ([UInt8]) -> Void

  /// - Parameters:
  ///   - mounts: Default: this process' mount table.
  ///   - fuse: Default: this machine's.
  ///   - progress: Called with the path that is looked at next, so that a hang can be named.
  init(
    _ request: PreflightRequest, mounts: MountTable, fuse: FuseAvailability, progress: @escaping ([UInt8]) -> Void
  ) {
    self.request = request
    self.mounts = mounts
    self.fuse = fuse
    self.progress = progress
    resolver = PathResolver(mounts: mounts)
  }

  /// Runs all checks in this process; the first that fails decides. Nothing is changed.
  public static func inspect(
    _ request: PreflightRequest, progress: @escaping ([UInt8]) -> Void = { _ in }
  ) -> PreflightAnswer {
    do {
      let preflight = MountPreflight(request, mounts: try .current(), fuse: FuseAvailability(), progress: progress)
      return preflight.answer()
    } catch {
      return .failed(message: "cannot mount: \(error.message)", exitCode: 1)
    }
  }

  func answer() -> PreflightAnswer {
    do throws(LifecycleError) {
      let source = try checkedSource()
      let mountpoint = try resolved(request.mountpoint, "MOUNTPOINT")
      if try isDeadMount(mountpoint) { return .deadMount(mountpoint: mountpoint) }
      try checkMountpoint(mountpoint)
      let own = OwnPath.resolver(mounts)
      let log = try resolved(request.log, "the log", by: own)
      let cache = try resolved(request.cacheDirectory, "the cache", by: own)
      var state: [UInt8]?
      if let given = request.state { state = try resolved(given, "the state directory", by: own) }
      let places = MountPlaces(request: request, mounts: mounts, progress: progress)
      if let state { try places.checkState(state, source: source, mountpoint: mountpoint) }
      let excluded = try places.check(source: source, mountpoint: mountpoint, log: log, cache: cache)
      try checkEmpty(mountpoint)
      try checkLog(log)
      try checkSocketPath()
      try fuse.check(allowOther: request.allowOther)
      return .passed(
        PreflightResult(
          source: source, mountpoint: mountpoint, log: log, cacheDirectory: cache, state: state,
          excludedDirectories: excluded,
          warnings: warnings(mountpoint)))
    } catch {
      return .failed(message: error.message, exitCode: error.exitCode)
    }
  }

  private func resolved(
    _ path: [UInt8], _ name: String, by given: PathResolver? = nil
  ) throws(LifecycleError) -> [UInt8] {
    progress(path)
    do {
      return try (given ?? resolver).resolve(path)
    } catch {
      throw LifecycleError("cannot mount: \(name) \(ErrorText.quoted(path)): \(error.message)")
    }
  }

  // MARK: SOURCE

  private func checkedSource() throws(LifecycleError) -> VolumeConfiguration.Source {
    guard case .directory(let given) = request.source else { return request.source }
    let path = try resolved(given, "SOURCE")
    progress(given)
    let descriptor = CPath.with(path) { open($0, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC) }
    guard descriptor >= 0 else { throw sourceFailure(given, errno) }
    close(descriptor)
    return .directory(path)
  }

  private func sourceFailure(_ path: [UInt8], _ number: CInt) -> LifecycleError {
    let name = "SOURCE \(ErrorText.quoted(path))"
    let text =
      switch number {
      case ENOENT:
        "\(name) does not exist (ENOENT). Give an existing directory, or synthetic:files=1000 for computed files."
      case ENOTDIR: "\(name) is not a directory (ENOTDIR). Give the directory that holds it."
      case EACCES, EPERM:
        "\(name) cannot be read: \(ErrorText.reason(number)). Mount as a user who may, or allow it with chmod +rx."
      case ENOTCONN:
        "\(name) lies on the mount of a FUSE daemon that has died (ENOTCONN). Unmount that first: fusermount3 -u -z."
      default: "SOURCE \(ErrorText.quoted(path)) cannot be opened: \(ErrorText.reason(number)). Check that ls shows it."
      }
    return LifecycleError("cannot mount: \(text)")
  }

  // MARK: MOUNTPOINT

  /// Whether a volume of ours without a daemon covers the mountpoint.
  private func isDeadMount(_ mountpoint: [UInt8]) throws(LifecycleError) -> Bool {
    guard let entry = mounts.mount(containing: mountpoint) else { return false }
    let name = "MOUNTPOINT \(ErrorText.quoted(request.mountpoint))"
    guard entry.isDataless else {
      guard entry.mountPoint == mountpoint, mountpoint != [UInt8(ascii: "/")], !entry.isAutomount else { return false }
      throw LifecycleError(
        "cannot mount: \(name) is already a mount point (\(entry.fileSystemType)) (EBUSY). "
          + "Give an empty directory that nothing is mounted on, or unmount it first.")
    }
    var liveness = VolumeLiveness.of(entry)
    // Without the lock's directory only the volume itself can say. This asks the kernel, and the daemon if there is
    // one, for nothing but the size of the file system; the child that asks has a time limit.
    if liveness == .unknown {
      var status = statvfs()
      let code = CPath.with(entry.mountPoint) { statvfs($0, &status) }
      liveness = code != 0 && errno == ENOTCONN ? .dead : .alive
    }
    let volume = ErrorText.quoted(entry.mountPoint)
    if liveness == .dead {
      guard entry.mountPoint == mountpoint else {
        throw LifecycleError(
          "cannot mount: \(name) lies on the volume \(volume), whose daemon has died (ENOTCONN). "
            + "Clean up first: dataless unmount \(ShellText.word(entry.mountPoint)).")
      }
      return true
    }
    guard entry.mountPoint == mountpoint else {
      throw LifecycleError(
        "cannot mount: \(name) lies on the dataless volume \(volume), \(entry.obstacle). "
          + "Give a directory outside of it.")
    }
    throw LifecycleError(
      "cannot mount: \(name) already is a dataless volume of \(ErrorText.quoted(entry.source)) (EBUSY). "
        + "Unmount it first: dataless unmount \(ShellText.word(entry.mountPoint)).")
  }

  private func warnings(_ mountpoint: [UInt8]) -> [String] {
    let warnings = RequestTimeout.warnings(longestWait: request.longestWait)
    guard request.isTemporary else { return warnings }
    return warnings + TemporaryMountpoint.warnings(mountpoint, allowOther: request.allowOther)
  }

  private func checkMountpoint(_ mountpoint: [UInt8]) throws(LifecycleError) {
    let name = "MOUNTPOINT \(ErrorText.quoted(request.mountpoint))"
    progress(request.mountpoint)
    switch CPath.status(mountpoint) {
    case .success(let status):
      guard status.st_mode & S_IFMT == S_IFDIR else {
        throw LifecycleError("cannot mount: \(name) is not a directory (ENOTDIR). Give an empty directory.")
      }
    case .failure(let failure) where failure.number == ENOENT:
      throw LifecycleError(
        "cannot mount: \(name) does not exist (ENOENT). Make it first: mkdir \(ErrorText.quoted(request.mountpoint)).")
    case .failure(let failure):
      throw LifecycleError(
        "cannot mount: \(name) cannot be used: \(ErrorText.reason(failure.number)). Give an empty directory of yours.")
    }
    guard geteuid() == 0 || CPath.with(mountpoint, { access($0, W_OK) }) == 0 else {
      throw LifecycleError(
        "cannot mount: \(name) is not writable by you (EACCES), as fusermount3 asks for. "
          + "Give an empty directory of yours.")
    }
  }

  private func checkEmpty(_ mountpoint: [UInt8]) throws(LifecycleError) {
    // A look into it would wait for the very mount that is being made.
    if let entry = mounts.mount(containing: mountpoint), entry.isAutomount, entry.mountPoint == mountpoint { return }
    let name = "MOUNTPOINT \(ErrorText.quoted(request.mountpoint))"
    guard let names = CPath.names(in: mountpoint, limit: 1) else {
      throw LifecycleError(
        "cannot mount: \(name) cannot be listed: \(ErrorText.reason(errno)). Give an empty directory of yours.")
    }
    guard names.isEmpty else {
      throw LifecycleError(
        "cannot mount: \(name) is not empty (ENOTEMPTY): a mount would hide what is in it. Give an empty directory.")
    }
  }

  // MARK: Log and socket

  private func checkLog(_ log: [UInt8]) throws(LifecycleError) {
    progress(request.log)
    guard !request.logIsDefault else { return }
    let name = "the log \(ErrorText.quoted(request.log))"
    if case .success(let status) = CPath.status(log), status.st_mode & S_IFMT != S_IFREG {
      // A pipe or a device has no end to be read to, which `log` and `summary` would wait for.
      let what = status.st_mode & S_IFMT == S_IFDIR ? "a directory (EISDIR)" : "no regular file (EINVAL)"
      throw LifecycleError("cannot mount: \(name) is \(what). Give a file with --log.")
    }
    // That of a state directory is made with it.
    if let state = request.state, request.log == PathBytes.join(state, Array("log".utf8)) { return }
    if case .failure(let failure) = CPath.status(CPath.parent(log)) {
      throw LifecycleError(
        "cannot mount: the directory of \(name) cannot be used: \(ErrorText.reason(failure.number)). Make it first.")
    }
  }

  private func checkSocketPath() throws(LifecycleError) {
    let length = request.runtimeDirectory.utf8.count + "/4095:1048575/".utf8.count + SessionPaths.socketName.utf8.count
    guard length <= SessionPaths.socketPathLengthMax else {
      throw LifecycleError(
        "cannot mount: the control socket's path below \(ErrorText.quoted(Array(request.runtimeDirectory.utf8))) would "
          + "be longer than \(SessionPaths.socketPathLengthMax) bytes (ENAMETOOLONG). "
          + "Set XDG_RUNTIME_DIR to a shorter path.")
    }
  }
}
