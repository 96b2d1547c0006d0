/// A pattern for paths, compared as bytes.
///
/// `?` is any byte but a slash, `*` any number of them, `**` any number of bytes with slashes too, `[a-z]` and
/// `[!a-z]` one byte of a set, and a backslash takes the next byte as it is. A pattern without a slash is compared with
/// the last component of a path, any other with the whole path from the volume's root. `**/` also stands for nothing,
/// so that `**/*.c` finds a file in the root.
public struct Glob: Sendable, Equatable {
  private enum Part: Sendable, Equatable {
    case byte(UInt8)
    case anyByte
    case anyBytes
    case anyComponents
    /// `**/`: nothing, or components with the slash behind the last one.
    case leadingComponents
    case set([ClosedRange<UInt8>], isNegated: Bool)
  }

  private let parts: [Part]
  private let isForLastComponent: Bool

  public init(_ pattern: [UInt8]) {
    isForLastComponent = !pattern.contains(PathBytes.slash)
    var bytes = pattern[...]
    if bytes.first == PathBytes.slash { bytes = bytes.dropFirst() }
    parts = Self.parse(bytes)
  }

  /// - Parameter path: Relative to the root, without a leading slash.
  public func matches(_ path: [UInt8]) -> Bool {
    Self.matches(parts, (isForLastComponent ? PathBytes.lastComponent(path) : path)[...])
  }

  private static func parse(_ pattern: ArraySlice<UInt8>) -> [Part] {
    var parts: [Part] = []
    var index = pattern.startIndex
    while index < pattern.endIndex {
      let byte = pattern[index]
      index += 1
      switch byte {
      case UInt8(ascii: "?"): parts.append(.anyByte)
      case UInt8(ascii: "*"):
        let start = index
        while index < pattern.endIndex, pattern[index] == byte { index += 1 }
        if index == start {
          parts.append(.anyBytes)
        } else if index < pattern.endIndex, pattern[index] == PathBytes.slash {
          parts.append(.leadingComponents)
          index += 1
        } else {
          parts.append(.anyComponents)
        }
      case UInt8(ascii: "["): parts.append(set(pattern, &index) ?? .byte(byte))
      case UInt8(ascii: "\\") where index < pattern.endIndex:
        parts.append(.byte(pattern[index]))
        index += 1
      default: parts.append(.byte(byte))
      }
    }
    return parts
  }

  /// Parses behind `[`; nil, and nothing taken, when there is no closing bracket.
  private static func set(_ pattern: ArraySlice<UInt8>, _ index: inout Int) -> Part? {
    var next = index
    var ranges: [ClosedRange<UInt8>] = []
    var isNegated = false
    if next < pattern.endIndex, pattern[next] == UInt8(ascii: "!") || pattern[next] == UInt8(ascii: "^") {
      isNegated = true
      next += 1
    }
    let first = next
    while next < pattern.endIndex, pattern[next] != UInt8(ascii: "]") || next == first {
      let low = pattern[next]
      if next + 2 < pattern.endIndex, pattern[next + 1] == UInt8(ascii: "-"), pattern[next + 2] != UInt8(ascii: "]") {
        let high = pattern[next + 2]
        if low <= high { ranges.append(low...high) }
        next += 3
      } else {
        ranges.append(low...low)
        next += 1
      }
    }
    guard next < pattern.endIndex else { return nil }
    index = next + 1
    return .set(ranges, isNegated: isNegated)
  }

  /// Follows all ways through the pattern at once: the time is at most length times length, whatever the stars.
  private static func matches(_ parts: [Part], _ path: ArraySlice<UInt8>) -> Bool {
    // Element n: the first n parts are matched. Inside: the text of a `**/` has begun and waits for its slash.
    var reached = [Bool](repeating: false, count: parts.count + 1)
    var inside = reached
    var next = reached
    var nextInside = reached
    reached[0] = true
    skipOptional(parts, &reached)
    for byte in path {
      var isAlive = false
      for (index, part) in parts.enumerated() where reached[index] || inside[index] {
        switch part {
        case .anyBytes: if byte != PathBytes.slash { next[index] = true }
        case .anyComponents: next[index] = true
        case .leadingComponents:
          nextInside[index] = true
          if byte == PathBytes.slash { next[index + 1] = true }
        default: if reached[index], accepts(part, byte) { next[index + 1] = true }
        }
        isAlive = isAlive || next[index] || next[index + 1] || nextInside[index]
      }
      guard isAlive else { return false }
      swap(&reached, &next)
      swap(&inside, &nextInside)
      for index in 0...parts.count {
        next[index] = false
        nextInside[index] = false
      }
      skipOptional(parts, &reached)
    }
    return reached[parts.count]
  }

  private static func skipOptional(_ parts: [Part], _ reached: inout [Bool]) {
    for (index, part) in parts.enumerated() where reached[index] {
      switch part {
      case .anyBytes, .anyComponents, .leadingComponents: reached[index + 1] = true
      case .byte, .anyByte, .set: break
      }
    }
  }

  private static func accepts(_ part: Part, _ byte: UInt8) -> Bool {
    switch part {
    case .byte(let wanted): byte == wanted
    case .anyByte: byte != PathBytes.slash
    case .set(let ranges, let isNegated):
      byte != PathBytes.slash && ranges.contains { $0.contains(byte) } != isNegated
    case .anyBytes, .anyComponents, .leadingComponents: false
    }
  }
}
