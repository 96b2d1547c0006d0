import CDatalessLinux
public import DatalessControl
import Glibc

/// Ends volumes from outside: a daemon that does not answer its socket, and mounts whose daemon is dead.
public enum Unmounter {
  /// Asks a daemon to end and waits until it has; ends it with SIGKILL when the time is up.
  ///
  /// - Parameters:
  ///   - daemon: From `DaemonIdentity`.
  ///   - mountpoint: Detached when the daemon could not do so itself.
  ///   - timeLimitMilliseconds: How long an orderly end may take. Default 5 s; its own bounded steps take 2 s at most,
  ///     but the kernel drops what it knows of ten million names in as many microseconds. So a daemon that is at work
  ///     then gets more time, 5 minutes at most; one that waits for something does not.
  ///   - onDelay: Called when it has not ended after a second.
  /// - Returns: Whether the daemon ended by itself in time.
  @discardableResult
  public static func endDaemon(
    _ daemon: ProcessHandle, mountpoint: [UInt8], timeLimitMilliseconds: Int = 5000, onDelay: (() -> Void)? = nil
  ) -> Bool {
    let isOrderly = ends(
      daemon, by: SIGTERM, within: timeLimitMilliseconds, atWork: workLimitMilliseconds, onDelay: onDelay)
    if !isOrderly { _ = ends(daemon, by: SIGKILL, within: 1000, atWork: 1000) }
    if !isOrderly { try? detach(mountpoint) }
    return isOrderly
  }

  /// Ends a daemon that is our own child and not reaped yet: nobody else can have its id. It is reaped.
  @discardableResult
  public static func endDaemon(child: Int32, mountpoint: [UInt8]) -> Bool {
    var status: CInt = 0
    guard let daemon = ProcessHandle(pid: child) else {
      let isOrderly = endsWithoutHandle(child)
      if !isOrderly { try? detach(mountpoint) }
      return isOrderly
    }
    let isOrderly = endDaemon(daemon, mountpoint: mountpoint)
    waitpid(child, &status, WNOHANG)
    return isOrderly
  }

  /// For a kernel or sandbox without pidfds: no descriptor tells of a child's end.
  private static func endsWithoutHandle(_ child: Int32) -> Bool {
    var status: CInt = 0
    for (signal, milliseconds) in [(SIGTERM, 5000), (SIGKILL, 1000)] {
      kill(child, signal)
      let deadline = Deadline(milliseconds: milliseconds)
      while !deadline.hasPassed {
        if waitpid(child, &status, WNOHANG) != 0 { return signal == SIGTERM }
        _ = DescriptorIO.waitReadable([], until: Deadline(milliseconds: 5))
      }
    }
    return false
  }

  /// Waits until a daemon that was asked to end, and that cannot be signalled from here, has given its lock up.
  ///
  /// - Returns: False when the time is up before; the mount is detached then, and the daemon is left to itself.
  public static func waitForEnd(of volume: MountEntry, timeLimitMilliseconds: Int) -> Bool {
    let deadline = Deadline(milliseconds: timeLimitMilliseconds)
    while VolumeLiveness.of(volume) == .alive {
      guard !deadline.hasPassed else {
        try? detach(volume.mountPoint)
        return false
      }
      // A lock has no descriptor that tells of its end.
      _ = DescriptorIO.waitReadable([], until: Deadline(milliseconds: 10))
    }
    return true
  }

  /// Whether somebody holds the lock of a volume, as its daemon does as long as it lives.
  public static func isHeld(_ volume: MountEntry) -> Bool { VolumeLiveness.of(volume) == .alive }

  /// Whether the daemon of a volume has died; nil where that cannot be seen.
  public static func isDead(_ volume: MountEntry) -> Bool? {
    switch VolumeLiveness.of(volume) {
    case .alive: false
    case .dead: true
    case .unknown: nil
    }
  }

  /// Removes the mount of a dead daemon; nothing happens when there is none.
  ///
  /// - Throws: `LifecycleError` when the volume's daemon lives, or the mount cannot be removed by this user.
  public static func detachDead(_ mountpoint: [UInt8]) throws {
    guard let entry = try MountTable.current().mount(containing: mountpoint), entry.mountPoint == mountpoint else {
      return
    }
    guard VolumeLiveness.of(entry) != .alive else {
      throw LifecycleError(
        "cannot clean up \(ErrorText.quoted(mountpoint)): its daemon is running (EBUSY). Use dataless unmount.")
    }
    try detach(mountpoint)
  }

  /// Removes a mount that a process left behind which ended without doing so; nothing happens when it is gone, or
  /// another one is in its place.
  public static func removeIfStill(_ volume: MountEntry) throws {
    let now = try MountTable.current().mount(containing: volume.mountPoint)
    guard now?.mountID == volume.mountID, now?.device == volume.device else { return }
    try detach(volume.mountPoint)
  }

  /// Removes a mount, whoever serves it.
  ///
  /// - Throws: `LifecycleError` when the mount cannot be removed by this user.
  public static func remove(_ mountpoint: [UInt8]) throws { try detach(mountpoint) }

