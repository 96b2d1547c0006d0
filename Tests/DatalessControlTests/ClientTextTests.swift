import Testing

@testable import DatalessControl

/// What the client makes of bytes on their way to the daemon and back.
@Suite struct ClientTextTests {
  @Test func everyByteThatIsNotPlainHasTwoDigits() {
    #expect(PercentEncoding.encode([0, 1, 0x20, 0xff]) == "%00%01%20%FF")
    #expect(PercentEncoding.encode(bytes("aZ0-._~/+")) == "aZ0-._~%2F%2B")
  }

  @Test func linesComeWholeHoweverTheyArePieced() throws {
    let text = bytes("one\n\ntwo two\nthree\nno end")
    for size in 1...text.count {
      var splitter = LineSplitter()
      var lines: [String] = []
      var rest = text[...]
      while !rest.isEmpty {
        try splitter.append(rest.prefix(size))
        rest = rest.dropFirst(size)
        while let line = splitter.next() { lines.append(String(decoding: line, as: UTF8.self)) }
      }
      #expect(lines == ["one", "", "two two", "three"], "in pieces of \(size)")
    }
  }

  /// An answer of another user's program, without an end.
  @Test func aLineHasALimit() throws {
    var splitter = LineSplitter()
    let piece = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
    for _ in 0...16 { try splitter.append(piece) }
    #expect(throws: ControlError.self) { try splitter.append(piece) }
  }
}
