@testable import DatalessCore
import Testing

/// What `AccessOrder` promises, a case each. That it holds for all that can happen: `AccessOrderModelTests`.
@Suite struct AccessOrderTests {
  private static func read(_ paths: String...) -> [AccessClaim] {
    paths.map { AccessClaim(Array($0.utf8), isWrite: false) }
  }

  private static func write(_ paths: String...) -> [AccessClaim] {
    paths.map { AccessClaim(Array($0.utf8), isWrite: true) }
  }

  @Test func readersShareAndWritersExclude() {
    var order = AccessOrder()
    #expect(order.begin(1, Self.read("a")) == .held)
    #expect(order.begin(2, Self.read("a")) == .held)
    #expect(order.begin(3, Self.write("a")) == .waits)
    #expect(order.begin(4, Self.write("b")) == .held)
    #expect(order.end(1).isEmpty)
    #expect(order.end(2) == [3])
  }

  @Test func aDirectoryIsHeldWithAllBelowIt() {
    var order = AccessOrder()
    #expect(order.begin(1, Self.write("a/b/c")) == .held)
    #expect(order.begin(2, Self.read("a")) == .waits)
    #expect(order.begin(3, Self.read("a/d")) == .held)
    #expect(order.begin(4, Self.write("")) == .waits)
    #expect(order.blockers(of: 2).intents == [1])
    #expect(order.end(1) == [2])
    #expect(order.begin(5, Self.read("x")) == .waits)
    #expect(order.end(2).isEmpty)
    #expect(order.end(3) == [4])
    #expect(order.end(4) == [5])
  }

  @Test func whereTwoMeetIsTold() {
    var order = AccessOrder()
    #expect(order.begin(1, Self.write("f0", "d/x")) == .held)
    #expect(order.begin(2, Self.read("f2", "d")) == .waits)
    #expect(order.blockers(of: 2).path == Array("d".utf8) && order.blockers(of: 2).intents == [1])
  }

  @Test func nobodyOvertakesAWriterThatWaits() {
    var order = AccessOrder()
    #expect(order.begin(1, Self.read("a")) == .held)
    #expect(order.begin(2, Self.write("a")) == .waits)
    #expect(order.begin(3, Self.read("a")) == .waits)
    #expect(order.begin(4, Self.read("a")) == .waits)
    #expect(order.end(1) == [2])
    #expect(order.end(2).sorted() == [3, 4])
  }

  @Test func whoLeavesTheQueueKeepsNobody() {
    var order = AccessOrder()
    #expect(order.begin(1, Self.read("a")) == .held)
    #expect(order.begin(2, Self.write("a")) == .waits)
    #expect(order.begin(3, Self.read("a")) == .waits)
    #expect(order.end(2) == [3])
  }

  @Test func allNamesAreTakenAtOnce() {
    var order = AccessOrder()
    #expect(order.begin(1, Self.write("b")) == .held)
    #expect(order.begin(2, Self.read("a") + Self.write("b", "c")) == .waits)
    // In the order, the second one is before these, at all of its names.
    #expect(order.begin(3, Self.write("a")) == .waits)
    #expect(order.begin(4, Self.read("c")) == .waits)
    #expect(order.end(1) == [2])
    #expect(order.end(2).sorted() == [3, 4])
  }

  @Test func anIntentWithinAnotherIsNotKeptByIt() {
    var order = AccessOrder()
    #expect(order.begin(1, Self.read("a")) == .held)
    #expect(order.begin(2, Self.write("a")) == .waits)
    // It has the place of the first: the second one came later.
    #expect(order.begin(3, Self.write("a"), within: 1) == .held)
    #expect(order.begin(4, Self.read("b"), within: 2) == .outerNotHeld)
    #expect(order.end(1).isEmpty)
    #expect(order.end(3) == [2])
  }

  @Test func thoseWhoSaveFirstComeOneAfterTheOther() {
    var order = AccessOrder()
    #expect(order.begin(1, Self.write("a")) == .held)
    #expect(order.begin(2, Self.write("a")) == .waits)
    // Both pass the first, and exclude each other; what is within one of them is of its party.
    #expect(order.begin(3, Self.write("a"), within: 1, isApart: true) == .held)
    #expect(order.begin(4, Self.write("a"), within: 1, isApart: true) == .waits)
    #expect(order.blockers(of: 4).intents == [3])
    #expect(order.begin(5, Self.write("a"), within: 3) == .held)
    #expect(order.end(3).isEmpty)
    #expect(order.end(5) == [4])
    // The one before which they save may be gone: what is saved keeps its place.
    #expect(order.end(1).isEmpty)
    #expect(order.end(4) == [2])
  }

