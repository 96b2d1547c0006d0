/// What is held has another name.
extension AccessOrder {
  /// What had a name has another one: who holds the old one holds the new one, too, from now on; and who holds
  /// something below the old one, all below the new one. What has left a directory that is held as a whole stays held,
  /// too. Who waits waits for the name.
  ///
  /// - Parameter renames: Those that have happened together with this one, and were told before it.
  /// - Returns: Those that can never be held now, because of what their group holds: to be ended.
  public mutating func rename(_ from: [UInt8], to: [UInt8], with renames: inout JoinedRenames) -> [UInt64] {
    var concerned: [UInt64] = []
    let holders = holders(of: from, with: renames).merging(holdersOfDirectories(from, left: to)) { $0 || $1 }
    for (id, isWrite) in holders.sorted(by: { $0.key < $1.key }) {
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

  /// Who holds, as a whole, a directory in which a name lay and another one does not lie, and whether it writes there.
  private func holdersOfDirectories(_ name: [UInt8], left other: [UInt8]) -> [UInt64: Bool] {
    let names = name.split(separator: UInt8(ascii: "/"))
    let shared = zip(names, other.split(separator: UInt8(ascii: "/"))).prefix { $0 == $1 }.count
    var found: [UInt64: Bool] = [:]
    var place = AccessPlaces.root
    for (depth, component) in names.dropLast().enumerated() {
      guard let next = places.find(Array(component), in: place) else { break }
      place = next
      // Thousands may hold something in it, and nobody the whole.
      guard depth >= shared, let users = users[place],
        Self.wholes.contains(where: { users.holds[$0.rawValue] > 0 })
      else { continue }
      for id in users.held {
        if let isWrite = intents[id]?.entry(at: place)?.isWriteOfWhole { found[id] = isWrite || found[id] ?? false }
      }
    }
    return found
  }

  private static let wholes: [AccessMode] = [.read, .readAndWriteBelow, .write]
}
