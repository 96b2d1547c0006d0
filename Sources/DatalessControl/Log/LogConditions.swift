public import DatalessCore
internal import SystemPackage

/// How something ended, as `dataless log --outcome` names it.
public enum LogOutcome: Sendable, Equatable {
  case ok
  case cancelled
  /// With any errno.
  case failed
  /// An errno by its Linux name, the one that logs print.
  case errno(String)

  /// - Throws: EINVAL with a message that says what is expected.
  public static func parse(_ text: String) throws(FSError) -> LogOutcome {
    switch text {
    case "ok": return .ok
    case "cancelled": return .cancelled
    case "failed": return .failed
    default:
      guard let errno = Errno(name: text) else {
        throw FSError(
          .invalidArgument,
          "malformed outcome '\(TerminalText.escaped(text))': expected ok, cancelled, failed, or an errno by its name, "
            + "such as EIO")
      }
      return .errno(errno.name)
    }
  }

  /// Whether what a record says, `ok`, `cancelled` or an errno, is this.
  public func matches(_ outcome: some Collection<UInt8>) -> Bool {
    switch self {
    case .ok: outcome.elementsEqual("ok".utf8)
    case .cancelled: outcome.elementsEqual("cancelled".utf8)
    case .failed: !outcome.elementsEqual("ok".utf8) && !outcome.elementsEqual("cancelled".utf8)
    case .errno(let name): outcome.elementsEqual(name.utf8)
    }
  }

  /// What a record says of how something ended; nil for a record of no end. Whether a stack was taken is no end of what
  /// its caller asked for: where it was not, nothing has failed.
  static func of(_ record: LogRecord) -> [UInt8]? {
    if record.type == .waitStack { return nil }
    if let outcome = record.json.text("outcome") ?? record.json.text("errno") { return outcome }
    return record.type == .evictionFinished ? Array("ok".utf8) : nil
  }
}

/// How long a caller was blocked, as `dataless log --blocked` asks for it: `>100ms`, `<=1s`, or `100ms` for at least.
public struct BlockedLimit: Sendable, Equatable {
  /// What the time is held against.
  public enum Comparison: String, Sendable, CaseIterable {
    case atLeast = ">="
    case atMost = "<="
    case above = ">"
    case below = "<"
  }

  public var comparison: Comparison
  public var limit: Nanoseconds

  public init(_ comparison: Comparison, _ limit: Nanoseconds) {
    self.comparison = comparison
    self.limit = limit
  }

  /// - Throws: EINVAL for a malformed duration, and for `<0`, which no time is.
  public static func parse(_ text: String) throws(FSError) -> BlockedLimit {
    let comparison = Comparison.allCases.first { text.hasPrefix($0.rawValue) }
    let rest = text.dropFirst(comparison?.rawValue.utf8.count ?? 0).drop { $0 == " " }
    let limit = Nanoseconds(try DurationText.parse(String(rest)).nanoseconds)
    guard comparison != .below || limit > .zero else {
      throw FSError(.invalidArgument, "'\(text)' can match nothing: nobody is blocked for less than 0")
    }
    return BlockedLimit(comparison ?? .atLeast, limit)
  }

  public func matches(_ blocked: Nanoseconds) -> Bool {
    switch comparison {
    case .atLeast: blocked >= limit
    case .atMost: blocked <= limit
    case .above: blocked > limit
    case .below: blocked < limit
    }
  }
}
