/// The hash table (directory, name) -> name record, by linear hashing: each insertion splits at most one bucket, so no
/// insertion ever rehashes the table.
struct NameHashTable: ~Copyable {
  private var buckets = SegmentedTable<NameIndex>()
  /// Buckets at the start of the present doubling, minus 1; and how many of them were split.
  private var mask = 63
  private var split = 0
  private var count = 0
  private let nameHash: NameHash

  /// - Parameter key: Not to be known by whoever chooses names: with it, names could be found that all lie in one
  ///   chain.
  init(key: NameHashKey) {
    nameHash = NameHash(key)
    for _ in 0...63 { _ = buckets.append(.end) }
  }

  func hash(directory: NodeIndex, name: UnsafeBufferPointer<UInt8>) -> UInt32 {
    let hash = nameHash.of(parent: directory.rawValue, name: name)
    return UInt32(truncatingIfNeeded: hash ^ hash >> 32)
  }

  private func bucket(_ hash: UInt32) -> Int {
    let low = Int(hash) & mask
    return low < split ? Int(hash) & (mask << 1 | 1) : low
  }

  /// The first name of the chain in which one with this hash would be.
  func head(_ hash: UInt32) -> NameIndex { buckets[bucket(hash)] }

  /// Puts a new name at the head of its chain, then splits one bucket if there are more names than buckets.
  mutating func insert(_ name: NameIndex, into records: inout SegmentedTable<NameRecord>) {
    let index = bucket(records[name].hash)
    records[name].nextInBucket = buckets[index]
    buckets[index] = name
    count += 1
    if count > buckets.count { splitOne(&records) }
  }

  /// Takes a name out of its chain. The table keeps its size.
  mutating func remove(_ name: NameIndex, from records: inout SegmentedTable<NameRecord>) {
    let index = bucket(records[name].hash)
    let next = records[name].nextInBucket
    count -= 1
    var current = buckets[index]
    guard current != name else {
      buckets[index] = next
      return
    }
    while current != .end {
      if records[current].nextInBucket == name {
        records[current].nextInBucket = next
        return
      }
      current = records[current].nextInBucket
    }
  }

  private mutating func splitOne(_ records: inout SegmentedTable<NameRecord>) {
    let old = split
    let new = buckets.append(.end)
    precondition(new == old + mask + 1, "linear hashing grows one bucket at a time")
    var chain = buckets[old]
    var stays = NameIndex.end
    var moves = NameIndex.end
    while chain != .end {
      let next = records[chain].nextInBucket
      if Int(records[chain].hash) & (mask << 1 | 1) == new {
        records[chain].nextInBucket = moves
        moves = chain
      } else {
        records[chain].nextInBucket = stays
        stays = chain
      }
      chain = next
    }
    buckets[old] = stays
    buckets[new] = moves
    split += 1
    if split > mask {
      mask = mask << 1 | 1
      split = 0
    }
  }
}
