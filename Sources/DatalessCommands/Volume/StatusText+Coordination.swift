import DatalessControl

extension StatusText {
  /// Who coordinates, and who waits for whom.
  static func coordination(_ status: CoordinationStatus) -> [String] {
    let totals = status.totals
    let failed = [
      (totals.refused, "refused"), (totals.deadlocks, "of them deadlocks"), (totals.takenAway, "taken away"),
    ]
    let words =
      ["\(HumanText.count(totals.granted, "intent")) granted"]
      + failed.compactMap { $0.0 > 0 ? "\(HumanText.count($0.0)) \($0.1)" : nil }
    let preparing = status.preparing ?? 0
    var now = "now \(HumanText.count(status.granted)) granted, \(HumanText.count(status.waiting)) waiting"
    if preparing > 0 { now += ", \(HumanText.count(preparing)) being prepared" }
    var lines = [line("coordinate", words.joined(separator: ", ") + "; " + now)]
    if status.presenters > 0 { lines.append("    \(HumanText.count(status.presenters, "presenter"))") }
    lines += status.intents.map { "    " + intent($0) }
    let more = status.waiting.plus(status.granted).plus(preparing).minus(Int64(status.intents.count))
    if more > 0 { lines.append("    and \(HumanText.count(more)) more") }
    return lines
  }

  private static func intent(_ intent: CoordinatedIntent) -> String {
    let path = intent.pathBytes.isEmpty ? "." : TerminalText.escaped(intent.pathBytes)
    let others = intent.reads.plus(intent.writes).minus(1)
    let who = intent.process.map { "\(TerminalText.escaped($0.comm ?? "?"))[\($0.pid)]" } ?? "?"
    let what = intent.writes > 0 ? intent.reads > 0 ? "reads and writes" : "writes" : "reads"
    var text = "\(intent.number): \(who) \(what) \(path)"
    if others > 0 { text += " and \(HumanText.count(others)) more" }
    text += ", \(TerminalText.escaped(intent.stage)), "
    text += "asked for \(HumanText.duration(nanoseconds: intent.ageNanoseconds)) ago"
    text += StackCommand.behind((intent.waitsFor ?? []).map { "\($0)" }, at: intent.waitsAtBytes)
    let asked = StackCommand.asked(intent)
    if !asked.isEmpty { text += ", asks " + asked.joined(separator: ", ") }
    return text
  }
}
