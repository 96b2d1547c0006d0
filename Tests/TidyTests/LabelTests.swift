import Testing

/// From three parameters on a call says which one is which: two of them may have no label, and a closure at its end.
@Suite struct LabelTests {
  /// Their shape is libfuse's.
  private static let shapedByC = ["Sources/FuseKit/FuseTrampolines", "Sources/FuseKit/FuseLog.swift"]

  @Test func atMostTwoParametersHaveNoLabel() {
    var count = 0
    for file in SourceTests.swiftFiles where file.hasPrefix("Sources/") {
      if Self.shapedByC.contains(where: file.hasPrefix) { continue }
      for function in Self.functions(in: Repository.current.text(of: file) ?? "") {
        count += 1
        #expect(function.unlabelled <= 2, "\(file):\(function.line): \(function.unlabelled) parameters without a label")
      }
    }
    #expect(count > 1000)
  }

  @Test func parametersAreCounted() {
    let text = """
      func a(_ b: Int, _ c: [Int: (Int, Int)], _ d: Set<Int> = []) {}
      init<T>(
        _ b: T, of c: (Int, Int) -> Void, _ d: Int
      ) {}
      func visit(_ b: Int, _ c: Int, _ body: (Int) -> Void) {}
      func late(_ b: Int, _ body: (Int) -> Void, _ c: Int) {}
      func e() {}
      """
    let found = Self.functions(in: text)
    #expect(found.map(\.line) == [1, 2, 5, 6, 7])
    #expect(found.map(\.unlabelled) == [3, 2, 2, 3, 0])
  }

  /// The line of each function and initializer, and how many of its parameters a call gives without a label.
  private static func functions(in text: String) -> [(line: Int, unlabelled: Int)] {
    let start = #/\b(?:func\s+[\w`]+|init[?!]?)\s*(?:<[^>(]*>)?\(/#
    var (line, place) = (1, text.startIndex)
    var found: [(line: Int, unlabelled: Int)] = []
    while let match = text[place...].firstMatch(of: start) {
      line += text[place..<match.range.lowerBound].utf8.count { $0 == UInt8(ascii: "\n") }
      var parameters = Self.parameters(text[match.range.upperBound...])
      if let last = parameters.last, last.contains("->") { parameters.removeLast() }
      found.append((line, parameters.count { $0.hasPrefix("_ ") }))
      place = match.range.lowerBound
      let next = match.range.upperBound
      line += text[place..<next].utf8.count { $0 == UInt8(ascii: "\n") }
      place = next
    }
    return found
  }

  /// What stands between commas, up to the closing parenthesis.
  private static func parameters(_ text: Substring) -> [Substring] {
    var (depth, before): (Int, Character) = (0, " ")
    var (found, start) = ([Substring](), text.startIndex)
    for place in text.indices {
      switch text[place] {
      case "(", "[", "{", "<": depth += 1
      case ">" where before == "-": break
      case ")" where depth == 0:
        return found + [text[start..<place].drop(while: \.isWhitespace)]
      case ")", "]", "}", ">": depth -= 1
      case "," where depth == 0:
        found.append(text[start..<place].drop(while: \.isWhitespace))
        start = text.index(after: place)
      default: break
      }
      before = text[place]
    }
    return found
  }
}
