/// The names that intents hold or wait for, with the directories on the way to them, as a tree.
///
/// A name is one whatever item has it: a document that is saved by a rename of another file over it stays held. A place
/// is there as long as an intent has something at or below it.
struct AccessPlaces {
  typealias Place = UInt32
  static let root: Place = 0

  private struct Key: Hashable {
    let parent: Place
    let name: [UInt8]
  }

  private struct Record {
    let key: Key
    var children = 0
    var intents = 0
  }

  private var known: [Key: Place] = [:]
  private var records: [Place: Record] = [:]
  private var last: Place = Self.root

  /// How many there are beside the root.
  var count: Int { known.count }

  /// The place of a name in a directory, which is made where there is none. To be kept by `enter`.
  mutating func make(_ name: [UInt8], in parent: Place) -> Place {
    let key = Key(parent: parent, name: name)
    if let place = known[key] { return place }
    repeat { last &+= 1 } while last == Self.root || records[last] != nil
    known[key] = last
    records[last] = Record(key: key)
    records[parent]?.children += 1
    return last
  }

  func find(_ name: [UInt8], in parent: Place) -> Place? { known[Key(parent: parent, name: name)] }

  /// The places on the way to a path, from the root, and its own behind them, as `make`.
  mutating func make(_ path: [UInt8]) -> [Place] {
    var chain = [Self.root]
    for name in path.split(separator: UInt8(ascii: "/")) { chain.append(make(Array(name), in: chain[chain.count - 1])) }
    return chain
  }

  func find(_ path: [UInt8]) -> Place? {
    var place = Self.root
    for name in path.split(separator: UInt8(ascii: "/")) {
      guard let next = find(Array(name), in: place) else { return nil }
      place = next
    }
    return place
  }

  func parent(of place: Place) -> Place? { records[place]?.key.parent }

  /// One more intent has something at a place.
  mutating func enter(_ place: Place) { records[place]?.intents += 1 }

  /// One intent less. - Returns: The places that are no more.
  mutating func leave(_ place: Place) -> [Place] {
    guard place != Self.root else { return [] }
    records[place]?.intents -= 1
    var gone: [Place] = []
    var next = place
    while let record = records[next], record.intents <= 0, record.children == 0 {
      known[record.key] = nil
      records[next] = nil
      gone.append(next)
      next = record.key.parent
      records[next]?.children -= 1
    }
    return gone
  }

  /// A name's path from the root.
  func path(of place: Place) -> [UInt8] {
    var names: [[UInt8]] = []
    var next = place
    while let record = records[next] {
      names.append(record.key.name)
      next = record.key.parent
    }
    return Array(names.reversed().joined(separator: [UInt8(ascii: "/")]))
  }
}
