import DatalessCore
import Testing

@testable import DatalessCommands
@testable import DatalessControl

/// How rows of `dataless log` refer to each other's stacks.
@Suite struct LogStackTests {
  private static func frames(_ name: String) throws -> String {
    let frame = CallerFrame(
      module: bytes("/bin/x"), offset: 1, symbol: bytes(name), file: bytes("x.c"), line: 7, foundBy: "tables")
    let stack = CallerStack(isComplete: true, end: "outermost", frames: [frame], interpreted: nil)
    return #","stack":"# + String(decoding: try WireCoding.encode(stack), as: UTF8.self)
  }

  private static func record(_ attempt: Int, _ stack: Int, _ more: String = "") throws -> LogRecord {
    try partialRecord(
      #"{"type":"wait.stack","attempt":\#(attempt),"trigger":"read","outcome":"ok","stack_id":\#(stack)\#(more)}"#)
  }

  private static func detail(_ record: LogRecord, _ table: inout LogTable, isWanted: Bool = true) -> String? {
    table.row(record, LogProcesses(keepsRecords: false), isWanted: isWanted)?.detail
  }

  @Test func theFirstRowOfAStackHasTheNumberThatOthersReferTo() throws {
    var table = LogTable(showsEveryType: false, showsStarts: false)
    let first = Self.detail(try Self.record(1, 3, try Self.frames("load")), &table)
    #expect(first == "load (x.c:7) [stack 3] [attempt 1]")
    let other = Self.detail(try Self.record(2, 4, try Self.frames("draw")), &table)
    #expect(other == "draw (x.c:7) [stack 4] [attempt 2]")
    let later = Self.detail(try Self.record(5, 3), &table)
    #expect(later == "as stack 3 [attempt 5]")
  }

  /// The record with the functions is not of what is asked for, or earlier: the first row that is says them.
  @Test func aRowRefersToNoneThatIsLeftOut() throws {
    var table = LogTable(showsEveryType: false, showsStarts: false)
    let left = Self.detail(try Self.record(1, 3, try Self.frames("load")), &table, isWanted: false)
    #expect(left == nil)
    let alsoLeft = Self.detail(try Self.record(2, 3), &table, isWanted: false)
    #expect(alsoLeft == nil)
    let first = Self.detail(try Self.record(3, 3), &table)
    #expect(first == "load (x.c:7) [stack 3] [attempt 3]")
    let later = Self.detail(try Self.record(4, 3), &table)
    #expect(later == "as stack 3 [attempt 4]")
  }

  /// Its record was lost, or is one of more than are kept.
  @Test func ofAStackThatIsNotKnownTheLogIsNamed() throws {
    var table = LogTable(showsEveryType: false, showsStarts: false)
    let unknown = Self.detail(try Self.record(1, 3), &table)
    #expect(unknown == "as stack 3 of the log [attempt 1]")
    for number in 1...LogStacks.placesMax + 1 {
      _ = Self.detail(try Self.record(1, number, try Self.frames("f\(number)")), &table, isWanted: false)
    }
    let last = Self.detail(try Self.record(2, LogStacks.placesMax), &table)
    #expect(last == "f\(LogStacks.placesMax) (x.c:7) [stack \(LogStacks.placesMax)] [attempt 2]")
    let beyond = Self.detail(try Self.record(3, LogStacks.placesMax + 1), &table)
    #expect(beyond == "as stack \(LogStacks.placesMax + 1) of the log [attempt 3]")
  }

  @Test func whereThereIsNoStackTheRowSaysWhy() throws {
    var table = LogTable(showsEveryType: false, showsStarts: false)
    let record = try partialRecord(#"{"type":"wait.stack","access":9,"operation":"open","outcome":"thread_ran"}"#)
    let why = Self.detail(record, &table)
    #expect(why == "the wait was over before it could be taken [access 9]")
  }
}
