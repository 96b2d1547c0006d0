/// How the command of `dataless run` ended, as `run.finished` tells it: what a log can decide, and what makes a
/// baseline.
public struct RunEnding: Sendable, Equatable {
  /// Why more might have been done than the log tells; nil where nothing could.
  public private(set) var gap: String?
  /// Why the command may have materialized less than it does when it is done; nil where nothing says so.
  public private(set) var cutOff: String?

  /// - Parameter json: The record.
  public init(_ json: JSONObject) {
    gap = Self.notStarted(json) ?? Self.left(json) ?? Self.underWay(json)
    cutOff = Self.cutOff(json)
  }

  /// Nothing that nobody did goes beyond a bound, and it would make an empty baseline.
  private static func notStarted(_ json: JSONObject) -> String? {
    json.string("not_started").map { "the command could not be executed (\(TerminalText.escaped($0)))" }
  }

  private static func left(_ json: JSONObject) -> String? {
    switch json.object("children")?.string("end") {
    case nil, "none_left": nil
    case "unknown": "nobody knows what the command left running"
    default: "processes that the command had left running were waited for no longer"
    }
  }

  private static func underWay(_ json: JSONObject) -> String? {
    guard let count = json.object("budgets")?.integer("in_flight"), count > 0 else { return nil }
    return "\(HumanText.count(count, "attempt")) of the command had not ended when it was waited for no longer"
  }

  private static func cutOff(_ json: JSONObject) -> String? {
    if let signal = json.string("signal") {
      return "a signal ended the command before it was done (\(TerminalText.escaped(signal)))"
    }
    if let signal = json.string("interrupted_by") {
      return "the run was told to end before the command was done (\(TerminalText.escaped(signal)))"
    }
    return json.integer("exit_status") == nil ? "nobody knows how the command ended" : nil
  }
}
