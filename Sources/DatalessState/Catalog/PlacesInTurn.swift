/// Which of several directories can have the places that the store has given them. Who is in such a place may go
/// himself, and is in nobody's way then; who cannot go keeps only those who wait for his place, and so on along the
/// chain. The work is that of one look at each: SOURCE may have renamed thousands in one directory.
struct PlacesInTurn {
  struct Move {
    let item: Int64
    /// Who has the place that it is to have; nil if nobody has that is to be asked about.
    let occupant: Int64?
  }

  /// Those that stay where they are.
  private(set) var staying: Set<Int64>

  /// - Parameters:
  ///   - staying: Those that cannot go, whoever has their places.
  ///   - isInTheWay: Whether an item that does not go cannot give its place up. Asked once of each at most.
  init(_ moves: [Move], staying: Set<Int64>, isInTheWay: (Int64) throws -> Bool) rethrows {
    self.staying = staying
    var waiting: [Int64: [Int64]] = [:]
    for move in moves { if let occupant = move.occupant { waiting[occupant, default: []].append(move.item) } }
    let going = Set(moves.map(\.item)).subtracting(staying)
    var left = waiting.keys.filter { !going.contains($0) }
    while let occupant = left.popLast() {
      guard let those = waiting.removeValue(forKey: occupant), try isInTheWay(occupant) else { continue }
      for item in those where self.staying.insert(item).inserted { left.append(item) }
    }
  }
}
