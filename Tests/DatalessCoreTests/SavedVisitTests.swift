@testable import DatalessCore
import Synchronization
import SystemPackage
import Testing

/// Looking where an earlier run has kept content, while directories are slow or fail.
@Suite struct SavedVisitTests {
  /// - Returns: How often it has ended.
  private func visit(_ path: String, _ fixture: EngineFixture) -> Int {
    let ended = Mutex(0)
    fixture.engine.visitSavedContent(of: Array(path.utf8)) { ended.withLock { $0 += 1 } }
    fixture.lane.runAll()
    return ended.withLock { $0 }
  }

  private func isKnown(_ path: String, _ fixture: EngineFixture) -> Bool {
    if case .found = fixture.engine.resolve(Array(path.utf8)) { true } else { false }
  }

  // MARK: - Visits

  @Test func whoLooksWhereSomebodyLooksWaitsForThat() throws {
    let (fixture, saved) = try EngineFixture.withSavedContent()
    let ended = Mutex(0)
    for _ in 0..<100 {
      fixture.engine.visitSavedContent(of: []) { ended.withLock { $0 += 1 } }
      fixture.lane.runAll()
    }
    #expect(ended.withLock { $0 } == 0 && saved.asked.load(ordering: .relaxed) == 1)
    #expect(visit("d2/y", fixture) == 1, "what lies elsewhere is looked for meanwhile")
    fixture.timer.advance(milliseconds: 300_000) { [lane = fixture.lane] in lane.runAll() }
    #expect(ended.withLock { $0 } == 100)
    #expect(isKnown("d1/x", fixture) && isKnown("d2/y", fixture))
    let waits = fixture.events.started.filter { $0.path == Array("d1".utf8) }
    #expect(waits.count == 1)
  }

  @Test func whatWasMissedIsTriedAgainAndNothingIsAskedForAnew() throws {
    let (fixture, saved) = try EngineFixture.withSavedContent(isSlow: false)
    fixture.store.edit("d1") { $0.failure = FSError(.ioError, "it fails") }
    for _ in 0..<3 { #expect(visit("", fixture) == 1) }
    #expect(saved.asked.load(ordering: .relaxed) == 1)
    #expect(!isKnown("d1/x", fixture) && isKnown("d2/y", fixture))
    #expect(fixture.events.started.filter { $0.path == Array("d1".utf8) }.count == 3)
    fixture.store.edit("d1") { $0.failure = nil }
    #expect(visit("", fixture) == 1)
    #expect(isKnown("d1/x", fixture) && saved.asked.load(ordering: .relaxed) == 1)
  }

  @Test func whatLiesElsewhereIsAskedForOnce() throws {
    let (fixture, saved) = try EngineFixture.withSavedContent(isSlow: false)
    saved.set(["d1/x", "gone/z"])
    #expect(visit("", fixture) == 1)
    saved.set(["d1/x", "d2/y", "gone/z"])
    for _ in 0..<5 { #expect(visit("", fixture) == 1) }
    #expect(isKnown("d2/y", fixture))
    #expect(saved.asked.load(ordering: .relaxed) == 2, "what is nowhere is asked for once more")
  }

  @Test func sweepsLeaveAloneWhatWasMissedForAWhile() {
    func at(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: 0) + .seconds(seconds) }
    let content = SavedContent()
    #expect(content.isWorthVisiting(at(0)), "it was never asked for")
    let told = content.places(of: [], ask: { [[1], [2]] })
    #expect(told == [[1], [2]])
    let isFirst = content.joinVisit(of: [], at(1), completion: {})
    let isSecond = content.joinVisit(of: [], at(2), completion: {})
    #expect(isFirst && !isSecond)
    #expect(content.began == at(1))
    content.note([1], .reached)
    content.note([2], .failed)
    content.endVisit(of: [], at(3))
    #expect(content.began == nil && !content.isWorthVisiting(at(12)) && content.isWorthVisiting(at(13)))
    let left = content.places(of: [], ask: { nil })
    #expect(left == [[2]])
    content.note([2], .reached)
    #expect(!content.isWorthVisiting(at(100)))
  }

  // MARK: - Places

  @Test func placesOfAPathAreThoseBesideItAndBelowIt() {
    var random = SeededGenerator(seed: 7)
    func text(_ path: [UInt8]) -> String { String(decoding: path, as: UTF8.self) }
    func directory(_ path: [UInt8]) -> ArraySlice<UInt8> {
      path.lastIndex(of: UInt8(ascii: "/")).map { path[..<$0] } ?? []
    }
    func path() -> [UInt8] {
      // Some sort before a slash, and some behind it.
      let names = ["a", "a-b", "a0", "b", "b!", "0"]
      let count = 1 + Int(random.next() % 4)
      return Array((0..<count).map { _ in names[Int(random.next() % 6)] }.joined(separator: "/").utf8)
    }
    for _ in 0..<50 {
      let paths = Array(Set((0..<30).map { _ in path() }))
      var places = SavedPlaces(paths)
      #expect(places.left(of: []).count == paths.count)
      let settled = Set(paths.filter { _ in random.next() % 3 == 0 })
      for place in settled { places.set(.settled, of: place) }
      for asked in paths + [path(), path()] {
        let wanted = paths.filter { place in
          !settled.contains(place)
            && (directory(place) == directory(asked) || place.starts(with: asked + [UInt8(ascii: "/")]))
        }
        #expect(places.left(of: asked).map(text).sorted() == wanted.map(text).sorted(), "\(text(asked))")
      }
      #expect(places.untried == paths.count - settled.count && places.missed == 0)
    }
  }
}
