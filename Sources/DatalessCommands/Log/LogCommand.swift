import ArgumentParser
import DatalessControl
import DatalessCore
import SystemPackage

/// `dataless log`: the event log, as columns or JSON.
struct LogCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "log",
    abstract: "Print who materialized what, when, and how long they were blocked.",
    discussion: """
      TARGET is the mountpoint of a volume, which means its session, or a log file, also one whose volume is gone. \
      Prints one row per materialization, in the order of their ends, and rows for everything else that happened. \
      Waits, processes, handles and counters have rows only if --type asks for them. Columns: UTC time; the process \
      that triggered it, and how many more waited; the operation; size; the longest wait; outcome; path. Names are \
      escaped for the terminal.

      Conditions hold together: with --main-thread --blocked '>100ms' a main thread was blocked for more than 100 ms. Of \
      an attempt with more than 64 waiters, --type wait tells of all. A time is 2026-01-02T03:04:05Z (or an offset such as \
      +01:00; without one UTC, or with --local local time), a date, a time of today, or how long ago: 5m.

      EXAMPLES
        dataless log /mnt/project --follow --main-thread --blocked '>100ms'
        dataless log run.jsonl --type materialization --path '**/*.o' --process make --outcome failed

      EXIT STATUS
        0 printed, or nobody reads the output any more; 1 the log cannot be read; 2 usage error; 3 no such volume, or with \
      --follow its daemon was killed.
      """)

  @Argument(help: ArgumentHelp("A mountpoint, or a log file.", valueName: "target"), completion: Completions.mountpoint)
  var target: PathArgument

  @Flag(
    name: [.customShort("f"), .long],
    help: "Go on printing until the volume is unmounted. [default: print what there is]")
  var follow = false

  @Flag(help: "Print every record as one line of JSON, its processes expanded. [default: columns]")
  var json = false

  @Option(
    name: .customLong("type"),
    help: ArgumentHelp(
      "Only records of this type, or of types that begin with it and a dot, such as materialization. Repeatable. "
        + "[default: all]", valueName: "type"))
  var types: [String] = []

  @Option(
    help: ArgumentHelp(
      "Only records of paths that match, from the volume's root. * and ? stop at slashes, ** does not; {a,b} is a or b; "
        + "without a slash the last component is compared. [default: all]", valueName: "glob"),
    transform: GlobOption.parse)
  var path: PathPattern?

  @Option(
    help: ArgumentHelp(
      "Only what a process of this command name or executable did, or one that it started. [default: all]",
      valueName: "name"))
  var process: PathArgument?

  @Option(
    help: ArgumentHelp("Only records of this time or later. [default: all]", valueName: "time"),
    transform: TimeOption.parse)
  var since: TimeOption?

  @Option(
    help: ArgumentHelp("Only records of this time or earlier. [default: all]", valueName: "time"),
    transform: TimeOption.parse)
  var until: TimeOption?

  @Option(
    name: .customLong("outcome"),
    help: ArgumentHelp(
      "Only what ended so: ok, cancelled, failed (with any errno) or an errno such as EIO. Repeatable. [default: all]",
      valueName: "outcome"),
    transform: { text in try VolumeOptions.checked { () throws(FSError) in try LogOutcome.parse(text) } })
  var outcomes: [LogOutcome] = []

  @Option(
    help: ArgumentHelp(
      "Only ends of waits for which a caller was blocked so long: '>100ms', '<=1s', or 100ms for at least. [default: all]",
      valueName: "limit"),
    transform: { text in try VolumeOptions.checked { () throws(FSError) in try BlockedLimit.parse(text) } })
  var blocked: BlockedLimit?

  @Option(
    help: ArgumentHelp("Only what this rule decided something about. [default: all]", valueName: "name"),
    completion: Completions.rule)
  var rule: PathArgument?

  @Flag(help: "Only what main threads called or waited for, as far as the log knows threads. [default: all]")
  var mainThread = false

  @Flag(help: "Group the rows by process, each below the one that started it. [default: by time]")
  var tree = false

  @Flag(help: "Local time in rows, --since and --until. [default: UTC; JSON is always UTC]")
  var local = false

  @Flag(help: "Of a file that holds several sessions, only the one that was mounted last. [default: all]")
  var last = false

  func validate() throws {
    let known = EventType.allCases.map(\.rawValue)
    for type in types where !known.contains(where: { $0 == type || $0.hasPrefix(type + ".") }) {
      throw ValidationError("unknown type '\(type)' (EINVAL): known are \(known.joined(separator: ", ")).")
    }
    if tree, follow || json {
      throw ValidationError(
        "--tree needs the end of the log, and rows: leave --\(follow ? "follow" : "json") out (EINVAL).")
    }
    let filter = filter(now: TimeOption.now)
    if let since = filter.since, let until = filter.until, until < since {
      throw ValidationError("--since is later than --until, so nothing can match (EINVAL): exchange the two.")
    }
    if let (condition, able) = filter.contradiction {
      throw ValidationError(
        "\(condition) can match nothing of the types that --type asks for (EINVAL): what it needs is in "
          + able.joined(separator: ", ") + ".")
    }
  }

  private var zone: LogZone { local ? .local : .utc }

  private func filter(now: Nanoseconds) -> LogFilter {
    var filter = LogFilter(types: types, path: path, process: process?.bytes)
    filter.since = since?.moment(now: now, zone: zone)
    filter.until = until?.moment(now: now, zone: zone)
    filter.outcomes = outcomes
    filter.blocked = blocked
    filter.rule = rule?.bytes
    filter.isOfMainThreads = mainThread
    return filter
  }

  func run() throws {
    let log = try LogTarget.resolve(target.bytes)
    if json { try show(log) } else { try GitHubActions.unobeyed { try show(log) } }
  }

  private func show(_ log: LogTarget) throws {
    if let path, let volume = log.volume {
      try GlobOption.check(path, option: "--path", on: volume, argument: target)
    }
    let isMounted = try LogFlush.flush(log).isMounted
    let isLive = follow && isMounted
    let filter = filter(now: TimeOption.now)
    let style = LogPrinter.Style(isJSON: json, isLive: isLive, isMounted: isMounted, zone: zone, isTree: tree)
    let session = last && !log.isVolume ? try LogFile.lastSession(of: log.log, owner: log.foreignOwner)?.name : nil
    guard isLive, let volume = log.volume else {
      let printer = try LogPrinter(log, filter: filter, style: style, session: session)
      try printer.drain()
      try printer.finish()
      if follow, !printer.hasEnded, let volume = log.volume { throw Self.daemonEnded(volume) }
      return
    }
    try Blocking.runWhileRead {
      let printer = try LogPrinter(log, filter: filter, style: style, session: session)
      try printer.drain()
      try await ControlClient.with(volume: volume) { client in
        // What comes over the socket only says that there is something to read: the file has every record in order.
        try await client.events(onOpen: { try printer.drain() }) { _ in
          try printer.drain()
          return !printer.hasEnded
        }
      }
      try Task.checkCancellation()
      try printer.drain()
      try printer.finish()
      guard printer.hasEnded else { throw Self.daemonEnded(volume) }
    }
  }

  private static func daemonEnded(_ volume: MountEntry) -> CommandFailure {
    CommandFailure(
      "cannot follow the log any longer: the volume's daemon ended without unmounting. "
        + "`dataless unmount \(ShellText.word(volume.mountPoint))` cleans up.", status: .noVolume,
      errno: .connectionRefused)
  }
}

/// Has the volume of a log, if it is mounted, write what it has recorded so far.
enum LogFlush {
  struct Outcome {
    /// Whether the volume is mounted and its daemon lives, so that the log goes on.
    var isMounted: Bool
    /// Records that are not in the file.
    var lost: Int64 = 0
  }

  /// When the daemon is dead or does not answer, its log is read all the same, and a message says that it may be
  /// incomplete.
  static func flush(_ log: LogTarget) throws -> Outcome {
    guard log.volume != nil else { return Outcome(isMounted: false) }
    do {
      return Outcome(isMounted: true, lost: try Blocking.run { try await log.flush() })
    } catch let error as ControlError {
      Console.error("the log may lack its last records: \(error.message)")
      return Outcome(isMounted: error.code != .daemonNotRunning)
    }
  }
}
