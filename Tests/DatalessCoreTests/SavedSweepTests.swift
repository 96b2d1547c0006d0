@testable import DatalessCore
import Synchronization
import Testing

/// What goes for room while it takes long to look for what an earlier run has kept.
@Suite struct SavedSweepTests {
  private static let page = EngineFixture.page

  /// - Returns: The errno, and how long it took.
  private func read(_ path: String, _ fixture: EngineFixture) -> (errno: String?, time: Nanoseconds) {
    let begun = fixture.timer.now
    let errno = fixture.read(path)
    return (errno, fixture.timer.now - begun)
  }

  @Test func aDirectoryThatHangsDoesNotStopEviction() throws {
    let (fixture, _) = try EngineFixture.withSavedContent(quota: Self.page)
    #expect(fixture.read("e/f") == nil)
    let first = read("e/g", fixture)
    #expect(first.errno == nil && first.time >= .seconds(2) && first.time <= .milliseconds(2_200))
    #expect(fixture.resident(["e/f", "e/g"]) == ["e/g"])
    let second = read("e/f", fixture)
    #expect(second.errno == nil && second.time < .milliseconds(100), "the same visit is not waited for again")
    #expect(fixture.resident(["e/f", "e/g"]) == ["e/f"])
  }

  @Test func whereNothingIsKnownThatCanGoAVisitIsWaitedForOnce() throws {
    let (fixture, _) = try EngineFixture.withSavedContent(quota: Self.page)
    #expect(fixture.read("e/f", keepsOpen: true) == nil)
    let first = read("e/g", fixture)
    #expect(first.errno == "ENOSPC" && first.time >= .seconds(9) && first.time <= .seconds(11))
    let second = read("e/g", fixture)
    #expect(second.errno == "ENOSPC" && second.time <= .seconds(1))
  }

  @Test func pressureEndsWhereADirectoryHangs() throws {
    let (fixture, _) = try EngineFixture.withSavedContent()
    #expect(fixture.read("e/f") == nil)
    let result = Mutex<PressureResult?>(nil)
    fixture.engine.relieve(PressureSweep(1 << 30)) { pressure in result.withLock { $0 = pressure } }
    fixture.lane.runAll()
    #expect(result.withLock { $0 } == nil)
    for _ in 0..<110 { fixture.timer.advance(milliseconds: 100) { [lane = fixture.lane] in lane.runAll() } }
    #expect(result.withLock { $0 } == PressureResult(files: 1, bytes: Int64(Self.page)))
  }
}
