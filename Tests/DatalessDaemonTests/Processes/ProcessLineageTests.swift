import Glibc
import Testing

@testable import DatalessDaemon

/// From whom a process descends.
@Suite struct ProcessLineageTests {
  @Test func theNearestComesFirst() {
    let parents: [Int32: Int32] = [40: 30, 30: 20, 20: 1, 1: 0]
    #expect(ProcessLineage.ancestors(of: 40) { parents[$0] } == [30, 20, 1])
    #expect(ProcessLineage.ancestors(of: 1) { parents[$0] } == [])
    #expect(ProcessLineage.ancestors(of: 50) { parents[$0] } == [])
    #expect(ProcessLineage.ancestors(of: getpid()).first == getppid())
  }

  /// A parent ends while it is looked at: its number may be another's, who is nobody's parent here.
  @Test func whoseParentHasEndedIsFollowedNoFurther() {
    var looks = 0
    let found = ProcessLineage.ancestors(of: 40) { pid in
      looks += 1
      switch pid {
      case 40: return 30
      case 30: return looks > 2 ? 1 : 20
      case 20: return 1
      default: return 0
      }
    }
    #expect(found == [30])
  }

  @Test func aChainWithoutAnEndIsGivenUp() {
    #expect(ProcessLineage.ancestors(of: 2) { 5 - $0 }.count == 64)
  }
}
