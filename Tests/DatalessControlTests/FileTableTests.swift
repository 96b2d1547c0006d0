import TestSupport
import Testing

@testable import DatalessControl

/// What is kept of each file in few bytes: all of it, whatever a log says.
@Suite struct FileTableTests {
  private static func closed(_ fields: String) throws -> HandleRecord {
    let line = #"{"type":"handle.closed","path":"a","handle":1,\#(fields)}"#
    return try #require(HandleRecord(try partialRecord(line)))
  }

  /// Sizes on both sides of what fits.
  private static let sizes: [Int64] = [0, 1, 4_096, 4_294_967_295, 4_294_967_296, -1, .max]

  /// One step of what happens to a version.
  private static func change(_ version: inout FileVersion, _ random: inout TestRandom, _ handles: [HandleRecord]) {
    switch random.below(12) {
    case 0: version.size = random.element(of: sizes)
    case 1: version.attempts = random.element(of: [1, 2, UInt16.max])
    case 2:
      let group: Int? = random.element(of: [nil, 0, 7, 70_000])
      _ = version.materialized(bytes: random.element(of: sizes), group: group, isWhole: random.oneIn(2))
    case 3: version.isPartial = random.oneIn(2)
    case 4: version.isUnseen = true
    case 5: version.isKept = random.oneIn(2)
    case 6: version.isSuperseded = random.oneIn(2)
    case 7: version.openHandles = random.element(of: [Int32(0), 1, 65_535, 65_536])
    case 8: version.predecessor = random.element(of: [nil, 0, 3])
    case 9: _ = version.noteReaders(random.element(of: [[0], [1], [1, 2], [70_000]]))
    default: version.noteRead(random.element(of: handles))
    }
  }

  @Test(arguments: TestSeed.seeds) func versionsAreAsTheyWouldBeOneByOne(seed: UInt64) throws {
    let handles = try [
      #""size":100,"covered_bytes":100,"high_water_mark":100"#,
      #""size":100,"covered_bytes":10,"high_water_mark":90,"ranges":[[0,5],[85,90]]"#,
      #""size":100,"covered_bytes":10,"high_water_mark":90,"mapped_bytes":10,"cached_before":true"#,
      #""size":9000000000,"covered_bytes":9000000000,"high_water_mark":9000000000"#,
      #""size":100,"covered_bytes":50,"covered_unit":4096,"high_water_mark":100,"mapped_bytes":50"#,
    ].map { try Self.closed($0) }
    try Fuzz.run("versions of files", seed: seed, cases: 20) { random, note in
      var packed = FileVersions()
      var plain: [FileVersion] = []
      for _ in 0..<400 {
        if plain.isEmpty || random.oneIn(10) {
          packed.append(FileVersion())
          plain.append(FileVersion())
        }
        let row = random.below(plain.count)
        var same = random
        Self.change(&packed[row], &random, handles)
        Self.change(&plain[row], &same, handles)
        #expect("\(packed[row])" == "\(plain[row])", "\(note)")
      }
      #expect(packed.count == plain.count)
      #expect(packed.map { "\($0)" } == plain.map { "\($0)" }, "\(note)")
    }
  }

  @Test func ordinaryVersionsTakeNoMoreThanTheyAreSaidTo() {
    #expect(MemoryLayout<PackedVersion>.stride == 60)
    #expect(MemoryLayout<FileVersion>.stride <= 144)
  }

  @Test func pathsComeBackAsTheyWere() {
    let long = [UInt8](repeating: UInt8(ascii: "x"), count: 300)
    let longer = [UInt8](repeating: 0xff, count: 70_000)
    var paths = ["", "a", "/", "/x", "a//b", "a/", "a/b/c", "d/e", "d/f"].map { bytes($0) }
    paths += [long, bytes("d/") + long, bytes("d/") + longer, longer, [0, 0x80, 0x2f, 0xfe], bytes("last")]
    paths += (0..<10_000).map { bytes("directory-\($0 % 7)/file-\($0)") }
    var store = PathStore()
    let places = paths.map { store.add($0) }
    #expect(places.map { store.path($0) } == paths)
    #expect(store.directory(Int(places[0].directory)).isEmpty)
    #expect(store.directory(Int(places[6].directory)) == bytes("a/b"))
    #expect(places[7].directory == places[8].directory)
  }

  @Test func theFirstEightProcessesOfAFileAreNamed() {
    var details = FileDetails()
    for pid in [Int32(1), 2, 1] {
      details.addProcess(0, path: bytes("a"), process: FileSummary.Process(pid: pid, comm: "c"))
    }
    for pid in Int32(1)...10 {
      details.addProcess(3, path: bytes("b"), process: FileSummary.Process(pid: pid, comm: "c"))
    }
    details.addProcess(4, path: bytes("c"), process: nil)
    #expect(details.count == 3 && !details.isThere(1) && !details.isThere(9))
    #expect(details.summary(0).processes.map(\.pid) == [1, 2] && details.summary(0).processCount == 2)
    #expect(details.summary(3).processes.map(\.pid) == Array(1...8) && details.summary(3).processCount == 10)
    #expect(details.summary(4).processes.isEmpty && details.summary(4).path == "c")
  }

  @Test(arguments: TestSeed.seeds) func theFirstRowsAreThoseOfAllRows(seed: UInt64) throws {
    try Fuzz.run("rows of files", seed: seed, cases: 10) { random, note in
      var builder = SummaryBuilder(files: .needless)
      for line in LogFuzzTests.log(&random, session: true) {
        if let record = LogRecord(line: line) { builder.add(record) }
      }
      let (report, table) = builder.finishWithTable(log: bytes("/x"))
      #expect(report.files == nil)
      for order in FileSummary.Order.allCases {
        let all = table.summaries(by: order)
        #expect(all.count == table.count)
        for limit in [1, 2, 3, all.count, all.count + 9] where limit > 0 {
          let first = table.first(limit, by: order).map { table[$0] }
          #expect(first == Array(all.prefix(limit)), "\(note): \(limit) by \(order)")
        }
      }
    }
  }

  @Test func ofEqualRowsTheFirstComeFirst() {
    var first = FirstRows<(number: Int, place: Int)>(limit: 3) { $0.number < $1.number }
    for place in 0..<50 { first.add((number: place % 5, place: place)) }
    #expect(first.sorted.map { $0.number } == [0, 0, 0])
    #expect(first.sorted.map { $0.place } == [0, 5, 10])
  }
}
