import ArgumentParser
import DatalessControl
import DatalessCore
import Glibc
import SystemPackage

/// `dataless top`: who waits for what, as it happens.
struct TopCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "top",
    abstract: "Show who waits for what, for how long and where, as it happens.",
    discussion: """
      On a terminal a screen that is renewed; elsewhere a block of lines for each look. Keys: b, p and f sort by blocked \
      time, process and path (s: the next of them), r reverses, / filters by path or program, t shows stacks, j and k or \
      arrows scroll, space pauses, q quits. Touches no volume. At most 64 callers of each attempt are listed. Coordinated accesses \
      that wait stand below callers, with those for whom they do: no thread is blocked by them.

      EXAMPLES
        dataless top /mnt/project
        dataless top /mnt/project --json --interval 5s --filter .jpg

      EXIT STATUS
        0 quit, --count was reached, or the volume was unmounted; 1 failure; 2 usage error; 3 no such volume, or its daemon \
      was killed; 4 timed out; 130 interrupted.
      """)

  @Argument(help: ArgumentHelp("A mounted volume.", valueName: "mountpoint"), completion: Completions.mountpoint)
  var mountpoint: PathArgument

  @Option(
    help: ArgumentHelp("Time between two looks, at least 100ms. [default: 1s]", valueName: "duration"),
    transform: Self.interval)
  var interval: Duration = .seconds(1)

  @Option(help: ArgumentHelp("End after so many looks. [default: go on]", valueName: "n"), transform: Self.count)
  var count: Int?

  @Option(
    help: ArgumentHelp("blocked (longest first), process or path. [default: blocked]", valueName: "order"))
  var sort: TopView.Order = .blocked

  @Option(
    help: ArgumentHelp("Only callers whose path or program contains this. [default: all]", valueName: "text"))
  var filter: String = ""

  @Flag(help: "Show where in its program each caller stands. [default: not]")
  var stacks = false

  @Flag(help: "Print each look as one line of JSON. [default: a screen, or text]")
  var json = false

  private static func interval(_ text: String) throws -> Duration {
    let value = try VolumeOptions.checked { () throws(FSError) in try DurationText.parse(text) }
    guard value >= .milliseconds(100), value <= .seconds(86_400) else {
      throw ValidationError("malformed --interval '\(text)': expected 100ms to 24h (EINVAL).")
    }
    return value
  }

  private static func count(_ text: String) throws -> Int {
    guard let count = Int(text), count > 0 else {
      throw ValidationError("malformed --count '\(text)': expected a whole number above 0 (EINVAL).")
    }
    return count
  }

  func run() throws {
    let isScreen = !json && TopTerminal.isUsable
    // Before any thread is there; without a screen signals do what they always do.
    let signals = isScreen ? SignalPipe([SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGWINCH]) : nil
    let volume = try VolumeLocator.volume(mountpoint.bytes)
    guard let feed = TopFeed(volume) else {
      throw CommandFailure(ControlError.system(Errno(rawValue: errno), "cannot make a pipe"))
    }
    var loop = TopLoop(
      feed: feed, signals: signals, view: TopView(order: sort, filter: filter, showsStacks: stacks),
      interval: interval, looks: count, isJSON: json)
    defer { TopTerminal.leave() }
    if isScreen { TopTerminal.enter() }
    do {
      try loop.run()
    } catch let error as ControlError {
      TopTerminal.leave()
      let isThere = try MountTable.current().entries.contains {
        $0.mountID == volume.mountID && $0.device == volume.device
      }
      if isThere { throw CommandFailure(error) }
      Console.error("\(TerminalText.escaped(volume.mountPoint)) was unmounted")
    }
  }
}

extension TopView.Order: ExpressibleByArgument {}
