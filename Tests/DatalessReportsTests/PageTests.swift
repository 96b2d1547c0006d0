import DatalessControl
import DatalessCore
import Testing

@testable import DatalessReports

/// The HTML page as a file; `make html-check` looks at it in a browser.
@Suite struct PageTests {
  private static func page(_ log: LogLines = ReportTests.log) throws -> String {
    let folder = try ReportFolder(log.bytes)
    try folder.export([.html])
    return try folder.text(.html)
  }

  private static func data(_ page: String) throws -> JSONObject {
    let start = try #require(page.firstRange(of: "id=\"data\">")).upperBound
    let end = try #require(page[start...].firstRange(of: "</script>")).lowerBound
    return try #require(JSONObject(Array(page[start..<end].utf8)))
  }

  @Test func digestsAreThoseOfTheStandard() {
    func hexadecimal(_ text: String) -> String {
      SHA256.digest(Array(text.utf8)).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
    #expect(hexadecimal("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    #expect(hexadecimal("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(
      hexadecimal("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")
        == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1")
  }

  /// What to put into `HTMLWriter` after a change of the page is in the message.
  @Test func theBrowserIsToldOfTheScriptAndTheStyleThatAreThere() {
    func hash(_ bytes: [UInt8]) -> String {
      "sha256-" + String(decoding: Base64.encode(SHA256.digest(bytes)), as: UTF8.self)
    }
    #expect(HTMLWriter.scriptHash == hash(PackageResources.report_js))
    #expect(HTMLWriter.styleHash == hash(PackageResources.report_css))
  }

  @Test func aPageLoadsNothingAndRunsOneScript() throws {
    let page = try Self.page()
    #expect(page.contains("default-src 'none'; script-src 'sha256-"))
    #expect(!page.contains("http://") && !page.contains("https://") && !page.contains(" src="))
    #expect(page.matches(of: #/<script/#).count == 2)
    // What would end the script or the style early.
    for resource in [PackageResources.report_js, PackageResources.report_css] {
      let text = String(decoding: resource, as: UTF8.self)
      #expect(!text.contains("</") && !text.contains("<!--"))
    }
  }

  @Test func theDataAreThoseOfTheLog() throws {
    let data = try Self.data(Self.page())
    #expect(data.object("timeline")?.objects("rows").map { $0.integer("waits") } == [2, 1])
    #expect(data.object("timeline")?.objects("rows").map { $0.bool("main") } == [true, false])
    #expect(data.object("timeline")?.integer("resolution") == 0)
    #expect(data.integer("duration") == 50_000)
    #expect(data.raw("notes")?.count == 2)
  }

  /// More than is shown one by one: added up, with the same sums, and said.
  @Test func manyWaitsBecomeFewerPieces() {
    var timeline = Timeline()
    var lanes = ThreadLanes()
    let count = 3 * Timeline.piecesMax
    for number in 0..<count {
      var wait = ReportWait(
        number: UInt64(number), trigger: "read", process: 1, threadID: Int64(number % 3),
        start: Int64(number) * 1_000, end: Int64(number) * 1_000 + 500, outcome: number % 1_000 == 0 ? "EIO" : "ok")
      wait.lane = lanes.lane(of: wait)
      timeline.add(wait, lanes: lanes)
    }
    #expect(timeline.resolution > 0)
    #expect(timeline.rows.count == 3)
    let pieces = timeline.rows.flatMap(\.pieces)
    #expect(pieces.count <= Timeline.piecesMax)
    #expect(pieces.reduce(0) { $0 + $1.waits } == Int64(count))
    #expect(pieces.reduce(0) { $0 + $1.blocked } == Int64(count) * 500)
    #expect(pieces.reduce(0) { $0 + $1.failures } == Int64(count / 1_000))
    for row in timeline.rows {
      for (left, right) in zip(row.pieces, row.pieces.dropFirst()) { #expect(left.end <= right.start) }
    }
  }

  @Test func threadsBeyondTheLimitShareALane() throws {
    var timeline = Timeline()
    var lanes = ThreadLanes()
    for number in 0..<Timeline.rowsMax + 50 {
      var wait = ReportWait(
        trigger: "read", process: UInt32(number), threadID: 1, start: Int64(number), end: Int64(number) + 1,
        outcome: "ok")
      wait.lane = lanes.lane(of: wait)
      timeline.add(wait, lanes: lanes)
    }
    #expect(timeline.rows.count == Timeline.rowsMax + 1)
    #expect(timeline.rows.last?.isRest == true)
    #expect(timeline.rows.last?.waits == 50)
  }

  @Test func filesBeyondTheLimitAreAddedUpByDirectory() throws {
    var summary = SummaryReport()
    summary.files = (0..<PageData.filesMax + 100).map { number in
      var file = FileSummary()
      file.path = "d\(number % 10)/f\(number)"
      file.bytes = 10
      file.blocked.sumNanoseconds = Int64(number)
      return file
    }
    let report = Report(
      context: ReportContext(version: "0"), verdict: ReportVerdict(checks: []), summary: summary, records: 0, origin: 0,
      end: 0, timeline: Timeline(), lanes: [], stackTable: StackTable(), blocked: BlockedStacks(), longest: [],
      happenings: Happenings(), directories: DirectoryWaits(), options: nil)
    var data = PageData(report)
    let json = try #require(JSONObject(data.json()))
    #expect(json.raw("files")?.count(where: { $0 == UInt8(ascii: "[") }) == PageData.filesMax + 1)
    #expect(json.raw("rest").map { String(decoding: $0, as: UTF8.self) }?.hasPrefix(#"[["d0",10,100,"#) == true)
    #expect(json.raw("notes").map { String(decoding: $0, as: UTF8.self) }?.contains("20,000 files of 20,100") == true)
  }
}
