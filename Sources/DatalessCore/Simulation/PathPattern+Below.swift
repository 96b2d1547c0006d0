/// Which directories lead to what a pattern means.
extension PathPattern {
  /// Whether a path below a directory can match: `photos` and the root lead to `photos/*.jpg`.
  ///
  /// - Parameter directory: From the volume's root; empty for the root itself.
  public func canMatch(below directory: [UInt8]) -> Bool {
    alternatives.contains { $0.canMatch(below: directory) }
  }

  /// What every path begins with that one of the alternatives matches: the components before its first wildcard; nil
  /// for one that begins with a wildcard, or means a name wherever it is.
  public var literalPrefixes: [[UInt8]?] { alternatives.map(\.literalPrefix) }
}

extension PathPattern.Alternative {
  /// Whether every path matches, but perhaps the root: `*` and `**`, also `**/*`.
  public var meansAll: Bool {
    if isBaseName { return components == [.tokens([.anyRun])] }
    guard let last = components.last, components.dropLast().allSatisfy({ $0 == .anyDepth }) else { return false }
    return last == .anyDepth || (components.count > 1 && last == .tokens([.anyRun]))
  }

  fileprivate func canMatch(below directory: [UInt8]) -> Bool {
    if isBaseName { return true }
    // The places in the pattern at which a match of the directory may stand: never more than it has components.
    var places = reach([0])
    for part in directory.split(separator: UInt8(ascii: "/")) {
      var next: [Int] = []
      for place in places where place < components.count {
        switch components[place] {
        case .anyDepth: next.append(place)
        case .tokens(let tokens):
          if part.withUnsafeBufferPointer({ PathPattern.matches(tokens[...], $0) }) { next.append(place + 1) }
        }
      }
      places = reach(next)
      if places.isEmpty { return false }
    }
    return places.contains { $0 < components.count }
  }

  /// With the places behind each `**`, which may stand for nothing; each once, in order.
  private func reach(_ places: [Int]) -> [Int] {
    var all: Set<Int> = []
    for place in places {
      var next = place
      while all.insert(next).inserted, next < components.count, components[next] == .anyDepth { next += 1 }
    }
    return all.sorted()
  }
}
