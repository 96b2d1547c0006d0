import DatalessCore
import TestSupport
import Testing

@Suite struct JSONStringTests {
  private func text(_ bytes: [UInt8], _ beyond: JSONString.BeyondASCII = .asTheyAre) -> String {
    var output: [UInt8] = []
    JSONString.append(bytes, to: &output, beyondASCII: beyond)
    return String(decoding: output, as: UTF8.self)
  }

  @Test func escapesWhatJSONDoesNotTakeAndControlCharacters() {
    let bytes = Array("a\"b\\c\n\r\t\u{0}\u{1b}\u{7f}\u{85}\u{a0}\u{2028}\u{1F600}".utf8)
    let escaped = #""a\"b\\c\n\r\t\u0000\u001b\u007f\u0085"#
    #expect(text(bytes) == escaped + "\u{a0}\u{2028}\u{1F600}\"")
    #expect(text(bytes, .escaped) == escaped + #"\u00a0\u2028"# + "\u{1F600}\"")
  }

  @Test func replacesWhatIsNotUTF8() {
    // A byte alone, a part of a scalar, a surrogate, and one scalar too many.
    let bytes: [UInt8] = [0x61, 0xFF, 0xE2, 0x82, 0x62, 0xED, 0xA0, 0x80, 0xF4, 0x90, 0x80, 0x80]
    #expect(text(bytes) == "\"\(String(decoding: bytes, as: UTF8.self))\"")
    #expect(text([0x61, 0xFF], .escaped) == #""a\ufffd""#)
  }

  /// Eight bytes together are judged as one by one, whatever stands beside what.
  @Test func eightBytesAtATime() {
    for byte in UInt8.min...UInt8.max {
      for neighbour in [UInt8(ascii: "a"), 0x20, 0x7E, 0x21, 0x23, 0x5B, 0x5D, byte] {
        for place in 0..<8 {
          var word = UInt64(neighbour) &* 0x0101_0101_0101_0101
          word = word & ~(0xFF << UInt64(place * 8)) | UInt64(byte) << UInt64(place * 8)
          #expect(
            JSONString.isPlain(word) == (JSONString.isPlain(byte) && JSONString.isPlain(neighbour)),
            "\(byte) beside \(neighbour) at \(place)")
        }
      }
    }
  }

  /// The pieces of any bytes follow each other to the end, and what they make says what String says.
  @Test func anyBytesInPieces() {
    let seed = TestSeed.one
    var random = TestRandom(seed: seed)
    let samples: [[UInt8]] = [
      Array("\u{85}\"\u{1F600}x".utf8), [0xE2, 0x82, 0xAC], [0xC2], [0xF0, 0x9F], [0x80], [0x1F],
    ]
    for _ in 0..<2_000 {
      var bytes: [UInt8] = []
      for _ in 0..<random.below(8) { bytes += random.oneIn(3) ? [random.byte()] : random.element(of: samples) }
      let expected = String(decoding: bytes, as: UTF8.self)
      var joined: [UInt8] = []
      bytes.withUnsafeBufferPointer { buffer in
        var position = 0
        while position < buffer.count {
          let (piece, end) = JSONString.piece(of: buffer, from: position)
          switch piece {
          case .plain: joined += buffer[position..<end]
          case .escaped(let unit): joined += String(decoding: [unit], as: UTF16.self).utf8
          case .replaced: joined += JSONString.replacement
          }
          position = end
        }
      }
      #expect(joined == Array(expected.utf8), "seed \(seed), bytes \(bytes)")
    }
  }
}

@Suite struct Base64Tests {
  /// RFC 4648, section 10.
  @Test(arguments: [
    "": "", "f": "Zg==", "fo": "Zm8=", "foo": "Zm9v", "foob": "Zm9vYg==", "fooba": "Zm9vYmE=", "foobar": "Zm9vYmFy",
  ])
  func testVectors(_ text: String, _ encoded: String) {
    #expect(Base64.text(Array(text.utf8)) == encoded)
    #expect(Base64.decode(encoded) == Array(text.utf8))
  }

  @Test(arguments: [
    "Z", "Zg", "Zg=", "Zg===", "Z===", "====", "Zg==Zg==", "Zm8=\n", " Zm8=", "Zm-_", "Zm8\u{e9}", "=Zm8",
  ])
  func refusesWhatIsNotBase64(_ text: String) { #expect(Base64.decode(text) == nil) }

  @Test func anyBytesComeBack() {
    let seed = TestSeed.one
    var random = TestRandom(seed: seed)
    for _ in 0..<1_000 {
      let bytes = (0..<random.below(40)).map { _ in random.byte() }
      #expect(Base64.decode(Base64.text(bytes)) == bytes, "seed \(seed), bytes \(bytes)")
    }
  }
}
