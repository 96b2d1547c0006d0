import DatalessControl
import Testing

@testable import DatalessReports

/// Two literal logs compared.
@Suite struct DifferenceTests {
  private static var after: LogLines {
    var log = LogLines()
    log.session = "ffffffffffff"
    log.mounted()
    log.process(1, pid: 20, "bash")
    log.process(2, pid: 21, "python3", script: "fm.py", parents: [1])
    log.waited(1, "photos/a.jpg", by: 2, thread: 21, from: 1_000, to: 41_000, size: 4_000)
    log.stack(1, id: 1, by: 2, thread: 21, frames: [("load", "fm.py", 42), ("main", "fm.py", 7)], at: 41_600)
    log.waited(2, "photos/<script>|`;", by: 2, thread: 21, from: 50_000, to: 50_500, size: 10)
    log.stack(2, id: 2, by: 2, thread: 21, frames: [("scan", "fm.py", 50), ("main", "fm.py", 7)], at: 51_600)
    log.unmounted(at: 60_000)
    return log
  }

  private static func difference() throws -> RunDifference {
    let (first, second) = (try ReportFolder(ReportTests.log.bytes), try ReportFolder(after.bytes))
    return RunDifference(before: try first.export([]), after: try second.export([]))
  }

  @Test func whatIsNewGoneAndSlowerIsNamed() throws {
    let difference = try Self.difference()
    #expect(difference.totals["files"] == .init(before: 1, after: 2))
    #expect(difference.totals["blocked_ns"] == .init(before: 22_500, after: 40_500))
    #expect(difference.paths.map(\.name) == ["photos/<script>|`;", "photos/a.jpg"])
    #expect(difference.paths.map(\.change) == [.new, .changed])
    #expect(difference.paths[1].blocked == .init(before: 20_500, after: 40_000))
    #expect(difference.programs.map(\.name) == ["python3 fm.py"])
    #expect(difference.stacks.map(\.change) == [.changed, .new])
    #expect(difference.stacks[0].frames == ["load (fm.py:42)", "main (fm.py:7)"])
    let gone = RunDifference(
      before: try ReportFolder(Self.after.bytes).export([]), after: try ReportFolder(ReportTests.log.bytes).export([]))
    #expect(gone.paths.map(\.change) == [.gone, .changed])
    #expect(DifferenceText.lines(gone).contains { $0.hasPrefix("gone ") && $0.hasSuffix("photos/<script>|`;") })
  }

  @Test func aRunIsNoDifferenceFromItself() throws {
    let folder = try ReportFolder(Self.after.bytes)
    let difference = RunDifference(before: try folder.export([]), after: try folder.export([]))
    #expect(difference.programs.isEmpty && difference.paths.isEmpty && difference.stacks.isEmpty)
    #expect(DifferenceText.lines(difference).last == "no program, no file and no stack differs")
    for measure in DifferenceCondition.Measure.allCases {
      #expect(try DifferenceCondition(parsing: measure.rawValue).failure(of: difference) == nil)
    }
  }

  @Test(
    arguments: [
      ("new-files", "new-files: photos/<script>|`; were not fetched before"),
      ("more-files", "more-files: 2 after 1 before"),
      ("more-files=99%", "more-files: 2 after 1 before, more than 99.00 % beyond"), ("more-files=100%", nil),
      ("longer-waits=79.9%", "longer-waits: 40.5 us after 22.5 us before, more than 79.90 % beyond"),
      ("longer-waits=80%", nil), ("more-waits", nil), ("more-failures", nil),
    ] as [(String, String?)])
  func conditionsFailWithASentence(text: String, words: String?) throws {
    #expect(try DifferenceCondition(parsing: text).failure(of: Self.difference()) == words)
  }

  @Test(arguments: ["", "more", "new-files=1%", "more-bytes=", "more-bytes=x%", "more-bytes=-1%", "more-bytes=20"])
  func wrongConditionsAreRefused(text: String) {
    #expect(throws: DifferenceCondition.Flaw.self) { try DifferenceCondition(parsing: text) }
  }

  @Test func noLanguageHasMarkupOfAName() throws {
    var difference = try Self.difference()
    difference.judge([try DifferenceCondition(parsing: "new-files")])
    let markdown = DifferenceText.markdown(difference)
    #expect(markdown.hasPrefix("### :x: dataless: new-files&#58; photos/&#60;script&#62;"))
    #expect(!markdown.contains("<script") && !markdown.contains("|`"))
    let page = DifferenceText.page(difference)
    #expect(!page.contains("<script") && page.contains("default-src 'none'; style-src 'sha256-"))
    let folder = try ReportFolder([])
    try difference.write([.init(kind: .json, path: Array("\(folder.path)/json".utf8))])
    let json = try #require(JSONObject(Array(try folder.text(.json).utf8.dropLast())))
    #expect(json.objects("paths").map { $0.string("change") } == ["new", "changed"])
  }
}
