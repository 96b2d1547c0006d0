/// A glob for paths from the volume's root, on bytes.
///
/// `*` and `?` stand for any bytes and any byte but a slash, `[a-z]` and `[!a-z]` for one byte of a set, `**` between slashes for
/// any number of components, also none; a backslash takes a meaning away. A pattern without a slash means the last component,
/// wherever it is (`*.jpg`); one with a slash means the whole path (`photos/*.jpg`); a slash at the front is that of the root.
public struct PathPattern: Sendable, Hashable {
  /// As the user wrote it.
  public let text: [UInt8]

  enum Token: Sendable, Hashable {
    case byte(UInt8)
    case anyByte
    case anyRun
    case set([ClosedRange<UInt8>], isNegated: Bool)
  }

  enum Component: Sendable, Hashable {
    case tokens([Token])
    /// `**`
    case anyDepth
  }

  let components: [Component]
  /// Whether only the last component of a path is compared.
  let isBaseName: Bool

  /// - Returns: nil for an empty pattern, an open `[`, an empty component, or a backslash at the end.
  public init?(_ text: [UInt8]) {
    guard !text.isEmpty else { return nil }
    let slash = UInt8(ascii: "/")
    isBaseName = !text.contains(slash)
    let body = text.first == slash ? text[1...] : text[...]
    var components: [Component] = []
    for part in body.split(separator: slash, omittingEmptySubsequences: false) {
      guard !part.isEmpty else { return nil }
      if Array(part) == Array("**".utf8), !isBaseName {
        components.append(.anyDepth)
      } else {
        guard let tokens = Self.parse(part) else { return nil }
        components.append(.tokens(tokens))
      }
    }
    guard !components.isEmpty else { return nil }
    self.text = text
    self.components = components
  }

  public func matches(_ path: [UInt8]) -> Bool {
    path.withUnsafeBufferPointer { path in
      if isBaseName {
        let start = path.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
        guard case .tokens(let tokens) = components[0] else { return false }
        return Self.matches(tokens[...], UnsafeBufferPointer(rebasing: path[start...]))
      }
      return Self.matches(components[...], path)
    }
  }

  /// The path, if the pattern has no wildcard and a slash: then it matches exactly one.
  var exactPath: [UInt8]? {
    guard !isBaseName else { return nil }
    var path: [UInt8] = []
    for component in components {
      guard case .tokens(let tokens) = component else { return nil }
      if !path.isEmpty { path.append(UInt8(ascii: "/")) }
      for token in tokens {
        guard case .byte(let byte) = token else { return nil }
        path.append(byte)
      }
    }
    return path
  }

  /// The components before the first wildcard, as a path: every matching path is this one or lies below it. nil for none.
  var literalPrefix: [UInt8]? {
    guard !isBaseName else { return nil }
    var prefix: [UInt8] = []
    for component in components {
      guard case .tokens(let tokens) = component else { break }
      let bytes = tokens.compactMap { if case .byte(let byte) = $0 { byte } else { nil as UInt8? } }
      guard bytes.count == tokens.count else { break }
      if !prefix.isEmpty { prefix.append(UInt8(ascii: "/")) }
      prefix += bytes
    }
    return prefix.isEmpty ? nil : prefix
  }

  /// Bytes that every matching last component ends with, for a pattern such as `*.jpg`.
  var baseNameSuffix: [UInt8]? {
    guard isBaseName, case .tokens(let tokens) = components[0], tokens.first == .anyRun else { return nil }
    var suffix: [UInt8] = []
    for token in tokens.dropFirst() {
      guard case .byte(let byte) = token else { return nil }
      suffix.append(byte)
    }
    return suffix.isEmpty ? nil : suffix
  }

  // MARK: - Parsing

  private static func parse(_ part: ArraySlice<UInt8>) -> [Token]? {
    var tokens: [Token] = []
    var index = part.startIndex
    while index < part.endIndex {
      let byte = part[index]
      index += 1
      switch byte {
      case UInt8(ascii: "*"): if tokens.last != .anyRun { tokens.append(.anyRun) }
      case UInt8(ascii: "?"): tokens.append(.anyByte)
      case UInt8(ascii: "["):
        guard let set = parseSet(part, &index) else { return nil }
        tokens.append(set)
      case UInt8(ascii: "\\"):
        guard index < part.endIndex else { return nil }
        tokens.append(.byte(part[index]))
        index += 1
      default: tokens.append(.byte(byte))
      }
    }
    return tokens
  }

  private static func parseSet(_ part: ArraySlice<UInt8>, _ index: inout Int) -> Token? {
    var isNegated = false
    if index < part.endIndex, part[index] == UInt8(ascii: "!") || part[index] == UInt8(ascii: "^") {
      isNegated = true
      index += 1
    }
    var ranges: [ClosedRange<UInt8>] = []
    var isFirst = true
    while index < part.endIndex {
      var low = part[index]
      // A bracket right after the opening one stands for itself.
      if low == UInt8(ascii: "]"), !isFirst {
        index += 1
        return .set(ranges, isNegated: isNegated)
      }
      isFirst = false
      if low == UInt8(ascii: "\\"), index + 1 < part.endIndex {
        index += 1
        low = part[index]
      }
      index += 1
      var high = low
      if index + 1 < part.endIndex, part[index] == UInt8(ascii: "-"), part[index + 1] != UInt8(ascii: "]") {
        high = part[index + 1]
        index += 2
      }
      guard low <= high else { return nil }
      ranges.append(low...high)
    }
    return nil
  }

  // MARK: - Matching

  /// In time proportional to pattern times path: only the latest `**` is ever gone back to.
  private static func matches(_ pattern: ArraySlice<Component>, _ path: UnsafeBufferPointer<UInt8>) -> Bool {
    let parts = path.split(separator: UInt8(ascii: "/"))
    var (next, part) = (pattern.startIndex, 0)
    var (retryPattern, retryPart) = (-1, 0)
    while part < parts.count {
      if next < pattern.endIndex {
        switch pattern[next] {
        case .anyDepth:
          (retryPattern, retryPart) = (next, part)
          next += 1
          continue
        case .tokens(let tokens):
          if matches(tokens[...], UnsafeBufferPointer(rebasing: parts[part])) {
            next += 1
            part += 1
            continue
          }
        }
      }
      guard retryPattern >= 0 else { return false }
      retryPart += 1
      (next, part) = (retryPattern + 1, retryPart)
    }
    while next < pattern.endIndex, pattern[next] == .anyDepth { next += 1 }
    return next == pattern.endIndex
  }

  static func matches(_ pattern: ArraySlice<Token>, _ text: UnsafeBufferPointer<UInt8>) -> Bool {
    var (next, position) = (pattern.startIndex, 0)
    var (retryPattern, retryPosition) = (-1, 0)
    while position < text.count {
      if next < pattern.endIndex {
        if pattern[next] == .anyRun {
          (retryPattern, retryPosition) = (next, position)
          next += 1
          continue
        }
        if accepts(pattern[next], text[position]) {
          next += 1
          position += 1
          continue
        }
      }
      guard retryPattern >= 0 else { return false }
      retryPosition += 1
      (next, position) = (retryPattern + 1, retryPosition)
    }
    while next < pattern.endIndex, pattern[next] == .anyRun { next += 1 }
    return next == pattern.endIndex
  }

  private static func accepts(_ token: Token, _ byte: UInt8) -> Bool {
    switch token {
    case .byte(let wanted): wanted == byte
    case .anyByte: true
    case .anyRun: false
    case .set(let ranges, let isNegated): ranges.contains { $0.contains(byte) } != isNegated
    }
  }
}
