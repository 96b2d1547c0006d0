import DatalessControl
import DatalessCore

/// What the timeline shows beside waits: what gates held, what failed or was refused, marks and changes of settings.
struct Happenings: Sendable {
  struct Hold: Sendable {
    var attempt: UInt64
    var gate: String
    var path: [UInt8]
    var start: Int64
    /// nil while it is held, or when the log does not tell.
    var end: Int64?
    /// The errno with which it was let go; nil where it might proceed.
    var errno: String?
  }

  enum Kind: String, Sendable {
    case failed, refused, mark, changed, evicted, exceeded, lost
  }

  struct Moment: Sendable {
    var kind: Kind
    var time: Int64
    /// Escaped for a terminal.
    var text: String
  }

  // LIMIT: further ones are counted only.
  static let holdsMax = 5_000
  static let momentsMax = 5_000

  private(set) var holds: [Hold] = []
  private(set) var moments: [Moment] = []
  private(set) var holdsOmitted: Int64 = 0
  private(set) var momentsOmitted: Int64 = 0
  private var holdOfAttempt: [UInt64: Int] = [:]

  mutating func add(_ record: LogRecord) {
    let json = record.json
    guard let time = record.monotonicNanoseconds else { return }
    func path() -> String { PathText.of(json.path ?? []) }
    switch record.type {
    case .materializationHeld: held(record, at: time)
    case .materializationReleased: letGo(record, at: time, errno: json.string("errno"))
    case .materializationFinished:
      letGo(record, at: time, errno: nil)
      let outcome = record.outcome ?? "ok"
      guard outcome != "ok", outcome != "cancelled" else { return }
      let rule = json.string("rule").map { " (rule \(TerminalText.escaped($0)))" } ?? ""
      add(.failed, time, text: "\(path()): \(TerminalText.escaped(outcome))\(rule)")
    case .materializationRefused:
      let errno = TerminalText.escaped(json.string("errno") ?? "refused")
      let policy = json.string("policy").map { " (\(TerminalText.escaped($0)))" } ?? ""
      add(.refused, time, text: "\(path()): \(errno)\(policy)")
    case .mark: add(.mark, time, text: TerminalText.escaped(json.name("label", "label_b64") ?? []))
    case .volumeReset: add(.mark, time, text: "reset")
    case .configurationChanged:
      add(
        .changed, time,
        text: "\(TerminalText.escaped(json.string("what") ?? "")): \(TerminalText.escaped(json.raw("after") ?? []))")
    case .evictionFinished: add(.evicted, time, text: path())
    case .budgetExceeded:
      add(
        .exceeded, time,
        text: "\(TerminalText.escaped(json.string("budget") ?? "")): \(json.integer("used") ?? 0) of "
          + "\(json.integer("limit") ?? 0) at \(path())"
      )
    case .logDropped: add(.lost, time, text: HumanText.count(json.integer("count") ?? 0, "record") + " lost")
    default: break
    }
  }

  private mutating func held(_ record: LogRecord, at time: Int64) {
    guard let attempt = record.attempt else { return }
    guard holds.count < Self.holdsMax else {
      holdsOmitted += 1
      return
    }
    holdOfAttempt[attempt] = holds.count
    holds.append(
      Hold(
        attempt: attempt, gate: TerminalText.escaped(record.json.name("gate", "gate_b64") ?? []),
        path: record.json.path ?? [], start: time))
  }

  private mutating func letGo(_ record: LogRecord, at time: Int64, errno: String?) {
    guard let attempt = record.attempt, let index = holdOfAttempt.removeValue(forKey: attempt) else { return }
    holds[index].end = max(holds[index].start, time)
    holds[index].errno = errno.map { TerminalText.escaped($0) }
  }

  private mutating func add(_ kind: Kind, _ time: Int64, text: String) {
    guard moments.count < Self.momentsMax else {
      momentsOmitted += 1
      return
    }
    // LIMIT: what a configuration became may be a whole scenario.
    moments.append(Moment(kind: kind, time: time, text: text.count > 500 ? text.prefix(500) + "..." : text))
  }
}

/// Paths as reports show them.
enum PathText {
  /// Escaped for a terminal; `.` for the root.
  static func of(_ path: [UInt8]) -> String { path.isEmpty ? "." : TerminalText.escaped(path) }
}
