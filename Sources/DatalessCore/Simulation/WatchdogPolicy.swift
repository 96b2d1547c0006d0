internal import SystemPackage

/// When a main thread that waits counts as hanging, and what is done then.
public struct WatchdogPolicy: Sendable, Equatable {
  /// Each does what those before it do.
  public enum Action: String, Sendable, CaseIterable {
    /// The log says so.
    case log
    /// The log has the thread's stack, too.
    case report
    /// Then the process gets SIGABRT.
    case abort
  }

  /// How long a main thread may wait; more than 0.
  public var mainThread: Nanoseconds
  public var action: Action
  /// Which processes count; one of them must match. Empty: all do.
  public var apps: [ProcessMatch]

  public init(mainThread: Nanoseconds, action: Action = .report, apps: [ProcessMatch] = []) {
    self.mainThread = mainThread
    self.action = action
    self.apps = apps
  }

  /// Whether a process counts. - Parameter facts: nil when nothing is known of it.
  public func counts(_ facts: ProcessFacts?) -> Bool {
    apps.isEmpty || facts.map { facts in apps.contains { $0.matches(facts) } } == true
  }

  /// As it is written, but for the processes.
  public var text: String { "\(action.rawValue)=\(mainThread.rawValue)ns" }

  public static let expected = "off, a duration such as 1s, or ACTION=DURATION (log, report or abort) such as abort=1s"

  /// The short form, which names no processes: `off` is nil.
  ///
  /// - Throws: EINVAL, naming the part that is wrong.
  public static func parse(_ text: String) throws(FSError) -> WatchdogPolicy? {
    guard text != "off" else { return nil }
    var (action, duration) = (Action.report, text)
    if let equals = text.firstIndex(of: "=") {
      guard let named = Action(rawValue: String(text[..<equals])) else {
        throw FSError(.invalidArgument, "malformed watchdog '\(text)': expected \(expected)")
      }
      (action, duration) = (named, String(text[text.index(after: equals)...]))
    }
    let (seconds, attoseconds) = try DurationText.parse(duration).components
    let limit = Nanoseconds.seconds(seconds) + Nanoseconds(attoseconds / 1_000_000_000)
    guard limit > .zero else {
      throw FSError(.invalidArgument, "malformed watchdog '\(text)': a limit is more than 0; to have none write 'off'")
    }
    return WatchdogPolicy(mainThread: limit, action: action)
  }
}
