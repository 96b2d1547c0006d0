@testable import DatalessControl

/// Values of the types of verdicts, with all fields and with as few as there can be.
enum VerdictSamples {
  private static let odd = WireSamples.odd
  private static let process = Violation.Process(name: "python3 fm.py", pid: 1, comm: "c", exe: "/e", script: "fm.py")
  private static let entry = BaselineResult.Entry(kind: "file", path: odd)

  private static let result: ExpectationResult = {
    var result = ExpectationResult(
      name: "max_files", measure: "max_files", words: "at most 1 file materialized", unit: .files, bound: 1,
      outcome: .unknown)
    (result.measured, result.reason, result.place) = (1, "1 record is missing", "s.yaml:1:2")
    result.warning = "no caller in the log is the one that is meant"
    return result
  }()

  private static let violation: Violation = {
    var violation = Violation(expectation: "max_files", path: odd, measured: 2, hint: "h")
    (violation.kind, violation.trigger, violation.process, violation.ancestors) = ("file", "read", process, [process])
    (violation.threadName, violation.other) = ("loader", process)
    (violation.threadID, violation.isMainThread, violation.attempt, violation.access) = (1, true, 2, 3)
    (violation.stack, violation.time, violation.monotonicNanoseconds) = (WireSamples.stack, "t", 4)
    return violation
  }()

  private static let baseline: BaselineResult = {
    var result = BaselineResult(file: "b")
    result.untouched = [entry]
    return result
  }()

  static let verdict: Verdict = {
    var verdict = Verdict()
    (verdict.expectations, verdict.violations, verdict.baseline) = ([result], [violation], baseline)
    (verdict.gaps, verdict.warnings) = (["g"], ["w"])
    return verdict
  }()

  static let all: [String: AnswerSamples.Pair] = [
    "Verdict": (verdict, Verdict()),
    "ExpectationResult": (
      result, ExpectationResult(name: "n", measure: "max_files", words: "w", unit: .files, bound: 1)
    ),
    "Violation": (violation, Violation(expectation: "n", path: nil, measured: 1, hint: "h")),
    "ViolationProcess": (process, Violation.Process(name: "?", pid: nil)),
    "BaselineResult": (baseline, BaselineResult(file: "b")),
    "BaselineEntry": (entry, BaselineResult.Entry(kind: "file", path: bytes("a"))),
  ]
}