  @Test func whatAnOuterOneHoldsKeepsThoseWhoSaveFirst() {
    var order = AccessOrder()
    #expect(order.begin(1, Self.read("a")) == .held)
    #expect(order.begin(2, Self.write("a"), within: 1) == .held)
    // It passes the second alone, and the first one is not given back before that.
    #expect(order.begin(3, Self.write("a"), within: 2, isApart: true) == .deadlock)
    #expect(order.lastCircle == AccessCircle(path: Array("a".utf8), keeper: 1, last: 1))
    #expect(order.begin(4, Self.read("a"), within: 2, isApart: true) == .held)
  }

  /// A command is not in the way of what it starts, and those exclude each other.
  @Test func whatIsWaitedForPasses() {
    var order = AccessOrder()
    #expect(order.begin(1, Self.write("a")) == .held)
    #expect(order.begin(2, Self.write("b")) == .held)
    #expect(order.begin(3, Self.write("a"), yielders: [1]) == .held)
    #expect(order.begin(4, Self.write("a"), yielders: [1]) == .waits)
    #expect(order.begin(5, Self.write("b"), yielders: [1]) == .waits)
    #expect(order.begin(6, Self.write("a"), yielders: [2]) == .deadlock)
    #expect(order.lastCircle?.path == Array("a".utf8))
    #expect(order.end(3) == [4])
    // Behind one that waits for its own command it would wait for ever.
    #expect(order.begin(7, Self.write("a", "c")) == .waits)
    #expect(order.begin(8, Self.write("c"), yielders: [1]) == .deadlock)
    #expect(order.begin(9, Self.write("c"), within: 1, isApart: true, yielders: [1]) == .held)
    #expect(order.end(2) == [5])
  }

  @Test func aCircleIsRefused() {
    var order = AccessOrder()
    #expect(order.begin(1, Self.write("a")) == .held)
    #expect(order.begin(2, Self.write("b")) == .held)
    #expect(order.begin(3, Self.write("b"), within: 1) == .waits)
    #expect(order.begin(4, Self.write("a"), within: 2) == .deadlock)
    #expect(order.end(2) == [3])
  }

  @Test func twoReadersThatBothWantToWriteAreACircle() {
    var order = AccessOrder()
    #expect(order.begin(1, Self.read("a")) == .held)
    #expect(order.begin(2, Self.read("a")) == .held)
    #expect(order.begin(3, Self.write("a"), within: 1) == .waits)
    #expect(order.begin(4, Self.write("a"), within: 2) == .deadlock)
    #expect(order.end(2) == [3])
  }

  @Test func aHoldFollowsARename() {
    var order = AccessOrder()
    #expect(order.begin(1, Self.write("a/x")) == .held)
    #expect(order.rename(Array("a".utf8), to: Array("b".utf8)).isEmpty)
    #expect(order.begin(2, Self.read("b/x")) == .waits)
    // The name stays held, too: what is made there in the place of what went is the same document.
    #expect(order.begin(3, Self.read("a/x")) == .waits)
    #expect(order.end(1).sorted() == [2, 3])
    #expect(order.end(2).isEmpty && order.end(3).isEmpty && order.placeCount == 0)
  }

  @Test func whoIsWaitedForIsKnown() {
    var order = AccessOrder()
    #expect(order.begin(1, Self.write("d/a")) == .held)
    #expect(order.begin(2, Self.read("d/b")) == .held)
    #expect(order.begin(3, Self.read("d/b")) == .held)
    #expect(order.begin(4, Self.write("d/b")) == .waits)
    #expect(order.begin(5, Self.read("d/b")) == .waits)
    #expect(Self.waitedFor(&order, 1...5) == [2, 3])
    #expect(order.begin(6, Self.read("d")) == .waits)
    #expect(Self.waitedFor(&order, 1...6) == [1, 2, 3])
    #expect(order.end(6).isEmpty)
    // It passes the first one, and waits for those that read.
    #expect(order.begin(7, Self.write("d/a", "d/b"), within: 1) == .waits)
    #expect(Self.waitedFor(&order, 1...7) == [2, 3])
    #expect(order.end(4).isEmpty && order.end(7) == [5])
    #expect(Self.waitedFor(&order, 1...9) == [])
  }

