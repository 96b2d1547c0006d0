import Testing

/// Rules of the house that a compiler does not check.
@Suite struct SourceTests {
  static let swiftFiles =
    Repository.current.files(under: "Sources", extensions: ["swift"])
    + Repository.current.files(under: "Tests", extensions: ["swift"])
  static let cFiles =
    Repository.current.files(under: "Sources", extensions: ["h", "c"])
    + Repository.current.files(under: "Tests", extensions: ["h", "c"])
    + Repository.current.files(under: "scripts", extensions: ["h", "c"])
  static let maximumLines = 500

  /// A file that checks for a word must be able to spell it.
  static func isThisTarget(_ file: String) -> Bool { file.hasPrefix("Tests/TidyTests/") }

  @Test func sourcesAreASCII() {
    for file in Self.swiftFiles + Self.cFiles {
      for (index, line) in Repository.current.lines(of: file).enumerated() where !line.utf8.allSatisfy({ $0 < 128 }) {
        Issue.record("\(file):\(index + 1): not ASCII")
      }
    }
  }

  @Test func filesAreShort() {
    for file in Self.swiftFiles {
      let count = Repository.current.lines(of: file).count
      #expect(count <= Self.maximumLines, "\(file) has \(count) lines")
    }
  }

  /// What the formatter holds for code, for comments.
  @Test func commentsKeepTheLineLimit() {
    for file in Self.swiftFiles {
      for (index, line) in Repository.current.lines(of: file).enumerated() {
        guard line.drop(while: { $0 == " " }).hasPrefix("//") else { continue }
        #expect(line.utf8.count <= 120, "\(file):\(index + 1): \(line.utf8.count) bytes")
      }
    }
  }

  @Test func nothingIsLeftToDo() {
    for file in Self.swiftFiles + Self.cFiles where !Self.isThisTarget(file) {
      for (index, line) in Repository.current.lines(of: file).enumerated() {
        guard let comment = line.firstRange(of: "//").map({ line[$0.upperBound...] }) else { continue }
        for word in ["TODO", "FIXME", "HACK"] where comment.contains(word) {
          Issue.record("\(file):\(index + 1): \(word)")
        }
      }
    }
  }

  /// Outside FuseKit, which exists to wrap what the compiler cannot check, every claim that the compiler is to believe
  /// says which guarantee stands behind it.
  @Test func uncheckedClaimsNameTheirGuarantee() {
    let claims = ["@unchecked Sendable", "nonisolated(unsafe)"]
    for file in Self.swiftFiles where !file.hasPrefix("Sources/FuseKit/") && !Self.isThisTarget(file) {
      let lines = Repository.current.lines(of: file)
      for (index, line) in lines.enumerated() where claims.contains(where: { line.contains($0) }) {
        let around = lines[max(0, index - 3)...index]
        #expect(around.contains { $0.contains("//") }, "\(file):\(index + 1): no comment names the guarantee")
      }
    }
  }

  /// A seed that a failure prints is of use to whoever can give it back.
  @Test func seedsThatArePrintedCanBeGiven() {
    var count = 0
    for file in Self.swiftFiles where file.hasPrefix("Tests/") && !Self.isThisTarget(file) {
      let lines = Repository.current.lines(of: file)
      guard !file.hasPrefix("Tests/TestSupport/"), lines.contains(where: { $0.contains("\\(seed)") }) else { continue }
      count += 1
      #expect(lines.contains { $0.contains("TestSeed.") }, "\(file) prints a seed that DATALESS_TEST_SEED does not set")
    }
    #expect(count > 5)
  }

  @Test func testsWaitForEventsAndNeverSleep() {
    let sleep = #/\b(Task\.sleep|sleep|usleep|nanosleep|clock_nanosleep)\s*\(/#
    for file in Self.swiftFiles where file.hasPrefix("Tests/") && !Self.isThisTarget(file) {
      for (index, line) in Repository.current.lines(of: file).enumerated() {
        if line.drop(while: { $0 == " " }).hasPrefix("//") { continue }
        #expect(line.firstMatch(of: sleep) == nil, "\(file):\(index + 1): a sleep")
      }
    }
  }
}
