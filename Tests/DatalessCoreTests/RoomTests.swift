@testable import DatalessCore
import SystemPackage
import Testing

/// A value that came of a change: `#expect` takes no call that changes something.
private func so<Value>(_ value: Value) -> Value { value }

/// Who may add to local content, by itself.
@Suite struct RoomTests {
  private static func at(_ milliseconds: Int64) -> MonotonicTime {
    MonotonicTime(nanoseconds: 0) + .milliseconds(milliseconds)
  }

  private static func attempt(_ number: UInt64) -> AttemptID { AttemptID(rawValue: number) }

  private func limited(_ limit: Int64) -> Room {
    var room = Room()
    room.setLimit(limit)
    return room
  }

  @Test func withoutALimitNobodyWaits() {
    var room = Room()
    let isGranted = room.claim(Self.attempt(1), .max, isEager: false, used: .max, at: Self.at(0))
    let isHeld = room.hold(.max, used: .max)
    #expect(isGranted && isHeld)
    #expect(room.shortage(used: .max) == 0)
  }

  @Test func contentTakesWholePages() {
    #expect(Room.pages(0) == 0)
    #expect(Room.pages(1) == 4096)
    #expect(Room.pages(4096) == 4096)
    #expect(Room.pages(4097) == 8192)
    #expect(Room.pages(.max) == .max)
    #expect(Room.pages(-5) == 0)
  }

  @Test func whatIsGrantedCountsUntilItIsThere() {
    var room = limited(10)
    #expect(so(room.claim(Self.attempt(1), 6, isEager: false, used: 0, at: Self.at(0))))
    #expect(!so(room.claim(Self.attempt(2), 6, isEager: false, used: 0, at: Self.at(0))))
    #expect(room.pending == (6, 1))
    #expect(room.shortage(used: 0) == 2)
    // The first is there, so the second still does not fit; it does when the first is gone.
    room.release(.attempt(Self.attempt(1)))
    #expect(room.settle(used: 6, Self.at(1)).granted.isEmpty)
    #expect(room.settle(used: 0, Self.at(2)).granted == [Self.attempt(2)])
    #expect(room.pending == (6, 0))
  }

  @Test func nobodyOvertakesWhoWaits() {
    var room = limited(10)
    #expect(!so(room.claim(Self.attempt(1), 8, isEager: false, used: 5, at: Self.at(0))))
    #expect(!so(room.claim(Self.attempt(2), 1, isEager: false, used: 5, at: Self.at(0))))
    #expect(!so(room.hold(1, used: 5)))
    #expect(room.settle(used: 1, Self.at(1)).granted == [Self.attempt(1), Self.attempt(2)])
  }

  @Test func readersGoBeforeWhatNobodyWaitsFor() {
    var room = limited(10)
    for number in 1...2 { _ = room.claim(Self.attempt(UInt64(number)), 8, isEager: true, used: 10, at: Self.at(0)) }
    _ = room.claim(Self.attempt(3), 8, isEager: false, used: 10, at: Self.at(0))
    room.prefer(Self.attempt(2))
    var order: [AttemptID] = []
    for _ in 0..<3 {
      let granted = room.settle(used: 0, Self.at(1)).granted
      order += granted
      for id in granted { room.release(.attempt(id)) }
    }
    #expect(order == [3, 2, 1].map(Self.attempt))
  }

  @Test func whoWaitsGetsRoomOrAnErrorOnce() {
    var room = limited(10)
    let answers = Answer()
    room.wait(WaiterID(rawValue: 1), for: 4, Self.at(0)) { answers.set($0.map { .failed($0) } ?? .ready) }
    #expect(room.settle(used: 10, Self.at(0)).calls.isEmpty)
    for call in room.settle(used: 6, Self.at(1)).calls { call() }
    #expect(answers.isReady && answers.count == 1)
    #expect(room.pending == (0, 0), "none is kept for a caller")
  }

  @Test func whoWasToldToTryAgainDoesNotWaitBehindOthers() {
    var room = limited(10)
    let answers = Answer()
    room.wait(WaiterID(rawValue: 1), for: 4, Self.at(0)) { answers.set($0.map { .failed($0) } ?? .ready) }
    #expect(!so(room.claim(Self.attempt(1), 8, isEager: false, used: 10, at: Self.at(0))))
    for call in room.settle(used: 6, Self.at(1)).calls { call() }
    #expect(answers.isReady)
    #expect(!so(room.hold(5, used: 5)), "more than he waited for")
    #expect(so(room.hold(4, used: 6)))
    #expect(!so(room.hold(1, used: 5)), "once")
  }

