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
    let list = try RemoteCall.run(mountpoint, failure: what) { client in try await client.stacks(pid: pid) }
    let output = StandardOutput()
    for caller in list.callers {
      if json {
        try output.line(json: caller)
      } else {
        for line in Self.lines(caller) { try output.line(line) }
      }
    }
    if list.callers.isEmpty, !json { try output.line("nobody waits") }
    try output.flush()
  }

  static func lines(_ caller: BlockedCaller) -> [String] {
    let path = caller.pathBytes.isEmpty ? "." : TerminalText.escaped(caller.pathBytes)
    return WaiterText.lines([caller.waiter], count: 1, indent: "").map { "\($0): \(path)" }
      + (caller.stack.map { StackText.lines($0, indent: "  ") } ?? ["  no stack: \(StackText.reason(caller.outcome))"])
  }
}
