import DatalessCore
@testable import DatalessState
import TestSupport
import Testing

/// Many directories of one directory that SOURCE renames between two mounts, each to the name of the next, as logs are
/// rotated.
@Suite struct RenamedPlacesTests {
  private typealias Move = PlacesInTurn.Move

  /// - Returns: Those that stay; and how often was asked.
  private func staying(
    _ moves: [Move], from start: Set<Int64> = [], _ isInTheWay: (Int64) -> Bool
  ) -> (items: Set<Int64>, asked: [Int64]) {
    var asked: [Int64] = []
    let places = PlacesInTurn(moves, staying: start) { item in
      asked.append(item)
      return isInTheWay(item)
    }
    return (places.staying, asked)
  }

  @Test func eachIsAskedAboutOnce() {
    let count: Int64 = 100_000
    let chain = (1...count).map { Move(item: $0, occupant: $0 + 1) }
    let blocked = staying(chain) { _ in true }
    #expect(blocked.items == Set(1...count) && blocked.asked.count == Int(count))
    let free = staying(chain) { _ in false }
    #expect(free.items.isEmpty && free.asked == [count + 1])
    let ring = chain.dropLast() + [Move(item: count, occupant: 1)]
    #expect(staying(Array(ring)) { _ in true }.asked.isEmpty)
  }

  @Test func whoDoesNotWaitForThemGoes() {
    let moves = [
      Move(item: 1, occupant: 2), Move(item: 2, occupant: 3), Move(item: 4, occupant: nil), Move(item: 5, occupant: 4),
      Move(item: 6, occupant: 7), Move(item: 7, occupant: 6),
    ]
    #expect(staying(moves) { _ in true }.items == [1, 2])
    // Who has to stay can give his place up.
    #expect(staying(moves) { $0 != 2 }.items == [2])
    #expect(staying(moves, from: [4, 7]) { _ in true }.items == [1, 2, 4, 5, 6, 7])
  }

  /// As somebody would find it who goes through all of them until none has to stay any more.
  @Test func itIsWhatIsLeftInTheEnd() {
    var generator = TestRandom(seed: 12)
    for _ in 0..<500 {
      let items = (1...Int64(12)).filter { _ in Bool.random(using: &generator) }
      var places = (1...Int64(12)).shuffled(using: &generator)
      let moves = items.map { item in
        Move(item: item, occupant: Int.random(in: 0..<4, using: &generator) == 0 ? nil : places.popLast())
      }
      let firm = Set((1...Int64(12)).filter { _ in Bool.random(using: &generator) })
      let start = Set(items.filter { _ in Int.random(in: 0..<6, using: &generator) == 0 })
      var left = moves.filter { !start.contains($0.item) }
      while true {
        let going = Set(left.map(\.item))
        let fitting = left.filter { move in
          move.occupant.map { going.contains($0) || !firm.contains($0) } ?? true
        }
        if fitting.count == left.count { break }
        left = fitting
      }
      let found = staying(moves, from: start) { firm.contains($0) }
      #expect(Set(items).subtracting(found.items) == Set(left.map(\.item)))
      #expect(Set(found.asked).count == found.asked.count)
    }
  }

  /// In the catalog: those of one chain stay, because what SOURCE has removed at its end was written to; the others go.
  @Test func aThousandOfThem() throws {
    let (fixture, count) = (StateFixture(), 1000)
    func directory(_ chain: String, _ index: Int, as other: Int, node: Int) -> ChangedItem {
      let inode = (chain == "a" ? 10_000 : 20_000) + index
      return stored("t/\(chain)\(other)", node: UInt64(node), inode: UInt64(inode), kind: .directory)
    }
    try fixture.run { volume in
      var changes: [StateChange] = []
      for (number, index) in (0..<count * 2).enumerated() {
        let file = own(node: UInt64(10_000 + number), UInt64(1 + number))
        let place = directory(index < count ? "a" : "b", index % count, as: index % count, node: 100 + index)
        changes.append(.made(file, attributes(inode: file.inode), target: []))
        changes.append(.named(file, name: bytes("new"), in: place))
      }
      try fixture.keep(.together(changes), in: volume)
    }
    let volume = try fixture.open()
    var renamed: [ChangedItem] = []
    // Of chain b, the last one has a name that is new.
    for index in 0..<count - 1 { renamed.append(directory("a", index, as: index + 1, node: 100_000 + index)) }
    for index in 0..<count { renamed.append(directory("b", index, as: index + 1, node: 200_000 + index)) }
    #expect(try volume.renamed(renamed).count == renamed.count)
    let taken = try volume.takeRenamed(renamed)
    #expect(Set(taken.map(\.key)) == Set((1...count).map { bytes("t/b\($0)") }))
    #expect(taken.allSatisfy { $0.formerKey != $0.key })
    let now = try volume.saved(of: directory("b", 0, as: 1, node: 200_000)).made
    #expect(now.map(\.name) == [bytes("new")] && now.first?.item.inode == 1 << 62 | UInt64(count + 1))
    try volume.close()
  }
}
