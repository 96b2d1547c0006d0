import DatalessControl
import Glibc

/// One `dataless run`: a temporary mountpoint, a fresh volume that lives no longer than this process, a command.
///
/// The order of what happens when is the caller's; every step is bounded. If this process is killed at any point, the
/// daemon sees the end of our pipe, ends the volume and removes the mountpoint.
public final class RunSession {
  public let configuration: VolumeConfiguration
  public let volume: ReadyVolume
  private let launched: DaemonLauncher.Launched
  private let mountpoint: TemporaryMountpoint
  private let runner = CommandRunner()

  private init(
    configuration: VolumeConfiguration, launched: DaemonLauncher.Launched, mountpoint: TemporaryMountpoint
  ) {
    self.configuration = configuration
    self.launched = launched
    self.mountpoint = mountpoint
    volume = launched.volume
  }

  /// Makes the mountpoint and mounts the volume.
  ///
  /// - Parameters:
  ///   - command: Program and arguments, with the placeholder.
  ///   - placeholder: Replaced by the mountpoint in every argument.
  ///   - say: Receives a sentence for the user about what was cleaned up.
  /// - Throws: `LifecycleError`; nothing is left behind then.
  public static func start(
    _ plan: VolumePlan, command: [[UInt8]], placeholder: [UInt8], maxFiles: Int64?, maxBytes: Int64?,
    launcher: DaemonLauncher = DaemonLauncher(), preflight: PreflightChild = PreflightChild(), say: (String) -> Void
  ) throws -> RunSession {
    let mountpoint = try TemporaryMountpoint.make(runtime: SessionPaths.runtimeDirectory(), session: plan.session)
    do {
      let replaced = Placeholders.replace(placeholder, in: command, with: mountpoint.path)
      let run = RunPlan(command: replaced, rootPid: getpid(), maxFiles: maxFiles, maxBytes: maxBytes)
      let configuration = try plan.configure(mountpoint: mountpoint.path, run: run, preflight: preflight, say: say)
      // Before the daemon starts, so that it finds the ancestors of every caller up to us.
      guard LinuxProcess.becomeSubreaper() else {
        throw LifecycleError("cannot run: prctl(PR_SET_CHILD_SUBREAPER) failed. A kernel from 3.4 on is needed.")
      }
      let launched = try launcher.launch(configuration)
      return RunSession(configuration: configuration, launched: launched, mountpoint: mountpoint)
    } catch {
      mountpoint.remove()
      throw error
    }
  }

  /// Runs the command and waits for it; its background descendants go on and find the volume gone.
  ///
  /// - Parameter ignored: Signals that the command has to find ignored, as we did.
  public func runCommand(ignoring ignored: [CInt] = []) -> CommandRunner.Result {
    guard let command = configuration.run?.command else { return .notStarted(ENOENT) }
    return runner.run(
      command, setting: [Array("DATALESS_MOUNT=".utf8) + configuration.mountpoint], ignoring: ignored,
      closing: launched.tie)
  }

  /// Whether the daemon has ended before it was asked to.
  public var hasDaemonEnded: Bool { runner.hasReaped(launched.pid) }

  /// Ends the volume and leaves nothing behind but the log; takes a few seconds at most, whatever still reads.
  public func end() {
    if !hasDaemonEnded {
      Unmounter.endDaemon(pid: launched.pid, mountpoint: configuration.mountpoint)
    } else {
      try? Unmounter.detach(configuration.mountpoint)
    }
    launched.release()
    mountpoint.remove()
    Leftovers.remove(caches: [configuration.cacheDirectory])
  }
}
