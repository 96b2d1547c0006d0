import Glibc

/// Whether to use colour: only on a terminal that can, and not against `NO_COLOR`.
enum Colour {
  static func isWanted(isTerminal: Bool) -> Bool {
    guard isTerminal else { return false }
    if let value = getenv("NO_COLOR"), value[0] != 0 { return false }
    return getenv("TERM").map { String(cString: $0) != "dumb" } ?? false
  }
}
