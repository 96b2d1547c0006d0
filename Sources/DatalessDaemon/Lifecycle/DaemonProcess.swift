import DatalessControl
import Glibc
import Synchronization

/// The life of one volume in this process: prepare signals, start, say so, wait for the end.
public enum DaemonProcess {
  /// Serves a volume until it ends. Called on the main thread of a process that does nothing else.
  ///
  /// - Parameters:
  ///   - configuration: Checked by `MountPreflight`.
  ///   - launcher: Reading end of the launcher's pipe: the byte `d` means go on alone, its end means end. nil for a
  ///     volume in the foreground.
  ///   - makeVolume: Makes the volume; nothing is mounted yet when it returns.
  ///   - ready: Called once the volume answers, or with the reason why it never will.
  /// - Returns: The exit status.
  static func serve(
    _ configuration: VolumeConfiguration, launcher: CInt?,
    makeVolume: (VolumeConfiguration) throws -> any VolumeRunning,
    ready: (ReadyMessage) -> Void
  ) -> Int32 {
    let signals = SignalWaiter(isForeground: launcher == nil)
    umask(0o077)
    // The daemon must not keep any directory busy, least of all one that its own mount covers.
    _ = chdir("/")
    DescriptorLimit.raise()
    if configuration.logIsDefault {
      LogFiles.rotate(directory: CPath.parent(configuration.log), keeping: SessionPaths.logsKept)
    }
    let volume: any VolumeRunning
    do {
      let bound: ProcessHandle? = try configuration.endsWith.map { pid in try BoundProcess.open(pid) }
      volume = try makeVolume(configuration)
      if let bound {
        BoundProcess.whenEnded(bound) { [volume] in volume.requestEnd(reason: "process_ended") }
      }
      observeEnd(of: volume, signals: signals, configuration: configuration, launcher: launcher)
      try volume.start()
    } catch {
      removeMountpoint(configuration)
      let failure = (error as? LifecycleError) ?? LifecycleError("cannot mount: \(error)")
      ready(.error(message: failure.message, exitCode: failure.exitCode))
      return failure.exitCode
    }
    ready(.ready(describe(configuration)))
    let status = volume.runUntilEnded()
    removeMountpoint(configuration)
    return status
  }

  /// Serves a volume in this process, which keeps its terminal, until SIGINT, SIGTERM or an unmount. A service manager
  /// is told when the volume answers (`Type=notify`).
  ///
  /// - Parameter ready: Called once the volume answers, or with the reason why it never will.
  /// - Returns: The exit status.
  public static func serveInForeground(
    _ configuration: VolumeConfiguration, ready: (ReadyMessage) -> Void
  ) -> Int32 {
    serve(configuration, launcher: nil, makeVolume: VolumeFactory.make) { message in
      ready(message)
      if case .ready(let volume) = message { ServiceNotification.ready(volume) }
    }
  }

  private static func observeEnd(
    of volume: any VolumeRunning, signals: SignalWaiter, configuration: VolumeConfiguration, launcher: CInt?
  ) {
    signals.start(
      first: {
        if launcher == nil { ServiceNotification.stopping() }
        volume.requestEnd(reason: $0)
      },
      second: { Unmounter.detachWithoutWaiting(configuration.mountpoint) })
    guard let launcher else { return }
    DetachedThread.start {
      let first = DescriptorIO.readSome(launcher, limit: 1)
      close(launcher)
      if first != [HelperProcess.detachByte] { volume.requestEnd(reason: "launcher_ended") }
    }
  }

  /// The device is read from the mount table, by text: the volume itself is never touched by its own daemon.
  private static func describe(_ configuration: VolumeConfiguration) -> ReadyVolume {
    let device = (try? MountTable.current())?.datalessMount(at: configuration.mountpoint)?.device ?? ""
    return ReadyVolume(
      mountpoint: configuration.mountpoint, log: configuration.log, session: configuration.session, pid: getpid(),
      device: device, warnings: configuration.warnings)
  }

  /// The temporary mountpoint of `run` goes with its volume, also when `run` was killed. rmdir(2) of a directory that
  /// something is still mounted on fails, and does not reach into it.
  private static func removeMountpoint(_ configuration: VolumeConfiguration) {
    guard configuration.run != nil, let runtime = try? SessionPaths.openRuntime(configuration.runtimeDirectory) else {
      return
    }
    TemporaryMountpoint.remove(configuration.mountpoint, of: runtime)
  }
}
