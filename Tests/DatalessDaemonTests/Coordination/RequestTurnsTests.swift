import Testing

@testable import DatalessDaemon

/// Which request is read next.
@Suite struct RequestTurnsTests {
  private static func next(_ turns: inout RequestTurns, gone: Set<UInt64> = []) -> RequestTurns.Step? {
    turns.next { !gone.contains($0) }
  }

  @Test func oneIsReadAtATimeAndProcessesComeInTurn() {
    var turns = RequestTurns()
    for client in UInt64(1)...3 { turns.add(client, of: 7, isLong: true) }
    #expect(Self.next(&turns) == .read(1))
    turns.add(4, of: 8, isLong: true)
    // Not before the first was read.
    #expect(Self.next(&turns) == nil)
    turns.done()
    #expect(Self.next(&turns) == .read(4))
    turns.done()
    #expect(Self.next(&turns) == .read(2))
  }

  @Test func whatHasGoneIsNotRead() {
    var turns = RequestTurns()
    for client in UInt64(1)...1_000 { turns.add(client, of: 7, isLong: true) }
    turns.add(1_001, of: 8, isLong: true)
    let gone = Set(UInt64(1)...999)
    #expect(Self.next(&turns, gone: gone) == .read(1_000))
    turns.done()
    #expect(Self.next(&turns, gone: gone) == .read(1_001))
    turns.done()
    #expect(Self.next(&turns, gone: gone) == nil)
    #expect(!turns.areThere(of: 7) && !turns.areThere(of: 8))
  }

  /// A process' requests come in the order in which it asked, short ones, too, and no other one comes between those.
  @Test func whatAProcessAsksForBehindALongOneComesAfterIt() {
    var turns = RequestTurns()
    turns.add(1, of: 7, isLong: true)
    #expect(Self.next(&turns) == .read(1))
    #expect(turns.areThere(of: 7) && !turns.areThere(of: 8))
    turns.add(2, of: 7, isLong: false)
    turns.add(3, of: 8, isLong: true)
    turns.add(4, of: 7, isLong: false)
    turns.add(5, of: 7, isLong: true)
    turns.add(6, of: 7, isLong: false)
    #expect(Self.next(&turns) == nil)
    turns.done()
    #expect(Self.next(&turns) == .begin(2))
    #expect(Self.next(&turns) == .begin(4))
    #expect(Self.next(&turns) == .read(3))
    turns.done()
    // The fifth has gone, and nobody waits for it.
    #expect(Self.next(&turns, gone: [5]) == .begin(6))
    #expect(Self.next(&turns) == nil && !turns.areThere(of: 7) && !turns.areThere(of: 8))
  }
}
