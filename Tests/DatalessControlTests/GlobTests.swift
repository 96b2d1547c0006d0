import DatalessControl
import Testing

@Suite struct GlobTests {
  @Test(arguments: [
    ("*.c", "main.c", true), ("*.c", "src/deep/main.c", true), ("*.c", "main.h", false),
    ("src/*.c", "src/main.c", true),
    ("src/*.c", "src/deep/main.c", false), ("src/**", "src/deep/main.c", true), ("src/**", "src", false),
    ("**/*.c", "main.c", true), ("**/*.c", "a/b/main.c", true), ("/main.c", "main.c", true),
    ("/main.c", "a/main.c", false),
    ("a/**/z", "a/z", true), ("a/**/z", "a/b/c/z", true), ("a/**/z", "a/bz", false), ("a/**/z", "ab/z", false),
    ("?", "a", true), ("?", "ab", false), ("a?b/c", "a/b/c", false), ("[a-c]x", "bx", true), ("[!a-c]x", "bx", false),
    ("[!a-c]x", "dx", true), ("[]]", "]", true), ("[a", "[a", true), ("\\*", "*", true), ("\\*", "a", false),
    ("*", "", true),
    ("**", "a/b", true), ("a*b*c", "aXbYc", true), ("a*b*c", "aXbY", false), ("*/b", "a/b", true),
    ("a**b/c", "ax/yb/c", true),
  ])
  func matches(pattern: String, path: String, expected: Bool) {
    #expect(Glob(bytes(pattern)).matches(bytes(path)) == expected)
  }

  @Test func bytesThatAreNotUTF8() {
    #expect(Glob([0xff, UInt8(ascii: "*")]).matches([0xff, 0xfe, 0x61]))
    #expect(!Glob([0xff]).matches(bytes("\u{fffd}")))
    #expect(Glob(bytes("?")).matches([0x80]))
  }

  /// Would take longer than the universe has existed if all ways were tried one by one.
  @Test func manyStarsAreNoTrouble() {
    let pattern = String(repeating: "*a", count: 40) + "b"
    #expect(!Glob(bytes(pattern)).matches(bytes(String(repeating: "a", count: 2_000))))
    #expect(!Glob(bytes(String(repeating: "**/", count: 40) + "x")).matches(bytes(String(repeating: "a/", count: 500))))
  }
}
