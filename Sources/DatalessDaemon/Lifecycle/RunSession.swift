import DatalessControl
import Glibc

/// What `dataless run` adds to a volume: the command, whose materializations count, and how many are allowed.
public struct RunPlan: Sendable, Codable, Equatable {
  /// The command with its arguments, after `{}` was replaced; for the record `run.started`.
  public var command: [[UInt8]]
  /// The process whose descendants' materializations count.
  public var rootPid: Int32
  /// Files that may be materialized before the budget is exceeded, at least 0; nil means any number.
  public var maxFiles: Int64?
  /// Bytes that may be materialized before the budget is exceeded, at least 0; nil means any number.
  public var maxBytes: Int64?

  public init(command: [[UInt8]], rootPid: Int32, maxFiles: Int64?, maxBytes: Int64?) {
    self.command = command
    self.rootPid = rootPid
    self.maxFiles = maxFiles
    self.maxBytes = maxBytes
  }
}

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
      let replaced = PlaceholderSubstitution.replace(placeholder, in: command, with: mountpoint.path)
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

  /// Runs the command and waits for it; what it leaves running goes on.
  ///
  /// - Parameters:
  ///   - ignored: Signals that the command has to find ignored, as we did.
  ///   - output: What becomes its standard output; nil for ours.
  public func runCommand(ignoring ignored: [CInt] = [], output: CInt? = nil) -> CommandRunner.Result {
    guard let command = configuration.run?.command else { return .notStarted(ENOENT) }
    return runner.run(
      command, setting: [Array("DATALESS_MOUNT=".utf8) + configuration.mountpoint], ignoring: ignored,
      output: output, closing: launched.tie)
  }

  /// The first signal that told us to end while the command ran; nil without one.
  public var interruption: Int32? { runner.interruption }

  /// Waits for what the command left running; what it materializes counts.
  ///
  /// - Parameters:
  ///   - milliseconds: For how long, at least 0.
  ///   - attempts: How many attempts are under way for the command. Asked when no process is left.
  ///   - notice: Called once, if it takes long.
  public func waitForChildren(
    milliseconds: Int, attempts: () -> Int, notice: (ChildrenWait) -> Void
  ) -> ChildrenWait {
    runner.waitForChildren(milliseconds: milliseconds, daemon: launched.pid, attempts: attempts, notice: notice)
  }

  /// Finds out which of those that are left hold the volume, and ends these.
  ///
  /// - Parameters:
  ///   - waiting: Processes that wait for an answer of the volume.
  ///   - all: Ends the others, too.
  public func endChildren(_ left: [RemainingProcess], waiting: Set<Int32>, all: Bool) -> [RemainingProcess] {
    var left = left
    VolumeHolders(device: volume.device, waiting: waiting).look(at: &left)
    runner.end(&left, all: all)
    return left
  }

  /// Finds others that hold the volume.
  ///
  /// - Parameter waiting: Processes that wait for an answer of the volume.
  public func outsiders(waiting: Set<Int32>) -> [RemainingProcess] {
    VolumeHolders(device: volume.device, waiting: waiting).outsiders(except: [launched.pid])
  }

  /// Whether the daemon has ended before it was asked to.
  public var hasDaemonEnded: Bool { runner.hasReaped(launched.pid) }

  /// Ends the volume and leaves nothing behind but the log; takes a few seconds at most, whatever still reads.
  ///
  /// - Parameter children: Those of `endChildren`; they may have waited for the volume's end.
  public func end(_ children: [RemainingProcess] = []) {
    if !hasDaemonEnded {
      Unmounter.endDaemon(child: launched.pid, mountpoint: configuration.mountpoint)
    } else {
      try? Unmounter.detach(configuration.mountpoint)
    }
    launched.release()
    runner.waitForEnd(of: children)
    mountpoint.remove()
    StaleSessions.remove(caches: [configuration.cacheDirectory])
  }
}
