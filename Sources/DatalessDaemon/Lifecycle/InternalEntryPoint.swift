import DatalessControl
import DatalessStacks
import Glibc

/// Where a process begins that this program starts from its own executable: the daemon, the checks before a mount,
/// and the two that look at stacks. They are no commands, so that the help for users stays short.
public enum InternalEntryPoint {
  static let daemonRole = "daemon"
  static let preflightRole = "preflight"

  /// Does what this process was started for, and ends the process. Returns at once in a process that a user started.
  ///
  /// Must be the first statement of a synchronous `main`: signals are blocked and no thread may exist yet.
  public static func runIfRequested() {
    guard let value = getenv(HelperProcess.variable) else { return }
    let role = String(cString: value)
    // Programs that the daemon starts, fusermount3 above all, must not take the variable as meant for them.
    unsetenv(HelperProcess.variable)
    if let role = StackHelper.Role(rawValue: role) { exit(StackHelper.serve(role)) }
    guard fcntl(HelperProcess.inputDescriptor, F_GETFL) >= 0, fcntl(HelperProcess.outputDescriptor, F_GETFL) >= 0
    else { return }
    closeInherited()
    switch role {
    case daemonRole: exit(serveDaemon())
    case preflightRole: exit(servePreflight())
    default: return
    }
  }

  /// Descriptors that a shell or a build tool left open would live as long as the daemon; ours are kept, close-on-exec.
  private static func closeInherited() {
    closefrom(HelperProcess.outputDescriptor + 1)
    for descriptor in [HelperProcess.inputDescriptor, HelperProcess.outputDescriptor] {
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }
  }

  private static func serveDaemon() -> Int32 {
    signal(SIGPIPE, SIG_IGN)
    let output = HelperProcess.outputDescriptor
    guard let line = DescriptorIO.readLine(HelperProcess.inputDescriptor) else { return 1 }
    let configuration: VolumeConfiguration
    do {
      configuration = try WireCoding.decode(VolumeConfiguration.self, from: line, named: "the volume's configuration")
    } catch {
      return report(.error(message: error.message, exitCode: 1), to: output)
    }
    return DaemonProcess.serve(
      configuration, launcher: HelperProcess.inputDescriptor, makeVolume: VolumeFactory.make,
      ready: { message in
        if case .ready = message { leaveLauncher() }
        _ = report(message, to: output)
        close(output)
      })
  }

  private static func servePreflight() -> Int32 {
    signal(SIGPIPE, SIG_IGN)
    var restored = SignalSet.ending
    pthread_sigmask(SIG_UNBLOCK, &restored, nil)
    return PreflightChild.serve(input: HelperProcess.inputDescriptor, output: HelperProcess.outputDescriptor)
  }

  private static func report(_ message: ReadyMessage, to descriptor: CInt) -> Int32 {
    guard let line = try? message.line() else { return 1 }
    return DescriptorIO.write(line, to: descriptor) ? 0 : 1
  }

  /// Nothing of the process that started this one reaches it from here on.
  ///
  /// Only once the volume is mounted: an automount point lets the process group of systemd's own `mount` pass, and
  /// makes everybody else wait for the mount, so a daemon that had left that group would wait for itself
  /// (autofs_oz_mode of fs/autofs/autofs_i.h). Until then a Ctrl-C in the foreground ends the attempt to mount.
  private static func leaveLauncher() {
    // A session of its own: no terminal, and no Ctrl-C that is meant for the command in the foreground.
    setsid()
    // Nobody reads our words any more; a full pipe must never stop the daemon.
    let null = open("/dev/null", O_WRONLY | O_CLOEXEC)
    guard null >= 0 else { return }
    dup2(null, 2)
    close(null)
  }
}
