@testable import DatalessCore
import Testing

/// What a file is called that was changed here, when the store's version takes its name.
@Suite struct ConflictCopyNameTests {
  private static let day = Timestamp(seconds: 1_795_392_000, nanoseconds: 0)

  private static func copy(_ name: String, at time: Timestamp = day, _ attempt: Int = 1) -> String {
    String(decoding: ConflictCopyName.make(of: Array(name.utf8), at: time, attempt: attempt), as: UTF8.self)
  }

  @Test func theMarkStandsBeforeTheEnding() {
    #expect(Self.copy("notes.txt") == "notes (local 2026-11-23).txt")
    #expect(Self.copy("notes.txt", 2) == "notes (local 2026-11-23 2).txt")
    #expect(Self.copy("README") == "README (local 2026-11-23)")
    #expect(Self.copy("a.tar.gz") == "a.tar (local 2026-11-23).gz")
    #expect(Self.copy(".profile") == ".profile (local 2026-11-23)")
    #expect(Self.copy("..x") == "..x (local 2026-11-23)")
    #expect(Self.copy("a.") == "a (local 2026-11-23).")
    let long = "a." + String(repeating: "x", count: 40)
    #expect(Self.copy(long) == long + " (local 2026-11-23)", "that is no ending")
  }

  @Test(arguments: [
    (0, "1970-01-01"), (-1, "1969-12-31"), (86_399, "1970-01-01"), (86_400, "1970-01-02"), (951_782_400, "2000-02-29"),
    (4_107_542_399, "2100-02-28"), (4_107_542_400, "2100-03-01"), (Int64.max, "9999-12-31"), (Int64.min, "0001-01-01"),
  ])
  func everyTimeHasADate(_ seconds: Int64, _ date: String) {
    #expect(Self.copy("a", at: Timestamp(seconds: seconds, nanoseconds: 0)) == "a (local \(date))")
  }

  @Test func longNamesAreCutBetweenCharacters() {
    for length in 0...4 {
      let name = String(repeating: "x", count: length) + String(repeating: "\u{E4}", count: 125) + ".t"
      for attempt in [1, 10_000] {
        let copy = ConflictCopyName.make(of: Array(name.utf8), at: Self.day, attempt: attempt)
        #expect(copy.count <= 255 && copy.count > 250)
        #expect(String(validating: copy, as: UTF8.self)?.hasSuffix(").t") == true)
      }
    }
    // Of bytes that are no characters, too.
    let odd = ConflictCopyName.make(of: [UInt8](repeating: 0x80, count: 255), at: Self.day, attempt: 1)
    #expect(odd.count <= 255 && !odd.isEmpty)
  }

  @Test func eachAttemptHasItsName() {
    let names = Set((1...200).map { ConflictCopyName.make(of: Array("a.b".utf8), at: Self.day, attempt: $0) })
    #expect(names.count == 200)
  }
}
