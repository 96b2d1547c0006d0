import DatalessControl
import Glibc

/// Starts daemons.
public struct DaemonLauncher: Sendable {
  /// A volume whose daemon is still tied to this process: it ends when this process does.
  public struct Launched: Sendable {
    public let volume: ReadyVolume
    /// Our child; equal to `volume.pid` unless the daemon runs in a pid namespace of its own.
    public let pid: Int32
    /// Held open as long as the volume shall live; close-on-exec, so that no command inherits it.
    let tie: CInt

    /// Lets the daemon go on alone.
    public func detach() {
      _ = DescriptorIO.write([HelperProcess.detachByte], to: tie)
      close(tie)
    }

    /// Ends the tie: a daemon that was not detached begins to end.
    public func release() { close(tie) }
  }

  private let executable: [UInt8]
  private let arguments: [[UInt8]]?
  private let timeLimitSeconds: Int

  /// - Parameters:
  ///   - executable: Default: this program.
  ///   - arguments: Default: `dataless mount --foreground SOURCE MOUNTPOINT`, for `ps`.
  ///   - timeLimitSeconds: How long a volume may take to answer, at least 1. Default 30.
  public init(executable: [UInt8]? = nil, arguments: [[UInt8]]? = nil, timeLimitSeconds: Int = 30) {
    self.executable = executable ?? HelperProcess.ownExecutable()
    self.arguments = arguments
    self.timeLimitSeconds = timeLimitSeconds
  }

  /// Starts the daemon of one volume and waits until the volume answers.
  ///
  /// A process that ends while it waits, by Ctrl-C or SIGKILL, takes the daemon with it: the daemon watches the pipe.
  /// SIGPIPE is ignored in this process from here on: a daemon that ends early is an error with words, not a death.
  ///
  /// - Throws: `LifecycleError` with the daemon's own reason and status, or status 4 when the time is up.
  public func launch(_ configuration: VolumeConfiguration) throws -> Launched {
    let arguments =
      self.arguments
      ?? ["dataless", "mount", "--foreground"].map { Array($0.utf8) }
      + [configuration.sourceBytes, configuration.mountpoint]
    let line = try WireCoding.encode(configuration) + [UInt8(ascii: "\n")]
    signal(SIGPIPE, SIG_IGN)
    let helper = try HelperProcess.spawn(
      role: InternalEntryPoint.daemonRole, executable: executable, arguments: arguments)
    _ = helper.send(line)
    do {
      let volume = try waitUntilReady(helper, configuration)
      close(helper.output)
      close(helper.words)
      return Launched(volume: volume, pid: helper.pid, tie: helper.input)
    } catch {
      helper.closePipes()
      throw error
    }
  }

  private func waitUntilReady(
    _ helper: HelperProcess, _ configuration: VolumeConfiguration
  ) throws(LifecycleError) -> ReadyVolume {
    let deadline = Deadline(milliseconds: timeLimitSeconds * 1000)
    var message: [UInt8] = []
    var words: [UInt8] = []
    var open: [CInt] = [helper.output, helper.words]
    while open.contains(helper.output) {
      let readable = DescriptorIO.waitReadable(open, until: deadline)
      guard !readable.isEmpty else {
        if deadline.hasPassed { throw timedOut(helper, configuration) }
        continue
      }
      for descriptor in readable {
        let bytes = DescriptorIO.readSome(descriptor) ?? []
        if bytes.isEmpty { open.removeAll { $0 == descriptor } }
        if descriptor == helper.output { message += bytes } else { words = Array((words + bytes).suffix(4096)) }
      }
      if let answer = try? ReadyMessage.first(in: message) {
        return try volume(from: answer, helper, words)
      }
    }
    throw LifecycleError(
      "cannot mount: the daemon ended before the volume answered (\(reap(helper)))\(Self.lastLine(words)). "
        + "Look for its crash in the system's journal, or try --foreground.")
  }

  private func volume(
    from answer: ReadyMessage, _ helper: HelperProcess, _ words: [UInt8]
  ) throws(LifecycleError) -> ReadyVolume {
    switch answer {
    case .ready(let volume): return volume
    case .error(let message, let exitCode):
      // The pipe of its words may still hold what libfuse or fusermount3 said; the daemon has written all of it.
      var all = words
      while !DescriptorIO.waitReadable([helper.words], until: Deadline(milliseconds: 0)).isEmpty,
        let more = DescriptorIO.readSome(helper.words), !more.isEmpty
      { all += more }
      _ = reap(helper)
      throw LifecycleError(message + Self.lastLine(all), exitCode: exitCode)
    }
  }

  private func timedOut(_ helper: HelperProcess, _ configuration: VolumeConfiguration) -> LifecycleError {
    helper.abandon()
    Unmounter.detachWithoutWaiting(configuration.mountpoint)
    return LifecycleError(
      "cannot mount: the volume did not answer within \(timeLimitSeconds) s. Check that "
        + "\(ErrorText.quoted(configuration.sourceBytes)) answers (ls -d), then try again.", exitCode: 4)
  }

  /// How the child ended, in words; waits at most 2 s for it.
  private func reap(_ helper: HelperProcess) -> String {
    let deadline = Deadline(milliseconds: 2000)
    var status: CInt = 0
    while true {
      let result = waitpid(helper.pid, &status, WNOHANG)
      if result == helper.pid { return CommandOutcome(waitStatus: status).words }
      if result < 0 && errno != EINTR { return CommandOutcome.lostWords }
      guard !deadline.hasPassed else {
        helper.abandon()
        return "it was ended"
      }
      // No descriptor tells of a child's end everywhere; a millisecond's pause between two looks costs nothing here.
      _ = DescriptorIO.waitReadable([], until: Deadline(milliseconds: 1))
    }
  }

  /// ` (words)` from the last line that a child wrote to its standard error; empty when it wrote none.
  static func lastLine(_ words: [UInt8]) -> String {
    guard let line = words.split(separator: UInt8(ascii: "\n")).last, !line.isEmpty else { return "" }
    return " [\(TerminalText.escaped(line))]"
  }
}
