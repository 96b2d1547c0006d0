import Glibc

/// The seeds of tests that generate what they try.
///
/// `DATALESS_TEST_SEED=SEED` runs a test again as it was, `SEED:CASE` a single case of a run of `Fuzz`. Whoever fails
/// says both. `FIRST-LAST` are many seeds, for the tests that try the same ones each time.
public enum TestSeed {
  /// One that is always the same, so that a change is held against what its author saw, and one that nobody has seen.
  public static let seeds: [UInt64] = given.map { [$0] } ?? [1, UInt64.random(in: 2 ... .max)]

  /// For a test that is run once: one that nobody has seen. A failure says it.
  public static var one: UInt64 { given ?? UInt64.random(in: 0 ... .max) }

  /// For a test that tries the same seeds each time: 0..<count, or those that are asked for.
  ///
  /// - Parameter others: Further ones, which have found something once. Default: none.
  public static func first(_ count: UInt64, and others: [UInt64] = []) -> [UInt64] {
    range ?? given.map { [$0] } ?? Array(0..<count) + others
  }

  /// The seed that is asked for; nil without one.
  public static let given: UInt64? = parts.first.flatMap { UInt64($0) }

  /// The case that is asked for; nil for all.
  public static let givenCase: Int? = parts.count == 2 ? Int(parts[1]) : nil

  private static let word = getenv("DATALESS_TEST_SEED").map { String(cString: $0) } ?? ""
  private static let parts: [Substring] = word.split(separator: ":")

  private static let range: [UInt64]? = {
    let ends = word.split(separator: "-").compactMap { UInt64($0) }
    return ends.count == 2 && ends[0] <= ends[1] ? Array(ends[0]...ends[1]) : nil
  }()
}
