/// The names of each item: a list through `NameRecord.nextOfNode`, those that are present first, in constant time
/// whatever is added or taken away. A file may have as many names as its file system allows (65,000 on ext4, 2^31 on
/// XFS), and a directory of them may vanish in one listing.
///
/// Nearly all items have one name: only those with several have the way back.
struct ItemNames {
  /// The name before each one, for items of several names; the last one for the first.
  private var previous: [NameIndex: NameIndex] = [:]

  /// Adds a name, at the place that its standing has.
  mutating func add(_ name: NameIndex, to first: inout NameIndex, _ names: inout NameTable) {
    if names[name].isPresent { addPresent(name, to: &first, &names) } else { addLast(name, to: &first, &names) }
  }

  /// Behind the first one, which stands for the item in paths and records as long as it is present, so that the item is
  /// called the same whatever is listed later.
  private mutating func addPresent(_ name: NameIndex, to first: inout NameIndex, _ names: inout NameTable) {
    guard first != .end else { return addAlone(name, to: &first, &names) }
    guard names[first].isPresent else {
      let last = previous[first] ?? first
      names.setNextOfNode(first, of: name)
      previous[first] = name
      previous[name] = last
      first = name
      return
    }
    let second = names[first].nextOfNode
    guard second != .end else { return addLast(name, to: &first, &names) }
    names.setNextOfNode(second, of: name)
    names.setNextOfNode(name, of: first)
    previous[second] = name
    previous[name] = first
  }

  private mutating func addLast(_ name: NameIndex, to first: inout NameIndex, _ names: inout NameTable) {
    guard first != .end else { return addAlone(name, to: &first, &names) }
    let last = previous[first] ?? first
    names.setNextOfNode(name, of: last)
    names.setNextOfNode(.end, of: name)
    previous[name] = last
    previous[first] = name
  }

  private func addAlone(_ name: NameIndex, to first: inout NameIndex, _ names: inout NameTable) {
    names.setNextOfNode(.end, of: name)
    first = name
  }

  /// Takes a name out of its item's list.
  mutating func remove(_ name: NameIndex, from first: inout NameIndex, _ names: inout NameTable) {
    let next = names[name].nextOfNode
    names.setNextOfNode(.end, of: name)
    guard let before = previous.removeValue(forKey: name) else {
      // It was the only one.
      first = .end
      return
    }
    if first == name {
      first = next
      previous[next] = before
    } else {
      names.setNextOfNode(next, of: before)
      previous[next == .end ? first : next] = before
    }
    if names[first].nextOfNode == .end { previous[first] = nil }
  }
}
