import DatalessControl
import DatalessCore
import DatalessDaemon
import SystemPackage

/// What `run` says on standard error when the command has ended.
struct RunReport {
  let log: [UInt8]
  let budget: BudgetStatus?
  let isJSON: Bool

  /// Prints the summary, which names the log, and what exceeded a budget.
  func print() {
    do {
      let report = try SummaryReport.load(log: log)
      if isJSON {
        Console.note(String(decoding: try WireCoding.encode(report), as: UTF8.self))
      } else {
        for line in SummaryText.lines(report, width: 100) { Console.note(line) }
      }
    } catch {
      Console.error("\(error)")
      Console.note("log \(TerminalText.escaped(log))")
    }
    for excess in budget?.exceeded ?? [] { Console.error(Self.words(excess)) }
  }

  /// One line for an exceeded budget: which, the limit, the use, by whom, at what.
  static func words(_ excess: BudgetExcess) -> String {
    let isBytes = excess.budget == "bytes"
    let used = isBytes ? "\(excess.used) bytes (\(ByteSize.format(excess.used)))" : "\(excess.used) files"
    let option = isBytes ? "--max-bytes" : "--max-files"
    var by = ""
    if let process = excess.process {
      let name = process.exeBytes ?? process.comm.map { Array($0.utf8) }
      by = ", by process \(process.pid)" + (name.map { " (\(TerminalText.escaped($0)))" } ?? "")
    }
    return "budget exceeded: \(used) materialized, \(option) \(excess.limit)\(by), "
      + "first at '\(TerminalText.escaped(excess.pathBytes))'."
  }

  static func request(_ result: CommandRunner.Result) -> RunFinishedRequest {
    switch result {
    case .ended(.exited(let status)): RunFinishedRequest(exitStatus: status)
    case .ended(.signalled(let signal)): RunFinishedRequest(signal: SignalName.of(signal))
    case .notStarted, .statusLost: RunFinishedRequest(exitStatus: RunStatus.of(result, isBudgetExceeded: nil))
    }
  }

  static func notStarted(_ command: [UInt8], errno number: Int32) -> String {
    let errno = Errno(rawValue: number)
    let remedy =
      errno == .noSuchFileOrDirectory ? "Check its name and $PATH." : "Check that it is an executable file (chmod +x)."
    return "cannot run '\(TerminalText.escaped(command))': \(errno.description) (\(errno.name)). \(remedy)"
  }
}
