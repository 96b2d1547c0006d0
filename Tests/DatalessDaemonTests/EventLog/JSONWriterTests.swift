import TestSupport
import Testing

@testable import DatalessDaemon

@Suite struct JSONWriterTests {
  private func written(_ body: (inout JSONWriter) -> Void) -> String {
    var json = JSONWriter()
    body(&json)
    return String(decoding: json.bytes, as: UTF8.self)
  }

  @Test func nestingAndCommas() {
    let text = written { json in
      json.beginObject()
      json.field("a", 1)
      json.key("b")
      json.beginArray()
      json.integer(-2)
      json.beginObject()
      json.endObject()
      json.null()
      json.endArray()
      json.key("c")
      json.value(["x": true, "y": [], "z": [1, "two", nil], "path": .bytes([0x66, 0xFF])])
      json.optional("d", nil as Int?)
      json.nullable("e", nil as [UInt8]?)
      json.endObject()
    }
    #expect(
      text
        == "{\"a\":1,\"b\":[-2,{},null],\"c\":{\"x\":true,\"y\":[],\"z\":[1,\"two\",null],\"path\":\"f\u{FFFD}\","
        + "\"path_b64\":\"Zv8=\"},\"e\":null}")
  }

  @Test(arguments: [Int64.min, -1, 0, 9, 10, 99, 100, 999, 1000, 12_345, Int64.max]) func integers(_ value: Int64) {
    #expect(written { $0.integer(value) } == "\(value)")
  }

  @Test func theLargestInteger() { #expect(written { $0.integer(UInt64.max) } == "18446744073709551615") }

  @Test func controlCharactersAreEscaped() {
    let text = written { $0.string("a\"b\\c\n\r\t\u{0}\u{1b}\u{7f}\u{85}\u{a0}\u{1F600}") }
    #expect(text == #""a\"b\\c\n\r\t\u0000\u001b\u007f\u0085"# + "\u{a0}\u{1F600}\"")
  }

  @Test(arguments: [[], [0], [0, 255], [1, 2, 3], [250, 251, 252, 253]] as [[UInt8]])
  func base64(_ bytes: [UInt8]) throws {
    #expect(try ParsedJSON(written { $0.base64(bytes) }).decodedBytes == bytes)
  }

  /// A byte to be escaped is found wherever it stands, in texts of all lengths, and nothing of a try stays.
  @Test(arguments: 0...34) func aByteToBeEscapedAnywhere(_ length: Int) throws {
    let plain = (0..<length).map { UInt8(ascii: "a") + UInt8($0 % 26) }
    for place in 0...length {
      for odd: UInt8? in [nil, 0x22, 0x5C, 0x1F, 0x7F] {
        var bytes = plain
        if let odd { bytes.insert(odd, at: place) }
        let text = written { json in
          json.beginObject()
          json.field("first", bytes)
          json.field("second", String(decoding: bytes, as: UTF8.self))
          json.key("third")
          json.string(bytes)
          json.field("number", 7)
          json.endObject()
        }
        let parsed = try ParsedJSON(text)
        for name in ["first", "second", "third"] {
          #expect(parsed[name]?.string.map { Array($0.utf8) } == bytes, "\(text)")
        }
        #expect(text.hasSuffix(#","number":7}"#))
      }
    }
  }

  /// Any bytes: the text is JSON, says what String says, and the bytes come back where the text cannot hold them.
  @Test func anyBytes() throws {
    let seed = TestSeed.one
    var random = TestRandom(seed: seed)
    for _ in 0..<4000 {
      let bytes = RandomBytes.next(&random)
      let text = written { json in
        json.beginObject()
        json.field("path", bytes)
        json.endObject()
      }
      let parsed = try ParsedJSON(text)
      let expected = String(decoding: bytes, as: UTF8.self)
      let isText = Array(expected.utf8) == bytes
      #expect(parsed["path"]?.string.map { Array($0.utf8) } == Array(expected.utf8), "seed \(seed), bytes \(bytes)")
      #expect(parsed["path_b64"]?.decodedBytes == (isText ? nil : bytes), "seed \(seed), bytes \(bytes)")
    }
  }
}
