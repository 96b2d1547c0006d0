/// The hash table (parent, name) -> dentry, by linear hashing: each insertion splits at most one bucket, so no insertion
/// ever rehashes the table.
struct DentryIndex: ~Copyable {
  private var buckets = SegmentedTable<UInt32>()
  /// Buckets at the start of the present doubling, minus 1; and how many of them were split.
  private var mask = 63
  private var split = 0

  init() {
    for _ in 0...63 { _ = buckets.append(0) }
  }

  /// Mixes parent and name, eight bytes at a time.
  static func hash(parent: UInt32, name: UnsafeBufferPointer<UInt8>) -> UInt64 {
    let multiplier: UInt64 = 0x9e37_79b9_7f4a_7c15
    var hash = (UInt64(parent) &+ 1) &* multiplier ^ UInt64(name.count)
    let raw = UnsafeRawBufferPointer(name)
    var offset = 0
    while offset + 8 <= raw.count {
      hash = (hash ^ raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) &* multiplier
      hash ^= hash >> 29
      offset += 8
    }
    while offset < raw.count {
      hash = (hash ^ UInt64(raw[offset])) &* multiplier
      offset += 1
    }
    return hash ^ hash >> 32
  }

  private func bucket(_ hash: UInt64) -> Int {
    let low = Int(truncatingIfNeeded: hash) & mask
    return low < split ? Int(truncatingIfNeeded: hash) & (mask << 1 | 1) : low
  }

  /// The first dentry of the chain in which a name with this hash would be.
  func head(_ hash: UInt64) -> UInt32 { buckets[bucket(hash)] }

  /// Puts a new dentry at the head of its chain, then splits one bucket if there are more names than buckets.
  mutating func insert(
    _ dentry: UInt32, hash: UInt64, into dentries: inout SegmentedTable<DentryRecord>, names: borrowing NameArena
  ) {
    let index = bucket(hash)
    dentries[Int(dentry)].nextInBucket = buckets[index]
    buckets[index] = dentry
    if dentries.count > buckets.count { splitOne(&dentries, names: names) }
  }

  private mutating func splitOne(_ dentries: inout SegmentedTable<DentryRecord>, names: borrowing NameArena) {
    let old = split
    let new = buckets.append(0)
    var chain = buckets[old]
    buckets[old] = 0
    while chain != 0 {
      let record = dentries[Int(chain)]
      let name = names.name(at: record.nameOffset, length: record.nameLength)
      let hash = Self.hash(parent: record.parent, name: name)
      let target = Int(truncatingIfNeeded: hash) & (mask << 1 | 1)
      dentries[Int(chain)].nextInBucket = buckets[target]
      buckets[target] = chain
      chain = record.nextInBucket
    }
    precondition(new == old + mask + 1, "linear hashing grows one bucket at a time")
    split += 1
    if split > mask {
      mask = mask << 1 | 1
      split = 0
    }
  }
}
