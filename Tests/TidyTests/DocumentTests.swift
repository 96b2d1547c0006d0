import Testing

/// What the documents promise is there.
@Suite struct DocumentTests {
  static let documents = [
    "README.md", "CHANGELOG.md", "LICENSE", "docs/ARCHITECTURE.md", "docs/SEMANTICS.md", "docs/EVENTS.md",
    "docs/CONTROL-API.md", "docs/openapi.yaml", "docs/JSON.md", "docs/LOCKING.md", "docs/WRITING.md",
    "docs/SECURITY.md", "docs/STATE.md",
    "docs/TROUBLESHOOTING.md",
    "docs/PERFORMANCE.md",
    "docs/SCENARIOS.md", "docs/scenario.schema.json",
    "docs/POLICY.md", "docs/EXPECTATIONS.md", "docs/TESTLIBS.md",
  ]

  @Test(arguments: documents) func documentExists(_ path: String) {
    #expect(Repository.current.exists(path), "\(path) is missing")
  }

  /// Installed are these files, in the places that they have here to each other: a link to any other is dead there.
  @Test func documentsLinkOnlyToWhatIsInstalledWithThem() {
    let documents = Repository.current.files(under: "docs", extensions: ["md", "yaml", "json", "html"])
    let installed = Set(["README.md", "CHANGELOG.md", "LICENSE"] + documents)
    let link = #/\]\(([^)#:\s]+)(?:#[^)]*)?\)/#
    var count = 0
    for document in installed.sorted() where document.hasSuffix(".md") {
      for (index, line) in Repository.current.lines(of: document).enumerated() {
        for match in line.matches(of: link) {
          var parts = document.split(separator: "/").dropLast()
          for part in match.1.split(separator: "/") {
            if part == ".." { _ = parts.popLast() } else { parts.append(part) }
          }
          let target = parts.joined(separator: "/")
          #expect(installed.contains(target), "\(document):\(index + 1): a link to \(target), which is not installed")
          count += 1
        }
      }
    }
    #expect(count > 200)
  }

  @Test func changelogHasAnUnreleasedSectionOnTop() {
    let headings = Repository.current.lines(of: "CHANGELOG.md").filter { $0.hasPrefix("## ") }
    #expect(headings.first == "## Unreleased" || headings.first == "## [Unreleased]")
  }

  /// The columns of every table of docs/SEMANTICS.md that begins with `id`.
  static let semanticsColumns = [
    "id", "situation", "what the caller sees", "errno", "materializes?", "test", "elsewhere",
  ]

  struct Row {
    let line: Int
    let cells: [String]
    var id: String { cells.first ?? "" }
    var test: String { cells.count == semanticsColumns.count ? cells[cells.count - 2] : "" }
    var elsewhere: String { cells.count == semanticsColumns.count ? cells[cells.count - 1] : "" }
  }

  /// The rows of every table of docs/SEMANTICS.md whose first column is `id`.
  static func semanticsRows() -> [Row] {
    var rows: [Row] = []
    var isTableOfRows = false
    for (index, line) in Repository.current.lines(of: "docs/SEMANTICS.md").enumerated() {
      guard line.hasPrefix("|") else {
        isTableOfRows = false
        continue
      }
      let cells = line.replacing("\\|", with: "\u{1}").split(separator: "|", omittingEmptySubsequences: false)
        .dropFirst().dropLast().map { trimmed($0.replacing("\u{1}", with: "|")) }
      if cells.first == "id" {
        isTableOfRows = true
        #expect(cells == semanticsColumns, "docs/SEMANTICS.md:\(index + 1): columns other than \(semanticsColumns)")
      } else if isTableOfRows && !(cells.first ?? "").hasPrefix("--") {
        rows.append(Row(line: index + 1, cells: cells))
        #expect(
          cells.count == semanticsColumns.count,
          "docs/SEMANTICS.md:\(index + 1): \(cells.count) cells, not \(semanticsColumns.count)")
      }
    }
    return rows
  }

  static func trimmed(_ text: some StringProtocol) -> String {
    let inner = text.drop { $0 == " " }
    return String(inner.reversed().drop { $0 == " " }.reversed())
  }

  /// `Suite/test` for every test function of every suite, by the text and the indentation of the sources.
  static func testNames() -> Set<String> {
    let type = #/\b(?:struct|class|enum|actor|extension)\s+([A-Za-z_][A-Za-z0-9_.]*)/#
    let function = #/\bfunc\s+([A-Za-z_][A-Za-z0-9_]*)/#
    var names: Set<String> = []
    for file in SourceTests.swiftFiles where file.hasPrefix("Tests/") {
      var enclosing: [(indentation: Int, name: Substring)] = []
      var isTest = false
      for line in Repository.current.lines(of: file) {
        let code = line.drop { $0 == " " }
        if code.isEmpty || code.hasPrefix("//") { continue }
        let indentation = line.count - code.count
        enclosing.removeAll { $0.indentation >= indentation && !code.hasPrefix("}") }
        if code.contains("@Test") { isTest = true }
        if let match = code.firstMatch(of: function) {
          if isTest, let suite = enclosing.last?.name { names.insert("\(suite)/\(match.1)") }
          isTest = false
        } else if let match = code.firstMatch(of: type) {
          enclosing.append((indentation, match.1.split(separator: ".").last ?? match.1))
        }
      }
    }
    return names
  }

  @Test func everyRowOfTheSemanticsNamesATestThatExists() {
    let rows = Self.semanticsRows()
    #expect(!rows.isEmpty, "docs/SEMANTICS.md has no table whose first column is id")
    let tests = Self.testNames()
    for row in rows {
      let named = row.test.replacing("`", with: "").split(separator: ",").map { Self.trimmed($0) }
      #expect(!named.isEmpty, "docs/SEMANTICS.md:\(row.line): row \(row.id) names no test")
      for name in named {
        #expect(tests.contains(name), "docs/SEMANTICS.md:\(row.line): row \(row.id): there is no test \(name)")
      }
    }
  }

  @Test func everyRowOfTheSemanticsSaysWhatIsElsewhere() {
    for row in Self.semanticsRows() {
      #expect(!row.elsewhere.isEmpty, "docs/SEMANTICS.md:\(row.line): row \(row.id): elsewhere is empty; - if nothing")
    }
  }

  /// What the summary of limits points at is there.
  @Test func limitsOfLinuxNameRowsThatExist() {
    let ids = Set(Self.semanticsRows().map(\.id))
    let lines = Repository.current.lines(of: "docs/SEMANTICS.md")
    let section = lines.drop { $0 != "## Where Linux cannot follow" }.dropFirst().prefix { !$0.hasPrefix("## ") }
    #expect(!section.isEmpty)
    let list = #/\(([A-Z]+[0-9]+(?:, [A-Z]+[0-9]+)*)\)$/#
    var named = 0
    for line in section {
      guard let match = line.firstMatch(of: list) else { continue }
      named += 1
      for id in match.1.split(separator: ", ") {
        #expect(ids.contains(String(id)), "docs/SEMANTICS.md: there is no row \(id): \(line)")
      }
    }
    #expect(named == section.count { $0.hasPrefix("* ") }, "each limit ends with the rows that it concerns")
  }

  @Test func idsOfTheSemanticsAreUnique() {
    var seen: Set<String> = []
    for row in Self.semanticsRows() {
      #expect(seen.insert(row.id).inserted, "docs/SEMANTICS.md:\(row.line): id \(row.id) is there twice")
    }
  }
}
