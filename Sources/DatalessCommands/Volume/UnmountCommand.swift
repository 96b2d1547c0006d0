import ArgumentParser
import DatalessControl
import DatalessCore
import DatalessDaemon
import Glibc
import SystemPackage

/// `dataless unmount`: ends a volume, or cleans up after a daemon that died.
struct UnmountCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unmount",
    abstract: "End a volume; also one whose daemon has died.",
    discussion: """
      Whoever is blocked on the volume gets ETIMEDOUT. Returns when the mount, the daemon, its socket and its content \
      are gone. The log stays. What programs changed on a volume that was mounted with --scratch is forgotten: how much \
      that was, is said. What was changed on one that was mounted with --state is in its state directory. What was \
      removed and is not given back yet goes with a volume that forgets, and is given back by the next mount otherwise; \
      --wait lets it finish.

      EXAMPLES
        dataless unmount /mnt/project
        dataless unmount /mnt/project --wait --json

      EXIT STATUS
        0 unmounted; 1 failure; 2 usage error; 3 nothing of ours is mounted there; 4 the daemon had to be killed.
      """)

  @Argument(help: ArgumentHelp("A mounted volume.", valueName: "mountpoint"), completion: Completions.mountpoint)
  var mountpoint: PathArgument

  @Flag(
    help: "End it even if changes cannot be kept, because the disk of its state directory is full. [default: fail then]"
  )
  var force = false

  @Flag(help: "Only if its daemon has died; a volume that is served stays, and it fails. [default: also then]")
  var dead = false

  @Flag(name: .customLong("wait"), help: "Wait until what was removed is given back. [default: do not wait]")
  var waitsForTrash = false

  @Flag(help: "Print a JSON object. [default: print nothing, unless there are changes]")
  var json = false

  /// How long an orderly end may take after the daemon said that it has begun.
  private static let timeLimitMilliseconds = 10_000

  func run() throws {
    let resolver = try PathResolver.current()
    guard let location = try resolver.locate(mountpoint.bytes) else { throw ControlError.notAVolume(mountpoint.bytes) }
    guard location.relative.isEmpty else {
      throw CommandFailure(
        "cannot unmount \(mountpoint.description): it is inside a volume (EINVAL). "
          + "Unmount \(TerminalText.escaped(location.mount.mountPoint)) instead.")
    }
    let volume = location.mount
    if dead { try checkIsDead(volume) }
    // Held from here on: what is asked, signalled and removed is the volume that was found.
    let runtime = try Self.runtime(of: volume)
    let record = try? runtime?.record()
    if waitsForTrash { waitForTrash(of: volume) }
    let (daemon, changes) = try end(volume, runtime.map(DaemonIdentity.of) ?? .unknown)
    // The runtime directory and content of a daemon that was dead, or had to be killed.
    StaleSessions.remove()
    if json {
      try StandardOutput().json(
        UnmountAnswer(
          mountpoint: volume.mountPoint, log: record?.logBytes, daemon: daemon, dropped: changes?.dropped,
          kept: changes?.kept))
    } else if daemon == .wasDead {
      Console.note("dataless: the daemon was dead; its mount is removed.")
    } else if let kept = changes?.kept, !kept.isNothing {
      Console.note("dataless: kept: \(ChangesText.lineOfKept(kept))")
    } else if let dropped = changes?.dropped, !dropped.isNothing {
      Console.note("dataless: forgotten: \(ChangesText.line(dropped))")
    }
    if let failure = Self.failure(daemon, volume) { throw failure }
  }

  /// By the lock that a daemon holds as long as it lives. Where that cannot be seen, nothing is done.
  private func checkIsDead(_ volume: MountEntry) throws {
    switch Unmounter.isDead(volume) {
    case true?: return
    case false?:
      throw CommandFailure(
        "cannot unmount \(mountpoint.description): its daemon is running (EBUSY). Without --dead it is asked to end.",
        code: .busy, errno: .resourceBusy)
    case nil:
      throw CommandFailure(
        "cannot unmount \(mountpoint.description): whether its daemon lives is unknown, its lock is gone (ENOENT). "
          + "Without --dead the volume is ended in any case.",
        code: .failed, errno: .noSuchFileOrDirectory)
    }
  }

  /// How long what is left may stay as much as it is: after that the daemon gives nothing back, or says what is not so.
  private static let trashPatience = Duration.seconds(30)

  /// Lets the volume finish to give back what was removed. Whatever goes wrong, it is unmounted then.
  private func waitForTrash(of volume: MountEntry) {
    let line = ProgressLine()
    defer { line.clear() }
    var (least, since) = (TrashCounts(items: .max, bytes: .max), ContinuousClock.now)
    var searched: Int64?
    while let status = try? Blocking.run({
      try await ControlClient.with(volume: volume, timeout: .seconds(5)) { try await $0.status() }
    }), let trash = status.trash {
      line.show(StatusText.trash(trash) + " ...")
      if searched != trash.searchedItems {
        // What is found by it may be more than what was known before.
        (searched, least, since) = (trash.searchedItems, trash, .now)
      } else if trash.items < least.items || trash.bytes < least.bytes {
        least = TrashCounts(items: min(trash.items, least.items), bytes: min(trash.bytes, least.bytes))
        since = .now
      } else if ContinuousClock.now - since > Self.trashPatience {
        return Console.note(
          "dataless: the volume has given nothing back for \(Self.trashPatience.components.seconds) s; it is unmounted all the same."
        )
      }
      usleep(100_000)
    }
  }

  /// nil when there is none that can be trusted. - Throws: EPERM when the volume is none of this user's business.
  private static func runtime(of volume: MountEntry) throws(ControlError) -> VolumeRuntime? {
    do {
      return try VolumeRuntime.open(volume)
    } catch  where error.code == .daemonNotRunning {
      return nil
    }
  }

  /// - Parameter daemon: By the kernel's word; what answers on the socket is asked to end, and believed nothing.
  /// - Returns: What became of it, and what it said of changes that are forgotten.
  private func end(
    _ volume: MountEntry, _ daemon: DaemonIdentity
  ) throws -> (UnmountAnswer.Daemon, AcceptedAnswer?) {
    var changes: AcceptedAnswer?
    do {
      changes = try Blocking.run {
        try await ControlClient.with(volume: volume, timeout: .seconds(5)) { try await $0.unmount() }
      }
    } catch let error as ControlError where error.code == .daemonNotRunning {
      // It may be about to begin or to end; a dead one holds nothing.
      switch daemon {
      case .process, .foreign: break
      case .none, .elsewhere, .unknown:
        guard Unmounter.isHeld(volume) else {
          try Unmounter.removeIfStill(volume)
          return (.wasDead, nil)
        }
        return (try wait(for: .unknown, volume), nil)
      }
    } catch let error as ControlError where !force && Self.isAboutKeeping(error, daemon) {
      throw CommandFailure(
        "cannot unmount \(mountpoint.description): \(TerminalText.escaped(error.answer?.message ?? error.message)) "
          + "(\(error.errno?.name ?? "EIO")). \(Self.remedy(error))")
    } catch is ControlError {
      // Whatever is said instead of an answer, and whoever says it: what is wanted of it is that it ends.
    }
    return (try wait(for: daemon, volume, isKept: changes?.kept != nil), changes)
  }

  /// Whether the daemon goes on because it could not keep what was changed. Of what only answers on the socket nothing
  /// is believed.
  private static func isAboutKeeping(_ error: ControlError, _ daemon: DaemonIdentity) -> Bool {
    guard case .process = daemon else { return false }
    return error.code == .remote && [.noSpace, .diskQuotaExceeded, .ioError].contains(error.errno)
  }

  /// What helps against what keeps changes from being kept: a catalog that is damaged does not want room.
  private static func remedy(_ error: ControlError) -> String {
    guard error.errno == .ioError else {
      return "Make room on the disk of its state directory, then unmount again; or give these changes up with --force."
    }
    guard (error.answer?.message ?? error.message).contains("dataless check") else {
      return "The disk of its state directory fails: see what the kernel says of it, then unmount again; or give these"
        + " changes up with --force."
    }
    return "The volume has to be unmounted for that: copy what you need from it, then give these changes up with"
      + " --force."
  }

  /// - Parameter isKept: Whether what was changed is in a state directory.
  private func wait(
    for daemon: DaemonIdentity, _ volume: MountEntry, isKept: Bool = false
  ) throws -> UnmountAnswer.Daemon {
    switch daemon {
    case .process(let process):
      var onDelay: (() -> Void)?
      if isKept, isatty(2) == 1 { onDelay = { Self.sayDelay() } }
      let isOrderly = Unmounter.endDaemon(
        process, mountpoint: volume.mountPoint, timeLimitMilliseconds: Self.timeLimitMilliseconds,
        onDelay: onDelay)
      guard isOrderly else { return .killed }
    case .none, .foreign:
      try Unmounter.remove(volume.mountPoint)
      return .notItsOwn
    case .elsewhere, .unknown:
      guard Unmounter.waitForEnd(of: volume, timeLimitMilliseconds: Self.timeLimitMilliseconds) else { return .notSeen }
    }
    try Unmounter.removeIfStill(volume)
    return .ended
  }

  private static func sayDelay() {
    Console.note("dataless: waiting for the disk of the state directory, for 5 s at most ...")
  }

  /// What was not as it should be, though the volume is unmounted.
  private static func failure(_ daemon: UnmountAnswer.Daemon, _ volume: MountEntry) -> CommandFailure? {
    let name = TerminalText.escaped(volume.mountPoint)
    switch daemon {
    case .ended, .wasDead: return nil
    case .killed:
      return CommandFailure(
        "the daemon of \(name) did not end in time and was killed (ETIMEDOUT). The log may lack its last records.",
        status: .timedOut)
    case .notItsOwn:
      return CommandFailure(
        "\(name) is unmounted, but what answered on its control socket is not its daemon (EPERM). No process was "
          + "signalled; look at those of user \(volume.userID.map(String.init) ?? "unknown").")
    case .notSeen:
      return CommandFailure(
        "\(name) is unmounted, but its daemon did not end, and cannot be seen from here (ESRCH): it is in another pid "
          + "namespace, or hides. End it where it runs: the pid in its log, on the line volume.mounted, is its own there."
      )
    }
  }
}
