internal import SystemPackage

/// Of which waits the caller's stack is taken.
public enum StackPolicy: Sendable, Equatable {
  case off
  /// Of the first wait of each process for each attempt.
  case first
  /// Of every wait.
  case all
  /// Of waits that have lasted so long.
  case over(Nanoseconds)

  public static let expected = "off, first, all, or over=DURATION such as over=100ms"

  /// - Throws: EINVAL, naming the part that is wrong.
  public static func parse(_ text: String) throws(FSError) -> StackPolicy {
    switch text {
    case "off": return .off
    case "first": return .first
    case "all": return .all
    default:
      guard text.hasPrefix("over=") else {
        throw FSError(.invalidArgument, "malformed stacks '\(text)': expected \(expected)")
      }
      let (seconds, attoseconds) = try DurationText.parse(String(text.dropFirst(5))).components
      return .over(.seconds(seconds) + Nanoseconds(attoseconds / 1_000_000_000))
    }
  }

  /// As it is written.
  public var text: String {
    switch self {
    case .off: "off"
    case .first: "first"
    case .all: "all"
    case .over(let limit): "over=\(limit.rawValue)ns"
    }
  }
}
