import DatalessControl
public import Glibc

/// Ends volumes from outside: a daemon that does not answer its socket, and mounts whose daemon is dead.
public enum Unmounter {
  /// MNT_DETACH | UMOUNT_NOFOLLOW of umount2(2).
  private static let lazily: CInt = 2 | 8

  /// Asks a daemon to end and waits until it has; ends it with SIGKILL when the time is up.
  ///
  /// - Parameters:
  ///   - pid: The daemon's, known to be alive: from its own socket, or while its lock is held.
  ///   - mountpoint: Detached when the daemon could not do so itself.
  ///   - timeLimitMilliseconds: How long an orderly end may take. Default 5 s; its own bounded steps take 2 s at most, but
  ///     the kernel drops what it knows of ten million names in as many microseconds. So a daemon that is at work then gets
  ///     more time, 5 minutes at most; one that waits for something does not.
  /// - Returns: Whether the daemon ended by itself in time.
  @discardableResult
  public static func endDaemon(
    pid: pid_t, mountpoint: [UInt8], timeLimitMilliseconds: Int = 5000
  ) -> Bool {
    let isOrderly = ends(pid, by: SIGTERM, within: timeLimitMilliseconds, atWork: workLimitMilliseconds)
    if !isOrderly { _ = ends(pid, by: SIGKILL, within: 1000, atWork: 1000) }
    if !isOrderly { try? detach(mountpoint) }
    return isOrderly
  }

  /// Removes the mount of a dead daemon; nothing happens when there is none.
  ///
  /// - Throws: `LifecycleError` when the volume's daemon lives, or the mount cannot be removed by this user.
  public static func detachDead(_ mountpoint: [UInt8]) throws {
    guard let entry = try MountTable.current().datalessMount(at: mountpoint) else { return }
    guard VolumeLiveness.of(entry) != .alive else {
      throw LifecycleError(
        "cannot clean up \(ErrorText.quoted(mountpoint)): its daemon is running (EBUSY). Use dataless unmount.")
    }
    try detach(mountpoint)
  }

  /// Takes a mount away from its name at once; what is open on it goes with its last user. The daemon is not asked.
  ///
  /// - Throws: `LifecycleError` when the user may not, or fusermount3 is missing or stuck.
  static func detach(_ mountpoint: [UInt8]) throws(LifecycleError) {
    guard CPath.with(mountpoint, { umount2($0, lazily) }) != 0 else { return }
    let number = errno
    // Not a mount point any more: somebody was faster.
    if number == EINVAL || number == ENOENT { return }
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
    guard CPath.with(mountpoint, { umount2($0, lazily) }) != 0, errno == EPERM else { return }
    _ = try? TimeLimitedCommand.run(
      ["fusermount3", "-u", "-z", "-q", "--"].map { Array($0.utf8) } + [mountpoint], timeLimitMilliseconds: 0)
  }

  /// Sends a signal and waits for the end; true when the process is gone.
  ///
  /// - Parameter atWork: The limit for a process that uses the processor all the time.
  private static func ends(_ pid: pid_t, by signal: CInt, within milliseconds: Int, atWork limit: Int) -> Bool {
    let descriptor = LinuxProcess.openProcess(pid)
    defer { if let descriptor { close(descriptor) } }
    if kill(pid, signal) != 0 && errno == ESRCH { return true }
    var deadline = Deadline(milliseconds: milliseconds)
    let last = Deadline(milliseconds: limit)
    var used = processorTicks(pid)
    while true {
      if deadline.hasPassed {
        let now = processorTicks(pid)
        guard !last.hasPassed, now > used + workTicks else { break }
        used = now
        deadline = Deadline(milliseconds: workIntervalMilliseconds)
      }
      if let descriptor, !DescriptorIO.waitReadable([descriptor], until: deadline).isEmpty { break }
      if descriptor == nil {
        if kill(pid, 0) != 0 { return true }
        _ = DescriptorIO.waitReadable([], until: Deadline(milliseconds: 5))
      }
      var status: CInt = 0
      // Our own child stays a zombie, and findable by kill, until it is waited for.
      if waitpid(pid, &status, WNOHANG) == pid { return true }
    }
    var status: CInt = 0
    let isReaped = waitpid(pid, &status, WNOHANG) == pid
    return isReaped || kill(pid, 0) != 0 || isZombie(pid)
  }

  private static let workLimitMilliseconds = 300_000
  /// A process at work uses this much of each interval: a tenth, for machines with much else to do.
  private static let workIntervalMilliseconds = 2000
  private static let workTicks: UInt64 = 20

  /// Processor time of all threads so far, in clock ticks (10 ms); 0 when there is no such process.
  private static func processorTicks(_ pid: pid_t) -> UInt64 {
    guard let bytes = try? FileBytes.read("/proc/\(pid)/stat"), let name = bytes.lastIndex(of: UInt8(ascii: ")"))
    else { return 0 }
    // After the name: state is field 3, utime and stime are 14 and 15.
    let fields = bytes[(name + 1)...].split(separator: UInt8(ascii: " "))
    guard fields.count > 12 else { return 0 }
    return fields[11...12].reduce(0) { $0 + (UInt64(String(decoding: $1, as: UTF8.self)) ?? 0) }
  }

  private static func isZombie(_ pid: pid_t) -> Bool {
    guard let bytes = try? FileBytes.read("/proc/\(pid)/stat"),
      let name = bytes.lastIndex(of: UInt8(ascii: ")")), name + 2 < bytes.count
    else { return true }
    return bytes[name + 2] == UInt8(ascii: "Z") || bytes[name + 2] == UInt8(ascii: "X")
  }
}
