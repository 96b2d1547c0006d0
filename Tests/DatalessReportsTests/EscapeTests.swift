import DatalessControl
import Testing

@testable import DatalessReports

/// Names that are markup or commands where nobody escapes them.
@Suite struct EscapeTests {
  /// As JSON has them: a tag, a workflow command on a line of its own, an escape of a terminal, what XML forbids,
  /// Markdown, the separator of collapsed stacks, and the end of a script.
  private static let names = [
    "<script>alert(1)</script>", "\\n::add-mask::x", "##[add-mask]y", "\\u001b[31mred", "\\u0000\\u0001\\ufffe",
    "[a](javascript:x)|`b` @user #1 www.example.com", "a;b c", "</script><!--", "%0A::error::z", "&amp;\\\"'",
  ]

  private static var log: LogLines {
    var log = LogLines()
    log.mounted(source: "/src/<script>")
    for (index, name) in names.enumerated() {
      log.process(index + 1, pid: index + 10, name, script: name)
      log.waited(
        index + 1, name, by: index + 1, thread: index + 10, from: Int64(index) * 100, to: Int64(index) * 100 + 50,
        outcome: index % 2 == 0 ? "ok" : name)
      log.stack(
        index + 1, id: index + 1, by: index + 1, thread: index + 10, frames: [(name, name, 1)],
        at: Int64(index) * 100 + 60)
    }
    for (index, name) in names.enumerated() { coordinated(index, name, &log) }
    log.add("mark", at: 5_000, #""label":"\#(names.joined())""#)
    return log
  }

  /// An intent that waits for the one before it, one that fails, and a presenter.
  private static func coordinated(_ index: Int, _ name: String, _ log: inout LogLines) {
    let time = 3_000 + Int64(index) * 100
    let process = index + 1
    let path = #""path":"\#(name)","process":\#(process)"#
    log.add(
      "coordination.started", at: time,
      #""intent":\#(process),\#(path),"reads":1,"writes":1,"waits_for":[\#(index)],"waits_at":"\#(name)""#)
    log.add("coordination.finished", at: time, #""intent":\#(process + 100),\#(path),"outcome":"\#(name)""#)
    log.add(
      "presenter.answered", at: time,
      #""presenter":\#(process),\#(path),"intent":1,"what":"\#(name)","took_ns":5,"outcome":"timed_out""#)
  }

  private static func folder() throws -> ReportFolder {
    let folder = try ReportFolder(log.bytes)
    var context = ReportContext(version: "0", scenario: "</script>", arguments: ["run", "<script>", "\n::add-mask::x"])
    context.checks = names.map { name in
      let name = TerminalText.escaped(JSONObject(Array("{\"a\":\"\(name)\"}".utf8))?.text("a") ?? [])
      return .init(
        name: name, outcome: .failed, message: name,
        violations: [.init(name, path: name, process: name, parents: [name], stack: [name], file: name, line: 1)])
    }
    try folder.export(context: context)
    return folder
  }

  @Test func noReportHasMarkupOfAName() throws {
    let folder = try Self.folder()
    for kind in ReportKind.allCases {
      let whole = try folder.text(kind)
      let text = kind == .markdown ? MarkdownText.withoutCode(whole) : whole
      // What no browser takes for a page may have it.
      let hasMarkup = kind != .json && kind != .collapsed && text.contains("<script>alert")
      #expect(!hasMarkup, "\(kind)")
      let hasEscape = text.unicodeScalars.contains("\u{1b}")
      #expect(!hasEscape, "\(kind)")
      let commands = text.split(separator: "\n").filter { $0.drop { $0 == " " }.hasPrefix("::") }
      #expect(commands == [], "\(kind)")
    }
  }

  @Test func jUnitIsXML() throws {
    #expect(try XMLCheck.problem(in: Self.folder().text(.junit)) == nil)
    #expect(EscapedText.markup("\u{1}\u{fffe}a\n") == "\u{fffd}\u{fffd}a&#10;")
  }

  @Test func theTraceAndTheJSONAreJSON() throws {
    let folder = try Self.folder()
    #expect(try Trace(folder.text(.trace)).spans("wait").count == Self.names.count)
    #expect(JSONObject(Array(try folder.text(.json).utf8)) != nil)
  }

  @Test func collapsedLinesHaveFramesAndANumber() throws {
    let lines = try Self.folder().text(.collapsed).split(separator: "\n")
    #expect(lines.count == Self.names.count)
    for line in lines {
      #expect(Int64(line.split(separator: " ").last ?? "") == 50, "\(line)")
      #expect(line.split(separator: ";").count == 3, "\(line)")
    }
  }

  @Test func markdownHasNeitherHTMLNorLinksNorMentions() throws {
    let text = MarkdownText.withoutCode(try Self.folder().text(.markdown))
    for tag in text.matches(of: #/<\/?([a-z]+)/#) {
      #expect(["code", "details", "summary"].contains(tag.1), "\(tag.0)")
    }
    for forbidden in ["](", "javascript:", "@user", "www.example", "`b`", "##["] {
      #expect(!text.contains(forbidden), "\(forbidden)")
    }
  }

  /// GitHub looks for addresses and mentions in what is shown, but for code: character references hide nothing.
  @Test func aNameIsNoAddressAndNoMention() throws {
    var log = LogLines()
    log.mounted()
    log.process(1, pid: 10, "@all")
    log.waited(1, "e@evil.com", by: 1, thread: 10, from: 0, to: 50)
    log.waited(2, "a|b`c#1", by: 1, thread: 10, from: 100, to: 150)
    let folder = try ReportFolder(log.bytes)
    var context = ReportContext(version: "0")
    context.checks = [
      .init(
        name: "x", outcome: .failed, message: "m",
        violations: [.init("@all[10] read e@evil.com", path: "e@evil.com")])
    ]
    try folder.export([.markdown], context: context)
    let text = try folder.text(.markdown)
    #expect(text.contains("| `e@evil.com` |") && text.contains("  * `@all[10] read e@evil.com`"), "\(text)")
    #expect(text.contains(#"| ``a\|b`c#1`` |"#))
    let shown = MarkdownText.withoutCode(text).replacing("&#64;", with: "@").replacing("&#35;", with: "#")
    for forbidden in ["@evil", "@all", "#1"] { #expect(!shown.contains(forbidden), "\(shown)") }
  }

  @Test(arguments: [
    ("a", "`a`"), ("", ""), ("e@evil.com", "`e@evil.com`"), ("<b>&amp;", "`<b>&amp;`"), ("a`b", "``a`b``"),
    ("a``b`c", "```a``b`c```"), ("`a", "`` `a ``"), ("a`", "`` a` ``"), (" a ", "`  a  `"), (" a", "` a`"),
    ("  ", "`  `"),
    ("a\nb\u{1}\u{9b}", "`a b\u{fffd}\u{fffd}`"),
  ])
  func aNameInMarkdownIsACodeSpan(name: String, code: String) {
    #expect(EscapedText.markdownCode(name) == code)
    #expect(MarkdownText.withoutCode(code) == "")
  }

  @Test(arguments: [
    ("a|b", #"`a\|b`"#), (#"a\\|b"#, #"`a\\\|b`"#), (#"a\|b"#, #"`a\\\|b`"#), ("||", #"`\|\|`"#),
  ])
  func aBarInACodeSpanEndsNoCell(name: String, code: String) { #expect(EscapedText.markdownCell(name) == code) }

  /// More than readers look for.
  @Test func aThousandBackticksAreNoFence() {
    let code = EscapedText.markdownCode(String(repeating: "`", count: 1_000) + "@all")
    #expect(code.hasPrefix("<code>&#96;") && code.hasSuffix("&#64;<!-- -->all</code>"))
  }

  @Test func workflowCommandsStayOneLine() {
    let check = ReportVerdict.Check(
      name: "x", outcome: .failed, message: "m",
      violations: [.init("100%\r\n::add-mask::x", path: "a,b:c%\n.txt", file: "/w/src/a,b:c.py", line: 3)])
    let lines = GitHubCommands.errors(ReportVerdict(checks: [check]), workspace: "/w", source: "/w")
    #expect(lines.count == 1)
    #expect(
      lines[0].hasPrefix("::error title=dataless,file=src/a%2Cb%3Ac.py,line=3::x: 100%25%0D%0A::add-mask::x%0A"))
    #expect(!lines[0].contains("\n") && !lines[0].contains("\r"))
    let outside = GitHubCommands.errors(
      ReportVerdict(checks: [.init(name: "x", outcome: .failed, message: "m", violations: [.init("v", path: "p")])]),
      workspace: "/w", source: "/elsewhere")
    #expect(outside == ["::error title=dataless::x: v%0A  path: p"])
    let inside = GitHubCommands.errors(
      ReportVerdict(checks: [.init(name: "x", outcome: .failed, message: "m", violations: [.init("v", path: "p")])]),
      workspace: "/w", source: "/w/data")
    #expect(inside[0].hasPrefix("::error title=dataless,file=data/p::"))
  }

  @Test func wordsOfAShellAreQuoted() {
    #expect(ShellText.word("a/b-c={}") == "a/b-c={}")
    #expect(ShellText.word("a'b $x") == "'a'\\''b $x'")
    #expect(ShellText.word("") == "''")
  }

  @Test func symbolsOfAMegabyteAreCut() throws {
    var log = LogLines()
    log.mounted()
    log.process(1, pid: 10, "a")
    log.waited(1, "p", by: 1, thread: 10, from: 0, to: 10)
    log.stack(
      1, id: 1, by: 1, thread: 10,
      frames: (0..<10_000).map { (String(repeating: "f", count: $0 == 0 ? 1 << 20 : 1), "f.py", $0) }, at: 20)
    let folder = try ReportFolder(log.bytes)
    try folder.export()
    #expect(try folder.text(.collapsed).utf8.count < 20_000)
    #expect(try folder.text(.collapsed).hasPrefix("a;(incomplete);"))
  }
}
