import SystemPackage

/// The log that a TARGET argument means, and the volume that still writes it.
public struct LogTarget: Sendable {
  public var log: [UInt8]
  /// nil when the volume is not mounted any more.
  public var volume: MountEntry?
  /// The session of that volume.
  public var session: String?
  /// Whether the argument was a path on the volume, which means its session alone; a file means all that is in it.
  public var isVolume = false
  /// Whose word `log` is: the other user whose volume root looks at; nil for what this user or root itself named.
  public var foreignOwner: UInt32?

  /// A path on a mounted volume means the log of that volume; any other path is a log file.
  ///
  /// - Throws: `ControlError.notAVolume` for a directory elsewhere; `.system` when there is no such file (ENOENT), or
  ///   it cannot be read; `.daemonNotRunning` when a dead daemon left nothing that names its log; as
  ///   `PathResolver.resolve`.
  public static func resolve(_ argument: [UInt8]) throws(ControlError) -> LogTarget {
    let resolver = try PathResolver.current()
    if let location = try resolver.locate(argument) {
      do {
        let record = try VolumeLocator.record(of: location.mount)
        return LogTarget(
          log: record.logBytes, volume: location.mount, session: record.session, isVolume: true,
          foreignOwner: VolumeLocator.isOwn(location.mount) ? nil : location.mount.userID)
      } catch  where error.code == .system && error.errno == .noSuchFileOrDirectory {
        throw .daemonNotRunning(location.mount.mountPoint)
      }
    }
    let path = try resolver.resolve(argument)
    let session: String?
    do {
      session = try lastSession(of: path)
    } catch  where error.errno == .isDirectory {
      throw .notAVolume(argument)
    }
    guard let session, let volume = VolumeLocator.volume(session: session) else { return LogTarget(log: path) }
    return LogTarget(log: path, volume: volume, session: session)
  }

  /// Has the daemon write what it has recorded so far. Does nothing for a volume that is not mounted.
  ///
  /// - Returns: How many records are not in the file: lost, or waiting for a disk that does not take them.
  /// - Throws: `ControlError`: `.daemonNotRunning` when it died, `.timedOut`.
  public func flush() async throws -> Int64 {
    guard let volume else { return 0 }
    return try await ControlClient.with(volume: volume) { try await $0.flushLog().lost }
  }

  /// The session of the last whole record of a log; nil when there is none.
  private static func lastSession(of path: [UInt8]) throws(ControlError) -> String? {
    let tail = try FileBytes.readTail(path, bytes: 256 << 10)
    for line in tail.split(separator: UInt8(ascii: "\n")).reversed() {
      if let session = LogRecord(line: Array(line))?.session { return session }
    }
    return nil
  }
}
