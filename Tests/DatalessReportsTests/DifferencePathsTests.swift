import DatalessControl
import Testing

@testable import DatalessReports

/// Files of two runs, of which there may be more than rows are shown.
@Suite struct DifferencePathsTests {
  private static func paths(_ count: Int, longer: Int64 = 0, path: (Int) -> String) -> DifferencePaths {
    DifferencePaths(FileTables.waited(count, longer: longer, path: path))
  }

  @Test func thoseThatDifferMostAreShownAndTheOthersCounted() {
    let before = Self.paths(10) { "a/f\($0)" }
    // Ten that are as they were, and of ten others the last one took longest.
    let after = Self.paths(20) { $0 < 10 ? "a/f\($0)" : "b/g\($0)" }
    let compared = DifferencePaths.compare(before, after, rowsMax: 3, slowerMax: 2)
    #expect(compared.rows.map(\.name) == ["b/g19", "b/g18", "b/g17"])
    #expect(compared.rows.allSatisfy { $0.change == .new && $0.files == .init(before: 0, after: 1) })
    #expect(compared.omitted == 7)
    #expect(compared.newCount == 10)
    #expect(compared.firstNew == "b/g19")
    let gone = DifferencePaths.compare(after, before)
    #expect(gone.rows.count == 10 && gone.rows.allSatisfy { $0.change == .gone })
    #expect(gone.rows.first?.name == "b/g19" && gone.omitted == 0)
    #expect(gone.newCount == 0 && gone.firstNew == nil)
  }

  @Test func thoseThatTookLongerComeBehindThoseThatWereFetchedOtherwise() {
    let before = Self.paths(10) { "a/f\($0)" }
    let after = Self.paths(11, longer: 5) { $0 < 10 ? "a/f\($0)" : "new" }
    let compared = DifferencePaths.compare(before, after, rowsMax: 100, slowerMax: 2)
    // Equal differences are in the order of their names.
    #expect(compared.rows.map(\.name) == ["new", "a/f0", "a/f1"])
    #expect(compared.rows.map(\.change) == [.new, .changed, .changed])
    #expect(compared.rows[1].blocked == .init(before: 0, after: 5))
    #expect(compared.omitted == 8)
    let few = DifferencePaths.compare(before, after, rowsMax: 2, slowerMax: 2)
    #expect(few.rows.map(\.name) == ["new", "a/f0"] && few.omitted == 9)
    #expect(DifferencePaths.compare(after, after).rows.isEmpty)
  }

  @Test func whatHappenedToOnePathIsOneRow() {
    let compared = DifferencePaths.compare(Self.paths(0) { _ in "" }, Self.paths(4) { _ in "a" })
    #expect(compared.rows.map(\.name) == ["a"])
    #expect(compared.rows.first?.waits == .init(before: 0, after: 4))
    #expect(compared.rows.first?.blocked == .init(before: 0, after: 6))
  }

  /// Which path a log tells of a file with several names goes by what was listed.
  @Test func aFileIsTheSameByAnyOfItsNames() {
    func run(_ path: String, _ names: [String]) -> DifferencePaths {
      DifferencePaths(FileTables.named(path, names))
    }
    let alone = run("A/x", [])
    let both = run("B/x", ["B/x", "A/x"])
    let others = run("C/x", ["C/x", "B/x", "D/x"])
    for (first, second) in [(alone, both), (both, alone), (both, others), (others, both)] {
      #expect(DifferencePaths.compare(first, second).rows.isEmpty)
    }
    let other = DifferencePaths.compare(alone, others)
    #expect(other.newCount == 1 && other.firstNew == "C/x")
    #expect(other.rows.map(\.change) == [.gone, .new])
  }

  /// Whatever fills the list, a file that was not fetched before is an alarm.
  @Test func aNewFileThatIsLeftOutIsAnAlarm() throws {
    let side = RunDifference.Side(
      log: "/l", session: "0123456789ab", source: "/s", started: nil, isComplete: true)
    var difference = RunDifference(
      before: side, after: side, totals: [:], programs: [], paths: [], stacks: [])
    let condition = try DifferenceCondition(parsing: "new-files")
    #expect(condition.failure(of: difference) == nil)
    (difference.newPathCount, difference.firstNewPath) = (3, "a")
    #expect(condition.failure(of: difference) == "new-files: a and 2 more were not fetched before")
  }
}
