import TestSupport
import Testing

@testable import DatalessControl

/// Who holds a name, by names: against a model that looks at all intents.
@Suite struct HeldIntentsTests {
  private static func record(_ number: Int, _ names: [String], count: Int? = nil) throws -> LogRecord {
    var log = LogText()
    let list = names.count > 1 ? #","names":["\#(names.joined(separator: #"",""#))"]"# : ""
    let writes = #""reads":0,"writes":\#(count ?? names.count)"#
    log.add(
      "coordination.granted", at: 1,
      #""intent":\#(number),"path":"\#(names[0])","process":\#(number),\#(writes)"# + list)
    return try #require(LogRecord(line: bytes(log.lines[0])))
  }

  /// The processes that hold a path; here each has the number of its intent.
  private static func holders(_ held: HeldIntents, _ path: String) -> Set<UInt32> {
    let all: ClosedRange<UInt32> = 1...8
    return Set(all.filter { process in held.isHeld(bytes(path)) { $0 == process } })
  }

  /// What is held, looked for in all names.
  private struct Model {
    var names: [UInt32: Set<String>] = [:]

    static func covers(_ name: String, _ path: String) -> Bool {
      name.isEmpty || name == path || path.hasPrefix(name + "/")
    }

    func holders(_ path: String) -> Set<UInt32> {
      Set(names.filter { $0.value.contains { Self.covers($0, path) } }.keys)
    }

    mutating func rename(_ old: String, to new: String) {
      for (number, held) in names {
        let isFrom = held.contains { Self.covers($0, old) || Self.covers(old, $0) }
        if isFrom { names[number]?.insert(new) }
      }
    }
  }

  private static func path(_ random: inout TestRandom) -> String {
    (0...random.below(3)).map { _ in ["a", "b", "ab"][random.below(3)] }.joined(separator: "/")
  }

  @Test(arguments: TestSeed.seeds) func itIsAsIfAllIntentsWereLookedAt(seed: UInt64) throws {
    var random = TestRandom(seed: seed)
    for round in 0..<50 {
      var (held, model) = (HeldIntents(), Model())
      for step in 0..<40 {
        let number = UInt32(1 + random.below(8))
        switch random.below(4) {
        case 0:
          let names = (0...random.below(3)).map { _ in random.oneIn(12) ? "" : Self.path(&random) }
          held.granted(try Self.record(Int(number), names))
          model.names[number] = Set(names)
        case 1:
          held.ended(UInt64(number))
          model.names[number] = nil
        default:
          let (old, new) = (Self.path(&random), Self.path(&random))
          held.renamed(bytes(old), to: bytes(new))
          model.rename(old, to: new)
        }
        let path = Self.path(&random)
        #expect(
          Self.holders(held, path) == model.holders(path), "seed \(seed), round \(round), step \(step), '\(path)'")
      }
    }
  }

  @Test func whoHasMoreNamesThanAreKnownHoldsAnything() throws {
    var held = HeldIntents()
    held.granted(try Self.record(1, ["a"], count: 2))
    held.granted(try Self.record(2, ["b"]))
    #expect(Self.holders(held, "x") == [1] && Self.holders(held, "b/c") == [1, 2])
    // After so many renames nobody knows its names any more.
    for number in 0..<64 { held.renamed(bytes("b"), to: bytes("new\(number)")) }
    #expect(Self.holders(held, "x") == [1, 2])
    held.ended(1)
    held.ended(2)
    #expect(Self.holders(held, "x").isEmpty && held.isEmpty)
  }

  @Test func ofTooManyNothingIsSaid() throws {
    var held = HeldIntents()
    for number in 1...4_096 { held.granted(try Self.record(number, ["d/\(number)"])) }
    #expect(!held.areTooMany)
    // All of them are in one directory: a rename beside them concerns nobody.
    for number in 0..<1_000 { held.renamed(bytes("d/x\(number)"), to: bytes("d/y\(number)")) }
    #expect(Self.holders(held, "d/y7").isEmpty && Self.holders(held, "d/7") == [7])
    held.granted(try Self.record(4_097, ["e"]))
    #expect(held.areTooMany)
  }
}
