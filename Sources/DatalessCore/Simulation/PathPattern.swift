/// A glob for paths from the volume's root, on bytes.
///
/// `*` and `?` stand for any bytes and any byte but a slash, `[a-z]` and `[!a-z]` for one byte of a set, `**` between
/// slashes for any number of components, also none; a backslash takes a meaning away. A pattern without a slash means
/// the last component, wherever it is (`*.jpg`); one with a slash means the whole path (`photos/*.jpg`); a slash at the
/// front is that of the root. Braces stand for several patterns, one for each of their words: `*.{jpg,png}` is `*.jpg`
/// or `*.png`.
public struct PathPattern: Sendable, Hashable {
  /// As the user wrote it.
  public let text: [UInt8]
  /// What the braces stand for, one of which must match: 1 to `alternativesMax`.
  public let alternatives: [Alternative]

  /// One pattern without braces.
  public struct Alternative: Sendable, Hashable {
    public let text: [UInt8]
    let components: [Component]
    /// Whether only the last component of a path is compared.
    let isBaseName: Bool

    /// By the text, from which all of it was read: tens of tokens cost a hundred times as much.
    public static func == (one: Alternative, other: Alternative) -> Bool { one.text == other.text }

    public func hash(into hasher: inout Hasher) { text.withUnsafeBytes { hasher.combine(bytes: $0) } }
  }

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

  /// By the text, as alternatives are.
  public static func == (one: PathPattern, other: PathPattern) -> Bool { one.text == other.text }

  public func hash(into hasher: inout Hasher) { text.withUnsafeBytes { hasher.combine(bytes: $0) } }

  /// - Returns: nil where `init(parsing:)` says what is wrong.
  public init?(_ text: [UInt8]) { try? self.init(parsing: text) }

  /// - Parameter isPath: Whether paths on a volume are meant, of which no component is `.` or `..`. Default: they are.
  public init(parsing text: [UInt8], isPath: Bool = true) throws(PathPatternFlaw) {
    guard !text.isEmpty else { throw PathPatternFlaw(.empty) }
    self.text = text
    var alternatives: [Alternative] = []
    let all = try Self.expand(text)
    for alternative in all {
      do throws(PathPatternFlaw) {
        alternatives.append(try Alternative(alternative, isPath: isPath))
      } catch {
        throw all.count == 1 ? error : PathPatternFlaw(error.kind, alternative: alternative)
      }
    }
    self.alternatives = alternatives
  }

  public func matches(_ path: [UInt8]) -> Bool { alternatives.contains { $0.matches(path) } }

  /// What was meant by a pattern that begins with a path of the machine, such as a mountpoint, instead of the volume's
  /// root: the rest of it. nil if none of the alternatives does.
  ///
  /// - Parameter root: Absolute; not `/`.
  public func beyond(_ root: [UInt8]) -> [UInt8]? {
    alternatives.lazy.compactMap { $0.beyond(root) }.first
  }
}

extension PathPattern.Alternative {
  init(_ text: [UInt8], isPath: Bool) throws(PathPatternFlaw) {
    guard !text.isEmpty else { throw PathPatternFlaw(.empty) }
    let slash = UInt8(ascii: "/")
    isBaseName = !text.contains(slash)
    let body = text.first == slash ? text[1...] : text[...]
    guard !body.isEmpty else { throw PathPatternFlaw(.slashAlone) }
    guard body.last != slash else { throw PathPatternFlaw(.slashAtTheEnd) }
    var components: [PathPattern.Component] = []
    for part in body.split(separator: slash, omittingEmptySubsequences: false) {
      guard !part.isEmpty else { throw PathPatternFlaw(.twoSlashes) }
      if Array(part) == Array("**".utf8), !isBaseName {
        components.append(.anyDepth)
      } else {
        let tokens = try PathPattern.parse(part)
        guard !isPath || tokens.count > 2 || !tokens.allSatisfy({ $0 == .byte(UInt8(ascii: ".")) }) else {
          throw PathPatternFlaw(.dots)
        }
        components.append(.tokens(tokens))
      }
    }
    self.text = text
    self.components = components
  }

  public func matches(_ path: [UInt8]) -> Bool {
    path.withUnsafeBufferPointer { path in
      if isBaseName {
        let start = path.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
        guard case .tokens(let tokens) = components[0] else { return false }
        return PathPattern.matches(tokens[...], UnsafeBufferPointer(rebasing: path[start...]))
      }
      return PathPattern.matches(components[...], path)
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

  /// The components before the first wildcard, as a path: every matching path is this one or lies below it. nil for
  /// none.
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
  public var baseNameSuffix: [UInt8]? {
    guard isBaseName, case .tokens(let tokens) = components[0], tokens.first == .anyRun else { return nil }
    var suffix: [UInt8] = []
    for token in tokens.dropFirst() {
      guard case .byte(let byte) = token else { return nil }
      suffix.append(byte)
    }
    return suffix.isEmpty ? nil : suffix
  }

  fileprivate func beyond(_ root: [UInt8]) -> [UInt8]? {
    let slash = UInt8(ascii: "/")
    guard text.first == slash, let prefix = literalPrefix else { return nil }
    let folders = root.split(separator: slash)
    guard !folders.isEmpty, prefix.split(separator: slash).starts(with: folders, by: { $0.elementsEqual($1) }) else {
      return nil
    }
    let rest = Array(text.dropFirst().split(separator: slash).dropFirst(folders.count).joined(separator: [slash]))
    if rest.isEmpty { return Array("**".utf8) }
    // Without any slash it would mean a name, wherever it is.
    return rest.contains(slash) ? rest : [slash] + rest
  }
}

extension PathPattern {
  // MARK: - Parsing

  fileprivate static func parse(_ part: ArraySlice<UInt8>) throws(PathPatternFlaw) -> [Token] {
    var tokens: [Token] = []
    var index = part.startIndex
    while index < part.endIndex {
      let byte = part[index]
      index += 1
      switch byte {
      case UInt8(ascii: "*"): if tokens.last != .anyRun { tokens.append(.anyRun) }
      case UInt8(ascii: "?"): tokens.append(.anyByte)
      case UInt8(ascii: "["):
        guard let set = parseSet(part, &index) else { throw PathPatternFlaw(.bracket) }
        tokens.append(set)
      case UInt8(ascii: "\\"):
        guard index < part.endIndex else { throw PathPatternFlaw(.backslash) }
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
  fileprivate static func matches(_ pattern: ArraySlice<Component>, _ path: UnsafeBufferPointer<UInt8>) -> Bool {
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
