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
    // One stack, complete, of two frames, both of the program.
    #expect(data.raw("stacks").map { String(decoding: $0, as: UTF8.self) } == "[[1,[0,1],0,2]]")
  }

  /// Counters without a request are no log without counters.
  @Test func noRequestsAreNotUnknownRequests() throws {
    func requests(_ counters: String) throws -> String? {
      var log = LogLines()
      log.mounted()
      log.add("volume.unmounted", at: 9, #""reason":"unmount"\#(counters)"#)
      return try Self.data(Self.page(log)).raw("requests").map { String(decoding: $0, as: UTF8.self) }
    }
    #expect(try requests("") == "null")
    #expect(try requests(#","requests_reaching_the_volume":{}"#) == "[]")
    #expect(try requests(#","requests_reaching_the_volume":{"lookup":2}"#)?.hasSuffix(",2]]") == true)
    let script = String(decoding: PackageResources.report_js, as: UTF8.self)
    #expect(script.contains(#"data.requests ? "none reached the volume" : "not known"#))
  }

  /// One waits for the other, which is asked about it; and one to the end of what the log has.
  private static var coordinated: LogLines {
    var log = LogLines()
    log.mounted()
    log.process(1, pid: 10, "editor")
    log.process(2, pid: 12, "<b>sync")
    let own = #""path":"a","reads":0,"writes":1,"process":1"#
    let other = #""path":"<i>","reads":2,"writes":0,"process":2"#
    log.add("coordination.started", at: 1_000, #""intent":1,\#(own)"#)
    log.add("coordination.granted", at: 1_000, #""intent":1,\#(own),"waited_ns":0,"asking_ns":0,"materializing_ns":0"#)
    log.add("coordination.started", at: 2_000, #""intent":2,\#(other),"waits_for":[1],"waits_at":"a""#)
    log.add("coordination.finished", at: 5_000, #""intent":1,\#(own),"outcome":"ok","held_ns":4000"#)
    log.add("presenter.answered", at: 5_100, #""presenter":9,"path":"a","process":1,"took_ns":100,"outcome":"ok""#)
    log.add(
      "coordination.granted", at: 5_300,
      #""intent":2,\#(other),"waited_ns":3000,"asking_ns":100,"materializing_ns":200"#)
    log.add("coordination.started", at: 6_000, #""intent":3,\#(own),"waits_for":[2],"waits_at":"a""#)
    log.add("mark", at: 6_500, #""label":"now""#)
    return log
  }

  @Test func aPageShowsWhoWaitedForWhom() throws {
    let page = try Self.page(Self.coordinated)
    let coordination = try #require(try Self.data(page).object("coordination"))
    func raw(_ key: StaticString) -> String {
      coordination.raw(key).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
    #expect(raw("facts").contains("for others: 3.5 us in 2 intents (1 under way)"), "\(raw("facts"))")
    // Waited for, and by whom; the names are texts of the page.
    #expect(raw("waits").hasPrefix(#"[[3000,"2","#) && raw("waits").contains(#"],[500,"3","#), "\(raw("waits"))")
    #expect(raw("presenters").contains(",1,0,100,100]"), "\(raw("presenters"))")
    for text in [
      #"to read \u003ci\u003e and 1 more"#, "editor[10] (intent 1)", #"\u003cb\u003esync[12] (intent 2)"#,
      "to write, behind ",
    ] {
      #expect(page.contains(text), "\(text)")
    }
    #expect(!page.contains("<b>sync") && !page.contains("<i>"))
    let lanes = coordination.objects("lanes")
    #expect(lanes.map { $0.integer("waits") } == [1, 1] && lanes.map { $0.integer("blocked") } == [3_000, 500])
    #expect(lanes.map { $0.string("thread") } == ["coordinated accesses", "coordinated accesses"])
    #expect(page.contains("Coordinated accesses"))
  }

  @Test func aPageWithoutCoordinationHasNoneOfIt() throws {
    #expect(try Self.data(Self.page()).object("coordination") == nil)
  }

  @Test func markdownHasTheSameRows() throws {
    let folder = try ReportFolder(Self.coordinated.bytes)
    try folder.export([.markdown])
    let text = try folder.text(.markdown)
    #expect(text.contains("<summary>Coordinated accesses &#40;3&#41;</summary>"), "\(text)")
    #expect(text.contains("| 3.0 us | `<b>sync[12]` |"), "\(text)")
    let shown = MarkdownText.withoutCode(text)
    #expect(!shown.contains("<b>") && !shown.contains("<i>"))
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

  /// Data of a page of a run without anything but files.
  private static func data(_ files: FileTable) throws -> JSONObject {
    let report = Report(
      context: ReportContext(version: "0"), verdict: ReportVerdict(checks: []), summary: SummaryReport(), records: 0,
      origin: 0, end: 0, timeline: Timeline(), lanes: [], stackTable: StackTable(), blocked: BlockedStacks(),
      longest: [], happenings: Happenings(), directories: DirectoryWaits(), options: nil, files: files)
    var data = PageData(report)
    return try #require(JSONObject(data.json()))
  }

  @Test func directoriesBeyondTheLimitAreAddedUpAtTheRoot() throws {
    let (shown, few) = (PageData.filesMax, PageData.restMax + 7)
    // The files that are waited for longest are in one directory, of the others each in one of its own.
    let json = try Self.data(FileTables.waited(shown + few) { $0 < few ? "d\($0)/f" : "long/f\($0)" })
    #expect(json.raw("files")?.count(where: { $0 == UInt8(ascii: "[") }) == shown + 1)
    let rest = try #require(json.raw("rest").map { String(decoding: $0, as: UTF8.self) })
    #expect(rest.count { $0 == "[" } == PageData.restMax + 2)
    #expect(rest.hasSuffix(#",[".",7,70,0,35021,7]]"#), "\(rest.suffix(100))")
    let notes = try #require(json.raw("notes").map { String(decoding: $0, as: UTF8.self) })
    #expect(notes.contains("7 are in directories beyond the first 5,000: they are added up at the root"), "\(notes)")
  }

  @Test func allFilesAreShownUpToTheLimit() throws {
    let json = try Self.data(FileTables.waited(3) { "d/f\($0)" })
    #expect(json.raw("rest").map { String(decoding: $0, as: UTF8.self) } == "[]")
    #expect(json.raw("files")?.count(where: { $0 == UInt8(ascii: "[") }) == 4)
    #expect(json.raw("notes").map { String(decoding: $0, as: UTF8.self) }?.contains("files") == false)
  }

  @Test func filesBeyondTheLimitAreAddedUpByDirectory() throws {
    let json = try Self.data(FileTables.waited(PageData.filesMax + 100) { "d\($0 % 10)/f\($0)" })
    #expect(json.raw("files")?.count(where: { $0 == UInt8(ascii: "[") }) == PageData.filesMax + 1)
    #expect(json.raw("rest").map { String(decoding: $0, as: UTF8.self) }?.hasPrefix(#"[["d0",10,100,"#) == true)
    #expect(json.raw("notes").map { String(decoding: $0, as: UTF8.self) }?.contains("20,000 files of 20,100") == true)
  }
}