  @Test func writersDoNotWaitForWhatNobodyWaitsFor() {
    var room = limited(10)
    #expect(!so(room.claim(Self.attempt(1), 8, isEager: true, used: 5, at: Self.at(0))))
    #expect(so(room.hold(1, used: 5)))
    #expect(so(room.claim(Self.attempt(2), 1, isEager: false, used: 5, at: Self.at(0))))
    #expect(!so(room.claim(Self.attempt(3), 1, isEager: true, used: 5, at: Self.at(0))))
  }

  @Test func whatIsLargerThanTheLimitFailsAtOnce() {
    var room = limited(10)
    #expect(!so(room.claim(Self.attempt(1), 11, isEager: false, used: 0, at: Self.at(0))))
    #expect(room.settle(used: 0, Self.at(0)).failed == [Self.attempt(1)])
  }

  @Test func nothingCanGoIsSaidAfterTheTimeOfAClose() {
    var room = limited(10)
    _ = room.claim(Self.attempt(1), 4, isEager: false, used: 10, at: Self.at(0))
    let first = room.settle(used: 10, Self.at(0))
    #expect(first.sweeps && first.failed.isEmpty && first.callAt == Self.at(250))
    #expect(!room.settle(used: 10, Self.at(1)).sweeps, "one at a time")
    room.endSweep(isExhausted: true, Self.at(2))
    #expect(!room.settle(used: 10, Self.at(2)).sweeps, "all was looked at just now")
    #expect(room.settle(used: 10, Self.at(249)).failed.isEmpty)
    room.endSweep(isExhausted: true, Self.at(250))
    #expect(room.settle(used: 10, Self.at(251)).failed == [Self.attempt(1)])
  }

  @Test func whileSomethingGoesItIsWaitedForButNotForEver() {
    var room = limited(10)
    _ = room.claim(Self.attempt(1), 4, isEager: false, used: 10, at: Self.at(0))
    _ = room.settle(used: 10, Self.at(0))
    room.beginRemoval(2)
    room.endSweep(isExhausted: true, Self.at(9_950))
    #expect(room.settle(used: 10, Self.at(9_990)).failed.isEmpty)
    #expect(room.settle(used: 10, Self.at(10_000)).failed == [Self.attempt(1)])
  }

  @Test func whatAnEarlierRunHasLeftIsWaitedForWhileItIsLookedFor() {
    var room = limited(10)
    room.setSeeksLeftovers(true)
    _ = room.claim(Self.attempt(1), 4, isEager: false, used: 10, at: Self.at(0))
    #expect(room.settle(used: 10, Self.at(0)).sweeps, "what can go need not wait for it")
    room.endSweep(isExhausted: true, Self.at(300))
    #expect(room.settle(used: 10, Self.at(310)).failed.isEmpty)
    room.setSeeksLeftovers(false)
    #expect(room.settle(used: 10, Self.at(320)).failed == [Self.attempt(1)])
  }

  @Test func whatIsBeingRemovedIsNotEvictedForTwice() {
    var room = limited(10)
    _ = room.claim(Self.attempt(1), 4, isEager: false, used: 10, at: Self.at(0))
    #expect(room.shortage(used: 10) == 4)
    room.beginRemoval(4)
    #expect(room.shortage(used: 10) == 0)
    #expect(!room.settle(used: 10, Self.at(0)).sweeps)
    room.endRemoval(4)
    #expect(room.settle(used: 6, Self.at(1)).granted == [Self.attempt(1)])
    #expect(room.removing == (0, 0))
  }

  @Test func aLowerLimitEvictsThoughNobodyWaits() {
    var room = limited(10)
    #expect(!room.settle(used: 10, Self.at(0)).sweeps)
    room.setLimit(4)
    #expect(room.shortage(used: 10) == 6)
    #expect(room.settle(used: 10, Self.at(0)).sweeps)
    room.endSweep(isExhausted: false, Self.at(1))
    room.setLimit(nil)
    #expect(!room.settle(used: 10, Self.at(1)).sweeps)
  }

  @Test func whoLeavesFreesWhatWasKeptForHim() {
    var room = limited(10)
    _ = room.claim(Self.attempt(1), 8, isEager: false, used: 0, at: Self.at(0))
    _ = room.claim(Self.attempt(2), 8, isEager: false, used: 0, at: Self.at(0))
    room.release(.attempt(Self.attempt(2)))
    room.release(.attempt(Self.attempt(1)))
    room.release(.attempt(Self.attempt(1)))
    #expect(room.pending == (0, 0))
  }

  @Test func absurdSizesDoNotTrap() {
    var room = limited(.max)
    #expect(so(room.claim(Self.attempt(1), .max, isEager: false, used: 0, at: Self.at(0))))
    #expect(!so(room.claim(Self.attempt(2), .max, isEager: false, used: .max, at: Self.at(0))))
    #expect(room.shortage(used: .max) >= 0)
  }
}

