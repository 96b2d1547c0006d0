import ArgumentParser
import DatalessControl
import DatalessCore

/// `dataless stack`: where everybody stands who waits.
struct StackCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stack",
    abstract: "Print the stacks of callers that are blocked right now.",
    discussion: """
      Nothing is stopped and no debugger is attached: a debugger would hang on such a caller. Functions, files and lines \
      come from symbols and debug information, which may lie in files of their own (/usr/lib/debug, .gnu_debuglink); \
      Python's functions from the interpreter. Other users' processes can be looked at by root's daemon only.

      Coordinated accesses that wait are named, too, with those for whom they do, and with the presenters that have not \
      answered. They have no stack: no thread is blocked by them.

      EXAMPLES
        dataless stack /mnt/project
        dataless stack /mnt/project --pid 4711 --json

      EXIT STATUS
        0 printed (also when nobody waits); 1 failure; 2 usage error; 3 no such volume, or its daemon is not running; \
      4 timed out.
      """)

  @Argument(help: ArgumentHelp("A mounted volume.", valueName: "mountpoint"), completion: Completions.mountpoint)
  var mountpoint: PathArgument

  @Option(
    help: ArgumentHelp("Only the threads of this process. [default: everybody]", valueName: "pid"),
    transform: Self.processID)
  var pid: Int32?

  @Flag(help: "Print each caller as one line of JSON. [default: text]")
  var json = false

  private static func processID(_ text: String) throws -> Int32 {
    guard let pid = Int32(text), pid > 0 else {
      throw ValidationError("malformed process id '\(text)': expected a whole number above 0 (EINVAL).")
    }
    return pid
  }

  func run() throws {
    let pid = pid
    let what = "cannot take the stacks of callers of \(mountpoint.description)"
    let (list, coordination, others) = try RemoteCall.run(mountpoint, failure: what) { client in
      let list = try await client.stacks(pid: pid)
      let isNobody = pid != nil && list.callers.isEmpty
      return (list, try await Self.coordination(client), isNobody ? try await client.status().blockedCallers : 0)
    }
    var intents = coordination?.waitingIntents(of: pid) ?? []
    let unlisted = coordination?.unlistedWaiting ?? 0
    if unlisted > 0, !intents.isEmpty { intents[intents.count - 1].unlisted = unlisted }
    // An intent that waits for content is told once, as the intent.
    let callers = list.callers.filter { coordination == nil || !$0.waiter.isIntent }
    let output = StandardOutput()
    for caller in callers {
      if json {
        try output.line(json: caller)
      } else {
        for line in Self.lines(caller) { try output.line(line) }
      }
    }
    for intent in intents {
      if json {
        try output.line(json: intent)
      } else {
        for line in Self.lines(intent) { try output.line(line) }
      }
    }
    if unlisted > 0 {
      if !json { try output.line(Self.unlisted(unlisted)) }
    } else if callers.isEmpty, intents.isEmpty, !json {
      let all = Int64(coordination?.waitingIntents(of: nil).count ?? 0)
      try output.line(Self.nobody(of: pid, others: others.plus(all)))
    }
    try output.flush()
  }

  /// `6,450 more coordinated accesses wait, and are not listed`.
  static func unlisted(_ count: Int64) -> String {
    let accesses = HumanText.count(count, "more coordinated access", plural: "more coordinated accesses")
    return "\(accesses) \(count == 1 ? "waits, and is" : "wait, and are") not listed"
  }

  /// - Parameter others: How many callers wait that are of other processes.
  static func nobody(of pid: Int32?, others: Int64) -> String {
    guard let pid else { return "nobody waits" }
    guard others > 0 else { return "nobody of process \(pid) waits, and nobody else" }
    return "nobody of process \(pid) waits; \(HumanText.count(others)) \(others == 1 ? "other does" : "others do")"
  }

  /// nil where the daemon is older than coordinated accesses.
  private static func coordination(_ client: ControlClient) async throws -> CoordinationStatus? {
    do {
      return try await client.coordination()
    } catch let error as ControlError where error.code == .otherVersion {
      return nil
    }
  }

  static func lines(_ caller: BlockedCaller) -> [String] {
    let path = caller.pathBytes.isEmpty ? "." : TerminalText.escaped(caller.pathBytes)
    return WaiterText.lines([caller.waiter], count: 1, indent: "").map { "\($0): \(path)" }
      + (caller.stack.map { StackText.lines($0, indent: "  ") } ?? ["  no stack: \(StackText.reason(caller.outcome))"])
  }

  /// `editor[10] (intent 7), to write a and 2 more, waiting for 3.10 s, at b behind sync[12] (intent 5)`.
  static func lines(_ waiting: WaitingIntent) -> [String] {
    let intent = waiting.intent
    let others = intent.reads.plus(intent.writes).minus(1)
    var text = "\(who(intent)), to \(CoordinationText.use(reads: intent.reads, writes: intent.writes)) \(path(intent))"
    if others > 0 { text += " and \(HumanText.count(others)) more" }
    text += ", \(TerminalText.escaped(intent.stage)) for \(HumanText.duration(nanoseconds: intent.ageNanoseconds))"
    let known = Set(waiting.holders.map(\.number))
    var holders = waiting.holders.map { who($0) }
    for number in intent.waitsFor ?? [] where !known.contains(number) { holders.append("intent \(number)") }
    text += behind(holders, at: intent.waitsAtBytes)
    let asked = asked(intent)
    if !asked.isEmpty { text += ", asks " + asked.joined(separator: ", ") }
    return [text, "  no stack: \(StackText.reason("not_blocked"))"]
  }

  /// - Parameter place: The name at which they keep it; nil where the daemon does not say it: the first path of one of
  ///   them may be another.
  static func behind(_ others: [String], at place: [UInt8]?) -> String {
    guard !others.isEmpty else { return "" }
    let meeting = place.map { "at \(path($0)) " } ?? ""
    return ", \(meeting)behind \(others.joined(separator: ", "))"
  }

  /// `editor[10] (presenter 4) at a`; of further ones, and where the daemon does not say it, the number alone.
  static func asked(_ intent: CoordinatedIntent) -> [String] {
    let named = intent.presenters ?? []
    let known = Set(named.map(\.number))
    return named.map { "\(who($0.process)) (presenter \($0.number)) at \(path($0.pathBytes))" }
      + (intent.asks ?? []).filter { !known.contains($0) }.map { "presenter \($0)" }
  }

  private static func who(_ intent: CoordinatedIntent) -> String {
    "\(who(intent.process)) (intent \(intent.number))"
  }

  private static func who(_ process: WireProcess?) -> String {
    process.map { "\(ProcessName.text(comm: $0.comm, exe: $0.exe, script: $0.script))[\($0.pid)]" } ?? "unknown"
  }

  private static func path(_ intent: CoordinatedIntent) -> String { path(intent.pathBytes) }

  private static func path(_ bytes: [UInt8]) -> String { bytes.isEmpty ? "." : TerminalText.escaped(bytes) }
}
