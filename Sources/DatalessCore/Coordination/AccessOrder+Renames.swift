/// What is held has another name.
extension AccessOrder {
  /// What had a name has another one: who holds the old one holds the new one, too, from now on; and who holds
  /// something below the old one, all below the new one. Who waits waits for the name.
  ///
  /// - Parameter renames: Those that have happened together with this one, and were told before it.
  /// - Returns: Those that can never be held now, because of what their group holds: to be ended.
  public mutating func rename(_ from: [UInt8], to: [UInt8], with renames: inout JoinedRenames) -> [UInt64] {
    var concerned: [UInt64] = []
    for (id, isWrite) in holders(of: from, with: renames).sorted(by: { $0.key < $1.key }) {
      let former = places.find(to).flatMap { intents[id]?.entry(at: $0)?.isWrite }
      guard follow(id, AccessClaim(to, isWrite: isWrite)) else { continue }
      renames.note(id, at: to, JoinedRenames.Former(isWrite: former))
      concerned += dependents(of: id)
    }
    return concerned.filter { circle(of: $0) != nil }
  }

  /// As above, of one that has happened alone.
  public mutating func rename(_ from: [UInt8], to: [UInt8]) -> [UInt64] {
    var alone = JoinedRenames()
    return rename(from, to: to, with: &alone)
  }

  /// Who holds a name, or something below it, and whether it writes there.
  private func holders(of name: [UInt8], with renames: JoinedRenames) -> [UInt64: Bool] {
    guard let place = places.find(name) else { return [:] }
    var found: [UInt64: Bool] = [:]
    for id in users[place]?.held ?? [] {
      // What it has followed there is something else.
      if let former = renames.former(of: id, at: name) {
        found[id] = former.isWrite
      } else {
        found[id] = intents[id]?.entry(at: place)?.isWrite
      }
    }
    return found
  }
}
