import DatalessCore
import Glibc
import Testing

/// Globs: a table, and fnmatch(3) where the two mean the same.
@Suite struct PathPatternTests {
  private static func matches(_ pattern: String, _ path: String) -> Bool? {
    PathPattern(Array(pattern.utf8))?.matches(Array(path.utf8))
  }

  @Test(arguments: [
    ("*.jpg", ["a.jpg", "x/y/a.jpg", ".jpg"], ["a.jpeg", "a.jpg/b", "ajpg"]),
    ("photos/*.jpg", ["photos/a.jpg"], ["photos/x/a.jpg", "a.jpg", "x/photos/a.jpg"]),
    ("/photos/*.jpg", ["photos/a.jpg"], ["photos/x/a.jpg"]),
    ("photos/**", ["photos", "photos/a", "photos/x/y"], ["photosx", "x/photos"]),
    ("**/a", ["a", "x/a", "x/y/a"], ["xa", "a/x"]),
    ("/**", ["", "a", "a/b"], []),
    ("a/**/b", ["a/b", "a/x/b", "a/x/y/b", "a/b/b"], ["a/xb", "b", "a/b/c"]),
    ("**/a/**/b/**", ["a/b", "x/a/y/b/z", "a/a/b"], ["b/a", "a"]),
    ("a/**b", ["a/b", "a/xb"], ["a/x/b"]),
    ("?", ["a", "x/b"], ["", "ab"]),
    ("[a-c]?", ["ax", "x/cz"], ["dx", "a"]),
    ("[!a-c]", ["d"], ["a", "dd"]),
    ("[]x]", ["]", "x"], ["["]),
    ("[a-]", ["a", "-"], ["b"]),
    ("\\*", ["*"], ["a"]),
    ("[*]", ["*"], ["a"]),
    ("*a*b*c", ["abc", "xaxbxc", "aabbcc"], ["acb", "abcd"]),
    ("/a", ["a"], ["x/a"]),
    ("a", ["a", "x/a"], ["b"]),
    ("**", ["", "a", "a/b"], []),
    ("*.{jpg,png}", ["a.jpg", "x/y.png"], ["a.gif", "a.{jpg,png}", "a.jpg,png", "a."]),
    ("{a,b}{1,2}", ["a1", "a2", "b1", "x/b2"], ["a", "1", "ab", "a12"]),
    ("photos/{2023,2024/raw}/**", ["photos/2023", "photos/2024/raw/x"], ["photos/2024/x", "photos/raw"]),
    // Each alternative is a pattern of its own, with or without a slash.
    ("{*.c,src/*.h}", ["a.c", "x/a.c", "src/a.h"], ["a.h", "x/src/a.h"]),
    ("a{,b,{c,d}e}", ["a", "ab", "ace", "ade"], ["ac", "ae", "a{", "abe"]),
    ("{a,**/b}/c", ["a/c", "b/c", "x/y/b/c"], ["x/a/c"]),
    ("[{,}]", ["{", ",", "}"], ["a", ""]),
    ("[]{]x", ["]x", "{x"], ["x"]),
    ("\\{a,b\\}", ["{a,b}"], ["a", "b"]),
    ("{a\\,b,c}", ["a,b", "c"], ["a", "b"]),
    ("a,b", ["a,b"], ["a", "b"]),
    ("{[a,b],x[},]}", ["a", ",", "b", "x}", "x,"], ["x", "[a", "a]"]),
  ])
  func table(pattern: String, yes: [String], no: [String]) {
    for path in yes { #expect(Self.matches(pattern, path) == true, "\(pattern) on \(path)") }
    for path in no { #expect(Self.matches(pattern, path) == false, "\(pattern) on \(path)") }
  }

  @Test(arguments: [
    "", "/", "a/", "a//b", "//a", ".", "..", "./a", "a/./b", "../a", "/a/..", "a/\\.", "[a", "[z-a]", "a\\", "[", "[!]",
    "x/[a/b]",
  ])
  func malformed(pattern: String) {
    #expect(PathPattern(Array(pattern.utf8)) == nil)
  }

  @Test(arguments: [
    ("*.{jpg", "a '{' is not closed", nil), ("*.jpg}", "a '}' closes nothing", nil), ("{jpg}", "only one word", nil),
    ("{}", "only one word", nil), ("a{b,{c}", "only one word", nil), ("a{b,{c,d}", "is not closed", nil),
    ("{a,b}\\", "nothing follows the backslash", "a\\"), ("a/{,b}", "ends in a slash", "a/"),
    ("{,a}", "it is empty", ""), ("./secret/**", "is '.' or '..'", nil), ("a/{b,..}/c", "is '.' or '..'", "a/../c"),
    ("x{a,[}", "a '[' is not closed", "x["), ("{a,[b}", "is not closed", "[b"),
    (String(repeating: "{a,", count: 9) + "b" + String(repeating: "}", count: 9), "more than 8 braces", nil),
    (String(repeating: "{a,b}", count: 9), "more than 256 globs", nil),
    ("{" + String(repeating: "a,", count: 256) + "b}", "more than 256 globs", nil),
    (String(repeating: "{", count: 1_000_000), "more than 8 braces", nil),
    (String(repeating: "a", count: 5000) + String(repeating: "{a,b}", count: 8), "very long ones", nil),
  ])
  func malformedBraces(pattern: String, why: String, alternative: String?) {
    do throws(PathPatternFlaw) {
      _ = try PathPattern(parsing: Array(pattern.utf8))
      Issue.record("\(pattern.prefix(50)) is taken")
    } catch {
      #expect(error.words.contains(why), "\(pattern.prefix(50)): \(error.words)")
      #expect(error.alternative.map { String(decoding: $0, as: UTF8.self) } == alternative, "\(pattern.prefix(50))")
    }
  }

  /// As many as there may be, and no more work than for so many globs.
  @Test func bracesMultiplyUpToTheirLimit() throws {
    let pattern = try #require(PathPattern(Array((String(repeating: "{a,b}", count: 8) + "*b*c").utf8)))
    #expect(pattern.alternatives.count == PathPattern.alternativesMax)
    #expect(pattern.matches(Array(("x/" + String(repeating: "ab", count: 100) + "c").utf8)))
    #expect(!pattern.matches(Array(String(repeating: "ab", count: 100).utf8)))
  }

  /// What braces stand for is what a shell makes of them.
  @Test func agreesWithTheShell() throws {
    var random = SeededRandom(key: 12)
    func word(_ depth: Int) -> String {
      (0..<Int.random(in: 1...3, using: &random)).map { _ in
        guard depth < 3, Int.random(in: 0..<4, using: &random) == 0 else {
          return ["a", "b", "cd", "x."].randomElement(using: &random) ?? ""
        }
        let words = (0..<Int.random(in: 2...3, using: &random)).map { _ in word(depth + 1) }
        return "{\(words.joined(separator: ","))}"
      }.joined()
    }
    let words = (0..<300).map { _ in word(0) }.filter { PathPattern(Array($0.utf8)) != nil }
    #expect(words.count > 250, "few have more alternatives than there may be")
    let told = ScenarioText.run("timeout 60 bash -c 'for word in \(words.joined(separator: " ")); do echo $word; done'")
    var expected: [String] = []
    for word in words {
      let pattern = try #require(PathPattern(Array(word.utf8)))
      expected += pattern.alternatives.map { String(decoding: $0.text, as: UTF8.self) }
    }
    #expect(told.output.split(separator: "\n").map(String.init) == expected)
  }

  /// Names may begin with dots, and be three of them.
  @Test func aNameOfDotsIsNoDot() {
    for (pattern, path) in [("...", "a/..."), ("a/.b/..c", "a/.b/..c"), ("a/.?", "a/.x"), (".*", "a/.x")] {
      #expect(Self.matches(pattern, path) == true, "\(pattern)")
    }
    // Of a cgroup, as one is seen that is elsewhere.
    let group = try? PathPattern(parsing: Array("/../system.slice/**".utf8), isPath: false)
    #expect(group?.matches(Array("/../system.slice/a".utf8).dropFirst().map { $0 }) == true)
  }

  @Test func bytesThatAreNotUTF8() {
    #expect(PathPattern([0xff, UInt8(ascii: "*")])?.matches([0xff, 0xfe, 0x61]) == true)
    #expect(PathPattern([0xff])?.matches(Array("\u{fffd}".utf8)) == false)
    #expect(PathPattern(Array("?".utf8))?.matches([0x80]) == true)
  }

  @Test(arguments: [
    ("/mnt/volume/photos/*.jpg", "photos/*.jpg"), ("/mnt/volume/*.jpg", "/*.jpg"), ("/mnt/volume", "**"),
    ("/mnt/volume/**", "/**"), ("/mnt/vol\\ume/a/b", "a/b"), ("/mnt/{other,volume}/a/b", "a/b"),
    ("/mnt/volumes/a", nil),
    ("mnt/volume/a", nil), ("/mnt/*/a", nil), ("/mnt", nil), ("volume", nil), ("*.jpg", nil), ("/**", nil),
  ])
  func aPathOfTheMachineIsToldFromOneOfTheVolume(pattern: String, meant: String?) {
    let found = PathPattern(Array(pattern.utf8))?.beyond(Array("/mnt/volume".utf8))
    #expect(found.map { String(decoding: $0, as: UTF8.self) } == meant)
    #expect(PathPattern(Array(pattern.utf8))?.beyond([UInt8(ascii: "/")]) == nil)
  }

  /// `**` is not fnmatch's, and it takes an unclosed bracket for itself; all else is the same.
  @Test func agreesWithFnmatch() {
    var random = SeededRandom(key: 11)
    let pieces = ["a", "b", "c", "*", "?", "[ab]", "[!a]", "[a-c]", "[]a]", "\\*", "\\a", ".", "/", "-"]
    var (compared, matched) = (0, 0)
    while compared < 50_000 {
      let text = (0..<Int.random(in: 1...6, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }
        .joined()
      guard !text.contains("**"), let pattern = PathPattern(Array(text.utf8)) else { continue }
      let components = (0..<Int.random(in: 1...3, using: &random)).map { _ in
        String((0..<Int.random(in: 1...3, using: &random)).map { _ in "abc].*-".randomElement(using: &random) ?? "a" })
      }
      let path = components.joined(separator: "/")
      let subject = text.contains("/") ? path : components.last ?? ""
      let wanted = fnmatch(text.hasPrefix("/") ? String(text.dropFirst()) : text, subject, FNM_PATHNAME) == 0
      #expect(pattern.matches(Array(path.utf8)) == wanted, "\(text) on \(path)")
      compared += 1
      matched += wanted ? 1 : 0
    }
    #expect(matched > 1000)
  }

  @Test func manyWildcardsTakeNoLongTime() {
    let pattern = String(repeating: "*a", count: 200) + "b"
    let deep = "/" + String(repeating: "**/a/", count: 200) + "b"
    let clock = ContinuousClock()
    let took = clock.measure {
      #expect(Self.matches(pattern, String(repeating: "a", count: 255)) == false)
      #expect(Self.matches(deep, Array(repeating: "a", count: 1000).joined(separator: "/")) == false)
    }
    #expect(took < .seconds(5))
  }
}
