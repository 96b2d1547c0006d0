@testable import DatalessCore
import SystemPackage
import TestSupport
import Testing

@Suite struct MaterializationLedgerTests {
  /// Sums beside sums, and each budget exceeded by the first charge that crosses it.
  @Test(arguments: TestSeed.seeds) func eachBudgetIsExceededOnceByWhoCrossesIt(_ seed: UInt64) {
    var random = TestRandom(seed: seed)
    for _ in 0..<200 {
      let maxFiles: Int64? = random.oneIn(3) ? nil : Int64(random.below(10))
      let maxBytes: Int64? = random.oneIn(3) ? nil : Int64(random.below(10_000))
      var ledger = MaterializationLedger(budget: .init(maxFiles: maxFiles, maxBytes: maxBytes))
      var (files, bytes) = (Int64(0), Int64(0))
      var exceeded: [String: UInt64] = [:]
      for number in 1...40 as ClosedRange<UInt64> {
        let charge = MaterializationLedger.Charge(
          bytes: Int64(random.below(2_000)), isNewFile: random.oneIn(2), caller: EngineFixture.caller(Int32(number)))
        let crossed = ledger.charge(
          charge, attempt: AttemptID(rawValue: number), path: [], MonotonicTime(nanoseconds: 7))
        files += charge.isNewFile ? 1 : 0
        bytes += charge.bytes
        var expected: [String] = []
        if let maxFiles, files > maxFiles, exceeded["files"] == nil { expected.append("files") }
        if let maxBytes, bytes > maxBytes, exceeded["bytes"] == nil { expected.append("bytes") }
        for budget in expected { exceeded[budget] = number }
        #expect(crossed.map(\.budget) == expected, "seed \(seed)")
        #expect(crossed.allSatisfy { $0.attempt == number && $0.caller.threadID == Int32(number) }, "seed \(seed)")
      }
      let totals = ledger.totals
      #expect(totals.budgetedFiles == files && totals.budgetedBytes == bytes, "seed \(seed)")
      #expect(totals.files == 0 && totals.bytes == 0)
      let told = totals.exceeded.map { ($0.budget, $0.attempt) }
      #expect(Dictionary(uniqueKeysWithValues: told) == exceeded, "seed \(seed)")
    }
  }

  @Test func endsCountByTheirOutcomes() {
    var ledger = MaterializationLedger(budget: .init())
    ledger.countEnd(of: .file, .ok)
    ledger.countEnd(of: .directory, .ok)
    ledger.countEnd(of: .file, .failed(.ioError))
    ledger.countEnd(of: .directory, .cancelled)
    ledger.countRefusal()
    ledger.countEviction()
    let totals = ledger.totals
    #expect((totals.files, totals.directories, totals.bytes) == (0, 1, 0))
    #expect((totals.failures, totals.cancelled, totals.refusals, totals.evictions) == (1, 1, 1, 1))
  }

  /// Sizes may be absurd: the sum is the largest number, and goes on.
  @Test func sumsNeitherTrapNorWrap() {
    var ledger = MaterializationLedger(budget: .init(maxBytes: .max - 1))
    for _ in 0..<3 {
      ledger.countArrival(bytes: .max, isNew: true)
      let charge = MaterializationLedger.Charge(bytes: .max, isNewFile: false, caller: EngineFixture.caller())
      _ = ledger.charge(charge, attempt: AttemptID(rawValue: 1), path: [], MonotonicTime(nanoseconds: 0))
    }
    #expect((ledger.totals.files, ledger.totals.bytes, ledger.totals.budgetedBytes) == (3, .max, .max))
    #expect(ledger.totals.exceeded.count == 1)
  }

  @Test func budgetedAttemptsAreThoseThatHaveNotEnded() {
    var ledger = MaterializationLedger(budget: .init())
    ledger.beginBudgeted()
    ledger.beginBudgeted()
    ledger.endBudgeted()
    #expect(ledger.budgetedAttempts == 1)
  }
}
