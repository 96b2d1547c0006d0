import Testing

@testable import DatalessDaemon

/// Who is cut off when presenters leave too much unread.
@Suite struct UnreadMessagesTests {
  private static func first(_ presenters: [(id: UInt64, process: Int32, count: Int)]) -> UInt64? {
    var messages = UnreadMessages()
    for presenter in presenters { messages.add(presenter.id, of: presenter.process, count: presenter.count) }
    return messages.first
  }

  @Test func itIsTheLongestOfTheProcessWithMost() {
    // One message each of forty, and one presenter with a burst of thirty.
    let many = (1...40).map { (id: UInt64($0), process: Int32(7), count: $0 == 9 ? 2 : 1) }
    #expect(Self.first(many + [(id: 41, process: 8, count: 30)]) == 9)
    #expect(Self.first([(id: 41, process: 8, count: 50)] + many) == 41)
  }

  @Test func ofThoseThatAreAlikeItIsTheFirst() {
    for order in [[1, 2, 3], [3, 2, 1], [2, 3, 1]] as [[UInt64]] {
      #expect(Self.first(order.map { (id: $0, process: 7, count: 5) }) == 1)
      #expect(Self.first(order.map { (id: $0, process: Int32($0), count: 5) }) == 1)
    }
    #expect(Self.first([]) == nil && Self.first([(id: 1, process: 7, count: 0)]) == nil)
  }
}