  private static func waitedFor(_ order: inout AccessOrder, _ ids: ClosedRange<UInt64>) -> [UInt64] {
    var found: [UInt64] = []
    for id in ids where order.isWaitedFor(id) { found.append(id) }
    return found
  }

  @Test func whatLeavesAHeldDirectoryStaysHeld() {
    var order = AccessOrder()
    #expect(order.begin(1, Self.write("d") + Self.read("f/g")) == .held)
    #expect(order.rename(Array("d/k".utf8), to: Array("e/k".utf8)).isEmpty)
    #expect(order.rename(Array("f/g/h".utf8), to: Array("e/h".utf8)).isEmpty)
    // Within the directory it is held anyway, and beside what is held it is free.
    #expect(order.rename(Array("d/x".utf8), to: Array("d/y/x".utf8)).isEmpty)
    #expect(order.rename(Array("f/i".utf8), to: Array("e/i".utf8)).isEmpty)
    #expect(order.begin(2, Self.read("e/k")) == .waits)
    #expect(order.begin(3, Self.read("e/h")) == .held)
    #expect(order.begin(4, Self.write("e/h")) == .waits)
    #expect(order.begin(5, Self.write("e/i")) == .held)
    #expect(order.end(1) == [2] && order.end(3) == [4])
    for id in [UInt64(2), 4, 5] { #expect(order.end(id).isEmpty) }
    #expect(order.placeCount == 0)
  }

  /// Of two names that are exchanged, and of a chain: what has come to a name is not what leaves it.
  @Test func aHoldFollowsWhatItHoldsAndNothingElse() {
    func renamed(_ pairs: [(String, String)], _ held: [AccessClaim]) -> (AccessOrder, [UInt64]) {
      var order = AccessOrder()
      var renames = JoinedRenames()
      #expect(order.begin(1, held) == .held)
      for (from, to) in pairs {
        #expect(order.rename(Array(from.utf8), to: Array(to.utf8), with: &renames).isEmpty)
      }
      // Whether others may read, and write, each of the names.
      var free: [UInt64] = []
      for (index, name) in ["a", "b", "c"].enumerated() {
        let id = UInt64(10 + 2 * index)
        if order.begin(id, Self.read(name)) == .held { free.append(id) }
        _ = order.end(id)
        if order.begin(id + 1, Self.write(name)) == .held { free.append(id + 1) }
        _ = order.end(id + 1)
      }
      return (order, free)
    }
    for pairs in [[("a", "b"), ("b", "c")], [("b", "c"), ("a", "b")]] {
      #expect(renamed(pairs, Self.write("a")).1 == [14, 15])
      #expect(renamed(pairs, Self.write("a") + Self.read("b")).1 == [14])
    }
    var (order, free) = renamed([("a", "b"), ("b", "a")], Self.write("b"))
    #expect(free == [14, 15])
    #expect(order.end(1).isEmpty && order.placeCount == 0)
    (order, free) = renamed([("a", "b"), ("b", "a")], Self.read("a") + Self.write("b"))
    #expect(free == [14, 15])
  }

  /// Ten thousand that want one file, and as many that want one each: it takes no more looks for the last than for the
  /// first, or this would not end.
  @Test func thousandsAreServedInTheirOrder() {
    var order = AccessOrder()
    let count: UInt64 = 10_000
    for id in 0..<count { #expect(order.begin(id, Self.write("d/a")) == (id == 0 ? .held : .waits)) }
    for id in count..<(2 * count) { #expect(order.begin(id, Self.write("d/\(id)")) == .held) }
    for id in 0..<count { #expect(order.end(id) == (id + 1 < count ? [id + 1] : [])) }
    for id in count..<(2 * count) { #expect(order.end(id).isEmpty) }
    #expect(order.count == 0 && order.placeCount == 0)
  }

  @Test func aQueueOfThoseThatLeftIsNotKept() {
    var queue = PositionQueue()
    var live: Set<UInt64> = []
    for id in 0..<UInt64(10_000) {
      live = [id]
      queue.add(id, at: id) { live.contains($0) }
    }
    #expect(queue.count <= 65)
    let first = queue.first { live.contains($0) }
    #expect(first?.intent == 9_999)
  }
}
