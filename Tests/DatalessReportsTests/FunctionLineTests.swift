import DatalessControl
import Testing

@testable import DatalessReports

/// Reports of programs of which only the lines are known at which functions begin, as of node.
@Suite struct FunctionLineTests {
  private static let interpreted =
    #"{"language":"node","readable":true,"complete":false,"function_lines":true,"frames":["#
    + #"{"function":"load","file":"/code/nb.cjs","line":2},{"function":"main","file":"/code/nb.cjs","line":6}]}"#

  private static func folder() throws -> ReportFolder {
    var log = LogLines()
    log.mounted()
    log.process(1, pid: 10, "node", script: "nb.cjs")
    log.waited(1, "a.jpg", by: 1, thread: 10, from: 1_000, to: 2_000)
    log.add(
      "wait.stack", at: 2_100,
      #""attempt":1,"process":1,"tid":10,"main_thread":true,"outcome":"ok","stack_id":1,"stack":{"complete":true,"#
        + #""end":"outermost","frames":[],"interpreted":\#(interpreted)}"#)
    log.unmounted(at: 3_000)
    return try ReportFolder(log.bytes)
  }

  @Test func noReportTakesTheLineForTheOneOfTheCall() throws {
    let folder = try Self.folder()
    try folder.export()
    for kind in ReportKind.allCases {
      let text = try folder.text(kind)
      #expect(text.contains("load") && !text.contains("load (nb.cjs:2)"), "\(kind)")
    }
    for kind in [.junit, .markdown, .html, .json] as [ReportKind] {
      #expect(try folder.text(kind).contains("load, which begins"), "\(kind)")
    }
    #expect(try folder.text(.collapsed).contains(";main (nb.cjs);load (nb.cjs);[read] 1000"))
    #expect(try folder.text(.trace).contains("load (nb.cjs) \\u003c main (nb.cjs)"))
    let json = try #require(JSONObject(Array(try folder.text(.json).utf8.dropLast())))
    let frame = try #require(json.objects("stacks").first?.objects("frames").first)
    #expect(frame.integer("line") == 2 && frame.bool("function_lines") == true)
    let longest = try #require(json.object("summary")?.object("main_thread")?.object("longest"))
    #expect(longest.integer("line") == 2 && longest.bool("function_lines") == true)
  }

  @Test func gitHubIsToldOfTheFileAlone() {
    var stack = CallerStack(isComplete: true, end: "outermost", frames: [])
    var caller = InterpretedCaller(
      language: "node", isReadable: true, isComplete: false,
      frames: [InterpretedFrame(function: Array("load".utf8), file: Array("/code/nb.cjs".utf8), line: 2)])
    caller.hasFunctionLines = true
    stack.interpreted = caller
    var violation = ReportVerdict.Violation("v")
    violation.setStack(StackTable.stack(stack))
    #expect(violation.line == 2 && violation.hasFunctionLines == true)
    #expect(ViolationText.lines(violation).contains("  at: /code/nb.cjs (the function begins at line 2)"))
    let check = ReportVerdict.Check(name: "x", outcome: .failed, message: "m", violations: [violation])
    let lines = GitHubCommands.errors(ReportVerdict(checks: [check]), workspace: "/code", source: "/s")
    #expect(lines.first?.hasPrefix("::error title=dataless,file=nb.cjs::") == true, "\(lines)")
    #expect(lines.first?.contains("load, which begins (nb.cjs:2)") == true)
    // Where it stands is known of others.
    stack.interpreted?.hasFunctionLines = nil
    violation.setStack(StackTable.stack(stack))
    #expect(violation.hasFunctionLines == nil && violation.place == "/code/nb.cjs:2")
    #expect(violation.stack == ["load (nb.cjs:2)"] && violation.places.map(\.line) == [2])
  }
}
