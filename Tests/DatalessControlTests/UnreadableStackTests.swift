import Testing

@testable import DatalessCommands
@testable import DatalessControl

/// Interpreters of a version whose functions cannot be read: their own functions are never told as the program's.
@Suite struct UnreadableStackTests {
  private static let read = CallerFrame(
    module: bytes("/usr/lib/libpython3.6m.so.1.0"), offset: 1, symbol: bytes("_Py_read"), file: bytes("fileutils.c"),
    line: 1414, foundBy: "tables")

  private static func stack(_ language: String, isReadable: Bool) -> CallerStack {
    CallerStack(
      isComplete: true, end: "outermost", frames: [read],
      interpreted: InterpretedCaller(language: language, isReadable: isReadable, isComplete: false, frames: []))
  }

  @Test func aLineOfTextSaysIt() {
    let note = "python: frames not readable in this version"
    let stack = Self.stack("python", isReadable: false)
    #expect(StackText.summary(stack) == "\(note); native _Py_read (fileutils.c:1414)")
    #expect(StackText.lines(stack, indent: "").first == note)
    // Of a shell that reads its script there is no command, which is no matter of its version.
    #expect(StackText.summary(Self.stack("bash", isReadable: true)) == "_Py_read (fileutils.c:1414)")
    #expect(StackText.summary(Self.stack("\u{1b}[31m", isReadable: false)).hasPrefix(#"\x1b[31m: frames not"#))
  }

  @Test func aFindingSaysIt() {
    var place = FindingPlace()
    place.stack = Self.stack("node", isReadable: false)
    #expect(
      FindingText.place(place) == "_Py_read (fileutils.c:1414) (node: frames not readable in this version)")
  }

  @Test func aSummarySaysIt() throws {
    var log = LogText()
    log.mounted()
    log.add("process.seen", at: 0, #""process":1,"pid":10,"comm":"python","exe":"/usr/bin/python""#)
    log.started(1, "photos/p1.jpg", size: 10, by: 1, at: 0)
    let stack = try WireCoding.encode(Self.stack("python", isReadable: false))
    let wait = #""attempt":1,"process":1,"tid":10,"trigger":"read","main_thread":true"#
    log.add("wait.started", at: 0, wait)
    log.add(
      "wait.stack", at: 10, wait + #","outcome":"ok","stack_id":1,"stack":"# + String(decoding: stack, as: UTF8.self))
    log.add("wait.finished", at: 500, wait + #","blocked_ns":500,"outcome":"ok""#)
    var builder = SummaryBuilder()
    for line in log.lines { builder.add(try #require(LogRecord(line: bytes(line)))) }
    let report = builder.finish(log: bytes("/x.jsonl"))
    #expect(report.mainThread.longest?.unreadable == "python")
    let words = "photos/p1.jpg, _Py_read (fileutils.c:1414) (python: frames not readable in this version)"
    let text = SummaryText.lines(report, width: 300)
    #expect(text.contains { $0.contains(words) }, "\(text)")
  }
}
