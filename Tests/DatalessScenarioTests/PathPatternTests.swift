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
  ])
  func table(pattern: String, yes: [String], no: [String]) {
    for path in yes { #expect(Self.matches(pattern, path) == true, "\(pattern) on \(path)") }
    for path in no { #expect(Self.matches(pattern, path) == false, "\(pattern) on \(path)") }
  }

  @Test(arguments: ["", "/", "a/", "a//b", "//a", "[a", "[z-a]", "a\\", "[", "[!]", "x/[a/b]"])
  func malformed(pattern: String) {
    #expect(PathPattern(Array(pattern.utf8)) == nil)
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
