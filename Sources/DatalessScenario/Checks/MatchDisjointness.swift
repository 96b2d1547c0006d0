internal import DatalessCore

/// Whether no attempt can match two rules. Only what can be proved counts: false means "perhaps some can".
enum MatchDisjointness {
  static func areDisjoint(_ left: RuleMatch, _ right: RuleMatch) -> Bool {
    if let first = left.kind, let second = right.kind, first != second { return true }
    if let first = left.size, let second = right.size, !first.overlaps(second) { return true }
    if left.size != nil, right.kind == .directory { return true }
    if right.size != nil, left.kind == .directory { return true }
    if !left.triggers.isEmpty, !right.triggers.isEmpty, left.triggers.isDisjoint(with: right.triggers) { return true }
    if let first = left.attempts, let second = right.attempts, !first.overlaps(second) { return true }
    if let first = left.window, let second = right.window, !first.overlaps(second) { return true }
    if arePathsDisjoint(left.paths, right.paths) { return true }
    // Not the ancestors: a process has many of them, and two rules may each mean another.
    if let first = left.process, let second = right.process { return areDisjoint(first, second) }
    return false
  }

  private static func areDisjoint(_ left: ProcessMatch, _ right: ProcessMatch) -> Bool {
    if !left.uids.isEmpty, !right.uids.isEmpty, Set(left.uids).isDisjoint(with: right.uids) { return true }
    return arePathsDisjoint(left.executables, right.executables)
      || arePathsDisjoint(left.commandNames, right.commandNames) || arePathsDisjoint(left.cgroups, right.cgroups)
  }

  /// Every pattern of one list against every one of the other; long lists are not compared.
  static func arePathsDisjoint(_ left: [PathPattern], _ right: [PathPattern]) -> Bool {
    guard !left.isEmpty, !right.isEmpty else { return false }
    let (left, right) = (left.flatMap(\.alternatives), right.flatMap(\.alternatives))
    guard left.count * right.count <= 100 else { return false }
    return left.allSatisfy { first in right.allSatisfy { second in areDisjoint(first, second) } }
  }

  static func areDisjoint(_ left: PathPattern.Alternative, _ right: PathPattern.Alternative) -> Bool {
    let (first, second) = (Ends(left), Ends(right))
    if let path = first.wholePath { return !right.matches(path) }
    if let path = second.wholePath { return !left.matches(path) }
    // What a path starts and ends with must suit both.
    let length = min(first.suffix.count, second.suffix.count)
    if first.suffix.suffix(length) != second.suffix.suffix(length) { return true }
    let start = min(first.prefix.count, second.prefix.count)
    return first.prefix.prefix(start) != second.prefix.prefix(start)
  }

  /// What all paths that match a pattern have in common.
  private struct Ends {
    var prefix: ArraySlice<UInt8> = []
    var suffix: ArraySlice<UInt8> = []
    /// The only path, for a pattern with a slash and without wildcards.
    var wholePath: [UInt8]?

    init(_ pattern: PathPattern.Alternative) {
      let slash = UInt8(ascii: "/")
      let text = pattern.text.first == slash ? pattern.text[1...] : pattern.text[...]
      let isWhole = pattern.text.contains(slash)
      guard let first = text.firstIndex(where: PathValues.isMeta) else {
        suffix = text
        if isWhole {
          prefix = text
          wholePath = Array(text)
        }
        return
      }
      // With brackets and backslashes it is not plain to see where the last wildcard ends.
      let isPlain = !text.contains(UInt8(ascii: "[")) && !text.contains(UInt8(ascii: "\\"))
      if isPlain, let last = text.lastIndex(where: PathValues.isMeta) {
        suffix = text[(last + 1)...]
        // `**/name` also means `name` at the root, without the slash.
        if suffix.first == slash { suffix = suffix.dropFirst() }
      }
      guard isWhole else { return }
      // Up to the last slash before the wildcard, and without it: `photos/**` also means `photos`.
      let fixed = text[..<first]
      prefix = fixed.lastIndex(of: slash).map { fixed[..<$0] } ?? []
    }
  }
}
