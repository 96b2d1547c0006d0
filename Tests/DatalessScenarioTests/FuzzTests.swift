import DatalessCore
import DatalessScenario
import Testing

/// Whatever the bytes are, there is a scenario or an error, soon.
@Suite struct FuzzTests {
  private static func tries(_ bytes: [UInt8]) {
    do throws(ScenarioError) {
      let document = try ScenarioDocument(parsing: bytes, name: "fuzz", readFile: ReplayTests.log)
      let again = try ScenarioDocument(parsing: document.json(pretty: false), name: "again")
      #expect(again == document, "\(String(decoding: bytes, as: UTF8.self))")
      // What was accepted can be used.
      var random = SeededRandom(key: 1)
      for latency in [document.simulation.latency] + document.simulation.rules.rules.compactMap(\.effects.latency) {
        #expect(latency.sample(&random, size: 1 << 30, ordinal: 3) >= 0)
      }
    } catch {
      #expect(!error.problems.isEmpty && error.problems.count <= 20)
      for problem in error.problems {
        #expect(problem.line >= 1 && problem.column >= 1)
        #expect(problem.message.hasSuffix(".") || problem.message.hasSuffix("?"), "\(problem)")
        #expect(problem.message.count < 2000)
      }
    }
  }

  @Test func randomBytes() {
    var random = SeededRandom(key: 4)
    for _ in 0..<20_000 {
      let count = Int.random(in: 0..<200, using: &random)
      Self.tries((0..<count).map { _ in UInt8.random(in: 0...255, using: &random) })
    }
  }

  @Test func randomPiecesOfYAML() {
    var random = SeededRandom(key: 5)
    let pieces = [
      "{", "}", "[", "]", ":", ": ", ",", "-", "- ", "\n", "\n  ", "\n    ", "\"", "'", "#", "&a", "*a", "!t", "|", ">",
      "?",
      "rules", "match", "path", "latency", "fault", "EIO", "1s", "..", "5%", "~", "---", "...", "%", "\t", "\\",
      "\u{e9}",
      "<<", "version", "1", "replay", "percentiles", "99",
    ]
    for _ in 0..<20_000 {
      let text = (0..<Int.random(in: 1..<40, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }
      Self.tries(Array(text.joined().utf8))
    }
  }

  @Test func mutatedExamples() {
    var random = SeededRandom(key: 6)
    let examples = ScenarioText.examples(in: "docs/SCENARIOS.md").map { Array($0.text.utf8) }
    #expect(examples.count >= 5)
    for _ in 0..<10_000 {
      guard var bytes = examples.randomElement(using: &random) else { return }
      for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<5, using: &random) {
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes.remove(at: place)
        case 2: bytes.insert(bytes.randomElement(using: &random) ?? 0, at: place)
        case 3: bytes.insert(UInt8(ascii: "9"), at: place)
        default: bytes.removeSubrange(place..<min(bytes.count, place + 20))
        }
      }
      Self.tries(bytes)
    }
  }

  @Test(arguments: ["[", "{", "{a: ", "- ", "[{", "? ", "'", "a: [", "\"\\u", "- - - "])
  func longRepetitions(piece: String) {
    Self.tries(Array(String(repeating: piece, count: 20_000).utf8))
  }
}
