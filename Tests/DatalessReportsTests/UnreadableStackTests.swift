import DatalessControl
import Testing

@testable import DatalessReports

/// Reports of programs whose interpreter is of a version that is not known.
@Suite struct UnreadableStackTests {
  @Test func everyReportWithStacksSaysIt() throws {
    var log = LogLines()
    log.mounted()
    log.process(1, pid: 10, "python", script: "fm.py")
    log.waited(1, "a.jpg", by: 1, thread: 10, from: 1_000, to: 2_000)
    log.add(
      "wait.stack", at: 2_100,
      #""attempt":1,"process":1,"tid":10,"outcome":"ok","stack_id":1,"stack":{"complete":true,"end":"outermost","#
        + #""frames":[{"module":"/bin/python","offset":1,"symbol":"_Py_read","found_by":"tables"}],"#
        + #""interpreted":{"language":"python","readable":false,"complete":false,"frames":[]}}"#)
    log.unmounted(at: 3_000)
    let folder = try ReportFolder(log.bytes)
    try folder.export([.json, .markdown, .html])
    let json = try #require(JSONObject(Array(try folder.text(.json).utf8.dropLast())))
    #expect(json.objects("stacks").first?.string("unreadable") == "python")
    for kind in [.markdown, .html] as [ReportKind] {
      let text = try folder.text(kind)
      #expect(text.contains("read") && text.contains("frames not readable in this version"), "\(kind)")
    }
  }

  @Test func othersSayNothingOfIt() throws {
    let folder = try ReportFolder(ReportTests.log.bytes)
    try folder.export([.json, .markdown])
    #expect(try !folder.text(.json).contains("unreadable"))
    #expect(try !folder.text(.markdown).contains("not readable"))
  }
}