  /// Takes a mount away from its name at once; what is open on it goes with its last user. The daemon is not asked.
  ///
  /// - Throws: `LifecycleError` when the user may not, or fusermount3 is missing or stuck.
  static func detach(_ mountpoint: [UInt8]) throws(LifecycleError) {
    let number: CInt
    switch MountDetaching.detach(mountpoint) {
    // Not a mount point any more: somebody was faster.
    case .done, .nothingThere, .failed(EINVAL), .failed(ENOENT): return
    case .failed(let code): number = code
    }
    guard number == EPERM else {
      throw LifecycleError(
        "cannot unmount \(ErrorText.quoted(mountpoint)): \(ErrorText.reason(number)). Try as root: umount -l.")
    }
    let outcome = try TimeLimitedCommand.run(
      ["fusermount3", "-u", "-z", "--"].map { Array($0.utf8) } + [mountpoint], timeLimitMilliseconds: 5000)
    guard outcome.status != .exited(0) else { return }
    throw LifecycleError(
      "cannot unmount \(ErrorText.quoted(mountpoint)): fusermount3 failed: \(outcome.words). "
        + "Unmount it as the user that mounted it, or as root: umount -l.")
  }

  /// As `detach`, for a process that is about to end: starts what has to be started and does not look back.
  static func detachWithoutWaiting(_ mountpoint: [UInt8]) {
    guard MountDetaching.detach(mountpoint) == .failed(EPERM) else { return }
    _ = try? TimeLimitedCommand.run(
      ["fusermount3", "-u", "-z", "-q", "--"].map { Array($0.utf8) } + [mountpoint], timeLimitMilliseconds: 0)
  }

  /// Sends a signal and waits for the end; true when the process is gone.
  ///
  /// - Parameter atWork: The limit for a process that uses the processor all the time.
  private static func ends(
    _ process: ProcessHandle, by signal: CInt, within milliseconds: Int, atWork limit: Int,
    onDelay: (() -> Void)? = nil
  ) -> Bool {
    _ = process.signal(signal)
    var deadline = Deadline(milliseconds: milliseconds)
    if let onDelay {
      if process.waitForEnd(until: Deadline(milliseconds: 1000)) { return true }
      onDelay()
    }
    let last = Deadline(milliseconds: limit)
    var used = process.processorTicks
    while !process.waitForEnd(until: deadline) {
      guard deadline.hasPassed else { continue }
      let now = process.processorTicks
      guard !last.hasPassed, now > used + workTicks else { return process.hasEnded }
      used = now
      deadline = Deadline(milliseconds: workIntervalMilliseconds)
    }
    return true
  }

  private static let workLimitMilliseconds = 300_000
  /// A process at work uses this much of each interval: a tenth, for machines with much else to do.
  private static let workIntervalMilliseconds = 2000
  private static let workTicks: UInt64 = 20
}

/// umount2(2) of one mount and no other, whatever its path has come to mean.
enum MountDetaching {
  enum Outcome: Equatable {
    case done
    /// Nothing of FUSE is mounted there any more.
    case nothingThere
    case failed(CInt)
  }

  /// Detaches the uppermost FUSE mount at a path; what is open on it goes with its last user.
  ///
  /// The path may lead through directories of other users, who can put a link to any other mount in their place. So the
  /// mountpoint is opened without following links (O_PATH, which asks no daemon), and only if what was opened is the
  /// mount of the mount table it is detached, by its descriptor.
  static func detach(_ mountpoint: [UInt8]) -> Outcome {
    guard let table = try? MountTable.current(), let entry = table.mount(containing: mountpoint),
      entry.mountPoint == mountpoint, entry.fileSystemType.hasPrefix("fuse")
    else { return .nothingThere }
    let flags = UInt64(UInt32(bitPattern: CLINUX_O_PATH | CLINUX_O_CLOEXEC | CLINUX_O_NOFOLLOW))
    let opened = CPath.with(mountpoint) {
      clinux_openat2(
        CLINUX_AT_FDCWD, $0, flags, 0, CLINUX_RESOLVE_NO_SYMLINKS | CLINUX_RESOLVE_NO_MAGICLINKS)
    }
    guard opened >= 0 else { return .failed(CInt(-opened)) }
    let descriptor = CInt(opened)
    defer { close(descriptor) }
    guard mountID(of: descriptor) == entry.mountID else { return .failed(ESTALE) }
    let lazily: CInt = 2
    return umount2("/proc/self/fd/\(descriptor)", lazily) == 0 ? .done : .failed(errno)
  }

  /// From /proc rather than statx(2), which asks the file system, and with it a daemon that may be dead.
  private static func mountID(of descriptor: CInt) -> Int? {
    guard let bytes = try? FileBytes.read("/proc/self/fdinfo/\(descriptor)") else { return nil }
    for line in bytes.split(separator: UInt8(ascii: "\n")) where line.starts(with: "mnt_id:".utf8) {
      let digits = line.dropFirst("mnt_id:".utf8.count).filter { $0 > 0x20 }
      return Int(String(decoding: digits, as: UTF8.self))
    }
    return nil
  }
}
