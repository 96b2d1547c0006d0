import DatalessCore
import Testing

@testable import DatalessDaemon

/// Whom a volume may end, by a table of processes of the test's.
@Suite struct AbortAuthorityTests {
  private typealias Look = (parent: Int32, startTicks: UInt64)

  /// 100 `dataless run`, 200 the command, 300 its child, 400 a stranger, 150 the daemon.
  private static let table: [Int32: Look] = [
    1: (0, 1), 50: (1, 5), 100: (50, 10), 150: (100, 11), 200: (100, 20), 300: (200, 30), 400: (50, 40),
  ]

  private static func authority(
    inRun: Bool, rootStart: UInt64? = 10, look: (@Sendable (Int32) -> (parent: Int32, startTicks: UInt64)?)? = nil
  ) -> AbortAuthority {
    var authority = AbortAuthority(root: inRun ? .init(pid: 100, startTicks: rootStart) : nil)
    (authority.daemon, authority.user) = (150, 1000)
    let table = table
    authority.look = look ?? { table[$0] }
    return authority
  }

  private static func refusal(
    _ authority: AbortAuthority, _ pid: Int32, started: UInt64?, isNamed: Bool = true,
    users: [UInt32]? = [1000, 1000, 1000, 1000]
  ) -> AbortAuthority.Refusal? {
    authority.refusal(pid: pid, startTicks: started, isNamed: isNamed) { users }
  }

  @Test func aRunEndsDescendantsOfItsCommandAlone() {
    let authority = Self.authority(inRun: true)
    #expect(Self.refusal(authority, 300, started: 30) == nil)
    #expect(Self.refusal(authority, 200, started: 20, isNamed: false, users: nil) == nil)
    #expect(Self.refusal(authority, 400, started: 40) == .notADescendant)
    #expect(Self.refusal(authority, 50, started: 5) == .notADescendant)
    for (pid, started) in [(Int32(100), UInt64(10)), (150, 11), (1, 1), (0, 0), (-1, 0)] {
      #expect(Self.refusal(authority, pid, started: started) == .ourselves)
    }
    #expect(Self.refusal(Self.authority(inRun: true, rootStart: 11), 300, started: 30) == .notADescendant)
    #expect(Self.refusal(Self.authority(inRun: true, rootStart: nil), 300, started: 30) == .notADescendant)
  }

  @Test func aProcessThatHasAnothersIDIsLeftAlone() {
    for inRun in [true, false] {
      let authority = Self.authority(inRun: inRun)
      #expect(Self.refusal(authority, 300, started: 31) == .unknownProcess)
      #expect(Self.refusal(authority, 300, started: nil) == .unknownProcess)
      #expect(Self.refusal(authority, 999, started: 1) == .unknownProcess)
    }
  }

  @Test func aMountEndsWhatIsNamedAndItsUsersAlone() {
    let authority = Self.authority(inRun: false)
    #expect(Self.refusal(authority, 400, started: 40) == nil)
    #expect(Self.refusal(authority, 400, started: 40, isNamed: false) == .notNamed)
    // A program that runs as somebody else, or could: set-user-id, or with a saved id.
    for place in 0..<4 {
      var users: [UInt32] = [1000, 1000, 1000, 1000]
      users[place] = 0
      #expect(Self.refusal(authority, 400, started: 40, users: users) == .otherUser)
    }
    #expect(Self.refusal(authority, 400, started: 40, users: nil) == .unknownProcess)
    #expect(Self.refusal(authority, 400, started: 40, users: [1000]) == .unknownProcess)
  }

  /// The parent ends while it is looked at, and a descendant of the root gets its id: the caller is not its child.
  @Test func aParentWhoseIDIsGivenAgainIsNoParent() {
    final class Looks: @unchecked Sendable {  // One thread asks.
      var count = 0
    }
    let looks = Looks()
    let authority = Self.authority(inRun: true) { pid in
      looks.count += 1
      // 400's parent was 350; by now 350 is a child of the command, and 400 is init's.
      if pid == 400 { return looks.count < 3 ? (350, 40) : (1, 40) }
      return pid == 350 ? (200, 35) : Self.table[pid]
    }
    #expect(Self.refusal(authority, 400, started: 40) == .notADescendant)
  }

  @Test func aChainWithoutEndEnds() {
    let authority = Self.authority(inRun: true) { pid in pid == 5 ? (6, 1) : pid == 6 ? (5, 1) : Self.table[pid] }
    #expect(Self.refusal(authority, 5, started: 1) == .notADescendant)
  }
}
