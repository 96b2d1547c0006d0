/// "Did you mean ...?" for words that nearly are one of a list.
enum Suggestion {
  /// A sentence with a blank in front, or nothing.
  static func text(for word: String, among candidates: [String]) -> String {
    let wanted = Array(word.lowercased().utf8.prefix(64))
    var best: (distance: Int, name: String)?
    for candidate in candidates {
      let found = distance(wanted, Array(candidate.lowercased().utf8))
      if found < best?.distance ?? .max { best = (found, candidate) }
    }
    guard let best, best.distance <= max(1, min(wanted.count, best.name.utf8.count) / 3) else { return "" }
    return " Did you mean '\(best.name)'?"
  }

  /// Text of the user's for a message: one line, and not longer than a message can bear.
  static func quotable(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars.prefix(60) {
      let isPrintable =
        scalar.value >= 0x20 && !(0x7f...0x9f).contains(scalar.value)
        && scalar.value != 0x2028 && scalar.value != 0x2029
      result.unicodeScalars.append(isPrintable ? scalar : "?")
    }
    return text.unicodeScalars.count > 60 ? result + "..." : result
  }

  /// How many letters must be inserted, removed, replaced or swapped with their neighbour.
  static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var before: [Int] = []
    var last = Array(0...right.count)
    for (row, letter) in left.enumerated() {
      var current = [row + 1]
      for (column, other) in right.enumerated() {
        var cost = min(last[column + 1], current[column]) + 1
        cost = min(cost, last[column] + (letter == other ? 0 : 1))
        if row > 0, column > 0, letter == right[column - 1], left[row - 1] == other {
          cost = min(cost, before[column - 1] + 1)
        }
        current.append(cost)
      }
      (before, last) = (last, current)
    }
    return last[right.count]
  }
}
