@testable import DatalessCore
import Testing

@Suite struct ContentRemovalsTests {
  @Test func whoIsAboutToAnnounceSomeCounts() {
    let removals = ContentRemovals(gathers: false)
    let entry = ContentRemovals.Entry(id: ContentID(rawValue: 1), bytes: 4096, isTracked: false)
    removals.announcing {
      #expect(removals.pending == (1, 0))
      removals.announce([entry])
      #expect(removals.pending == (2, 4096))
    }
    #expect(removals.pending == (1, 4096))
    #expect(removals.add([entry]))
    #expect(removals.next() == [entry])
    #expect(removals.pending == (1, 4096), "it is still there")
    removals.end([entry])
    #expect(removals.pending == (0, 0))
  }
}
