import DatalessControl
import DatalessCore
import SystemPackage
import Testing

@Suite struct LogFileTests {
  private func types(_ file: LogFile) throws -> [String] {
    var types: [String] = []
    while let record = try file.next() { types.append(record.typeName) }
    return types
  }

  @Test func readsAllRecordsWhateverTheirKind() throws {
    var log = LogText()
    log.mounted()
    log.add("from.the.future", at: 5, #""something":{"deep":[1,2,{"x":null}]}"#)
    log.add("mark", at: 6, #""label":"x","unknown_field":1e400"#)
    let file = try LogFile(path: keep(try TemporaryFile(log.bytes)).path)
    #expect(try types(file) == ["volume.mounted", "from.the.future", "mark"])
    #expect(file.malformedLines == 0)
    #expect(!file.hasPartialLine)
  }

  @Test func keepsATornLineUntilTheRestComes() throws {
    var log = LogText()
    log.add("mark", at: 1)
    log.add("mark", at: 2)
    let content = log.bytes
    let temporary = keep(try TemporaryFile(Array(content.dropLast(20))))
    let file = try LogFile(path: temporary.path)
    #expect(try types(file) == ["mark"])
    #expect(file.hasPartialLine)
    try temporary.append(Array(content.suffix(20)))
    #expect(try types(file) == ["mark"])
    #expect(!file.hasPartialLine)
  }

  @Test func aTornLastLineIsNoError() throws {
    var log = LogText()
    log.add("mark", at: 1)
    log.add("mark", at: 2)
    let file = try LogFile(path: keep(try TemporaryFile(Array(log.bytes.dropLast(20)))).path)
    #expect(try types(file) == ["mark"])
    #expect(file.tornLine() == nil)
    #expect(file.malformedLines == 1)
  }

  @Test func aLastLineThatOnlyLacksItsNewlineIsARecord() throws {
    var log = LogText()
    log.add("mark", at: 1)
    let file = try LogFile(path: keep(try TemporaryFile(Array(log.bytes.dropLast()))).path)
    #expect(try file.next() == nil)
    #expect(file.tornLine()?.type == .mark)
    #expect(file.malformedLines == 0)
  }

  @Test func linesThatAreNoRecordsAreCounted() throws {
    var log = LogText()
    log.add("mark", at: 1)
    let content = bytes("garbage\n\n[1]\n") + [0, 0xff, 10] + log.bytes
    let file = try LogFile(path: keep(try TemporaryFile(content)).path)
    #expect(try types(file) == ["mark"])
    #expect(file.malformedLines == 3)
  }

  @Test func linesLongerThanAnyRecordAreSkipped() throws {
    var log = LogText()
    log.add("mark", at: 1)
    let long = [UInt8](repeating: UInt8(ascii: "x"), count: LogFile.lineBytesMax + (2 << 20)) + [10]
    let file = try LogFile(path: keep(try TemporaryFile(log.bytes + long + log.bytes)).path)
    #expect(try types(file) == ["mark", "mark"])
    #expect(file.malformedLines == 1)
  }

  @Test func whatIsNoFileIsRefusedByName() {
    #expect { try LogFile(path: bytes("/nonexistent")) } throws: {
      ($0 as? ControlError)?.errno == .noSuchFileOrDirectory
    }
    #expect { try LogFile(path: bytes("/tmp")) } throws: { ($0 as? ControlError)?.errno == .isDirectory }
    #expect { try LogFile(path: [0x2f, 0]) } throws: { ($0 as? ControlError)?.errno == .invalidArgument }
  }

  @Test func typesMatchByWholeWords() throws {
    let record = try partialRecord(#"{"type":"materialization.started"}"#)
    #expect(record.isOfType("materialization"))
    #expect(record.isOfType("materialization.started"))
    #expect(!record.isOfType("mat"))
    #expect(!record.isOfType("materialization.started.x"))
    #expect(record.isOfType("") == false)
  }

  /// Temporary files live as long as the test.
  private let files = FileKeeper()
  private func keep(_ file: TemporaryFile) -> TemporaryFile { files.keep(file) }
  private final class FileKeeper {
    private var files: [TemporaryFile] = []
    func keep(_ file: TemporaryFile) -> TemporaryFile {
      files.append(file)
      return file
    }
  }
}