@Suite struct EvictionCandidatesTests {
  private func candidate(_ node: UInt64, _ lastUse: UInt32) -> EvictionCandidates.Candidate {
    EvictionCandidates.Candidate(node: NodeID(rawValue: node), lastUse: lastUse, bytes: 1)
  }

  private func order(_ candidates: inout EvictionCandidates) -> [UInt64] {
    var order: [UInt64] = []
    while let next = candidates.next() { order.append(next.node.rawValue) }
    return order
  }

  @Test func theLeastRecentlyUsedComesFirst() {
    var candidates = EvictionCandidates()
    candidates.begin(now: 10)
    for (node, use) in [(1, 7), (2, 3), (3, 0), (4, 12), (5, 9)] {
      candidates.offer(candidate(UInt64(node), UInt32(use)))
    }
    #expect(order(&candidates) == [3, 2, 1, 5, 4], "what was never used goes first, what was used since goes last")
  }

  @Test func numbersThatBeganAnewKeepTheirOrder() {
    var candidates = EvictionCandidates()
    candidates.begin(now: 3)
    for (node, use) in [(1, UInt32.max), (2, 2), (3, UInt32.max - 5), (4, 1)] {
      candidates.offer(candidate(UInt64(node), use))
    }
    #expect(order(&candidates) == [3, 1, 4, 2])
  }

  @Test func ofManyTheOldestAreKept() {
    var candidates = EvictionCandidates()
    let count = UInt32(EvictionCandidates.limit * 3)
    candidates.begin(now: count)
    for use in (1...count).reversed() { candidates.offer(candidate(UInt64(use), use)) }
    #expect(candidates.count == EvictionCandidates.limit)
    #expect(order(&candidates) == (1...UInt64(EvictionCandidates.limit)).map { $0 })
  }
}

@Suite struct ContentPoliciesTests {
  private static func node(_ number: UInt32) -> NodeIndex { NodeIndex(rawValue: number) }

  @Test func whatIsInheritedCostsNothing() {
    var policies = ContentPolicies()
    #expect(!so(policies.set(.inherited, of: Self.node(2))))
    #expect(policies.isEmpty)
    #expect(so(policies.set(.eager, of: Self.node(2))))
    #expect(!so(policies.set(.eager, of: Self.node(2))))
    #expect(policies.pinned == [Self.node(2)])
    #expect(so(policies.set(.inherited, of: Self.node(2))))
    #expect(policies.isEmpty)
  }

  @Test func policiesGoToTheNextVersionAndAreForgotten() {
    var policies = ContentPolicies()
    _ = policies.set(.lazy, of: Self.node(2))
    _ = policies.move(from: Self.node(2), to: Self.node(3))
    _ = policies.move(from: Self.node(2), to: Self.node(4))
    #expect(policies.own(of: Self.node(2)) == nil)
    #expect(policies.own(of: Self.node(3)) == .lazy)
    policies.forget([Self.node(3)])
    #expect(policies.isEmpty)
  }

  @Test func attributesSayThePolicy() {
    let pinned = PolicyAttribute.pinned
    #expect(PolicyAttribute.value(of: pinned, .eager) == Array("1".utf8))
    #expect(PolicyAttribute.value(of: pinned, .lazy) == nil)
    #expect(PolicyAttribute.value(of: PolicyAttribute.policy, .inherited) == nil)
    #expect(PolicyAttribute.policy(pinned, Array("1".utf8)) == .eager)
    #expect(PolicyAttribute.policy(pinned, Array("0".utf8)) == nil)
    #expect(PolicyAttribute.policy(pinned, nil) == .inherited)
    for policy in ContentPolicy.allCases {
      #expect(PolicyAttribute.policy(PolicyAttribute.policy, Array(policy.rawValue.utf8)) == policy)
    }
    #expect(PolicyAttribute.policy(PolicyAttribute.policy, [0xff]) == nil)
  }
}

@Suite struct EagerFetchesTests {
  @Test func eachTreeWaitsOnceAndOneGoesThroughThem() {
    var fetches = EagerFetches()
    #expect(so(fetches.add(NodeID(rawValue: 5))))
    #expect(!so(fetches.add(NodeID(rawValue: 5))))
    #expect(!so(fetches.add(NodeID(rawValue: 6))))
    #expect(fetches.waiting == 2)
    #expect(fetches.next() == NodeID(rawValue: 5))
    #expect(!so(fetches.add(NodeID(rawValue: 5))), "it may have changed since it was taken out")
    #expect(fetches.next() == NodeID(rawValue: 6))
    #expect(fetches.next() == NodeID(rawValue: 5))
    #expect(fetches.next() == nil)
    #expect(so(fetches.add(NodeID(rawValue: 7))), "somebody has to begin again")
  }
}
