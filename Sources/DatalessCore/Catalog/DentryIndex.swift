/// The hash table (parent, name) -> dentry, by linear hashing: each insertion splits at most one bucket, so no insertion
/// ever rehashes the table.
struct DentryIndex: ~Copyable {
  private var buckets = SegmentedTable<UInt32>()
  /// Buckets at the start of the present doubling, minus 1; and how many of them were split.
  private var mask = 63
  private var split = 0
  private var count = 0
  private let nameHash: NameHash

  /// - Parameter key: Not to be known by whoever chooses names: with it, names could be found that all lie in one chain.
  init(key: NameHashKey) {
    nameHash = NameHash(key)
    for _ in 0...63 { _ = buckets.append(0) }
  }

  func hash(parent: UInt32, name: UnsafeBufferPointer<UInt8>) -> UInt32 {
    let hash = nameHash.of(parent: parent, name: name)
    return UInt32(truncatingIfNeeded: hash ^ hash >> 32)
  }

  private func bucket(_ hash: UInt32) -> Int {
    let low = Int(hash) & mask
    return low < split ? Int(hash) & (mask << 1 | 1) : low
  }

  /// The first dentry of the chain in which a name with this hash would be.
  func head(_ hash: UInt32) -> UInt32 { buckets[bucket(hash)] }

  /// Puts a new dentry at the head of its chain, then splits one bucket if there are more names than buckets.
  mutating func insert(_ dentry: UInt32, into dentries: inout SegmentedTable<DentryRecord>) {
    let index = bucket(dentries[Int(dentry)].hash)
    dentries[Int(dentry)].nextInBucket = buckets[index]
    buckets[index] = dentry
    count += 1
    if count > buckets.count { splitOne(&dentries) }
  }

  private mutating func splitOne(_ dentries: inout SegmentedTable<DentryRecord>) {
    let old = split
    let new = buckets.append(0)
    precondition(new == old + mask + 1, "linear hashing grows one bucket at a time")
    var chain = buckets[old]
    var stays: UInt32 = 0
    var moves: UInt32 = 0
    while chain != 0 {
      let next = dentries[Int(chain)].nextInBucket
      if Int(dentries[Int(chain)].hash) & (mask << 1 | 1) == new {
        dentries[Int(chain)].nextInBucket = moves
        moves = chain
      } else {
        dentries[Int(chain)].nextInBucket = stays
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
