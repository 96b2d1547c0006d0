/// A map of hashes to numbers, of which what was set last is in memory, and the rest in files.
///
/// What is in memory is sorted and written to a file of its own when there is too much of it; a file that is not larger
/// than twice the next one is made one with that. So no file is ever changed: copies share them, a write that fails
/// loses nothing, and keys that somebody chose make nothing slower but the filters. There are a few files at most, each
/// as large as all after it, and an entry is written as often as files have become one.
///
/// Memory: some 24 bytes for each of `SpillLimits.entries`, and for each file a filter and the keys at which its blocks
/// begin, both of a size at most. Nothing is opened before the first entry has to go.
struct SpilledNumbers: Sendable {
  /// What no entry has as its number: that it was removed.
  static let none = UInt32.max

  private let limits: SpillLimits
  private var recent: [UInt64: UInt32] = [:]
  /// The oldest first.
  private var runs: [NumberRun] = []
  /// Whether nothing more can be put aside.
  private var isFull = false

  init(limits: SpillLimits) { self.limits = limits }

  /// - Parameter newValue: Not `none`; nil removes the entry.
  subscript(key: UInt64) -> UInt32? {
    get {
      if let number = recent[key] { return number == Self.none ? nil : number }
      return runs.isEmpty ? nil : putAside(key)
    }
    set {
      if let number = newValue {
        recent[key] = number
      } else if isPutAside(key) {
        recent[key] = Self.none
      } else {
        recent[key] = nil
      }
      if recent.count >= limits.entries { spill() }
    }
  }

  mutating func removeValue(forKey key: UInt64) -> UInt32? {
    guard let number = self[key] else { return nil }
    self[key] = nil
    return number
  }

  /// As with a set of keys. - Returns: Whether it was not there.
  mutating func insert(_ key: UInt64) -> Bool {
    guard self[key] == nil else { return false }
    self[key] = 0
    return true
  }

  mutating func removeAll() {
    recent = [:]
    runs = []
    isFull = false
  }

  // MARK: What is put aside

  private func putAside(_ key: UInt64) -> UInt32? {
    for run in runs.reversed() {
      if let number = run[key] { return number == Self.none ? nil : number }
    }
    return nil
  }

  private func isPutAside(_ key: UInt64) -> Bool { runs.contains { $0.mayHave(key) } }

  private mutating func spill() {
    guard !isFull, let place = limits.place else { return }
    let isFirst = runs.isEmpty
    let sorted = recent.lazy.filter { !isFirst || $0.value != Self.none }
      .map { NumberRun.Entry(key: $0.key, number: $0.value) }.sorted { $0.key < $1.key }
    guard let run = NumberRun(sorted, limits: limits, place: place) else {
      isFull = true
      return
    }
    recent.removeAll(keepingCapacity: true)
    runs.append(run)
    while runs.count > 1, runs[runs.count - 2].count <= 2 * runs[runs.count - 1].count {
      let (older, newer) = (runs[runs.count - 2], runs[runs.count - 1])
      // In the oldest file nothing is left that has to be hidden.
      let both = NumberRun(older, newer, keepsRemoved: runs.count > 2, limits: limits, place: place)
      guard let both else {
        isFull = true
        return
      }
      runs.replaceSubrange((runs.count - 2)..., with: CollectionOfOne(both))
    }
  }
}

/// A filter in front of keys that take a system call to be looked for: of those that are not among them nearly all are
/// known at once.
///
/// Each key sets four bits of one word. 16 bits are meant for each; beyond a size there are fewer.
struct KeyFilter: Sendable {
  private var words: [UInt64]
  private let mask: UInt64

  init(keys: Int, bytesMax: Int) {
    let wanted = max(1, min(keys / 4, bytesMax / 8))
    // A power of two, and no more than there may be.
    let rounded = 1 << (Int.bitWidth - 1 - wanted.leadingZeroBitCount)
    let count = rounded < wanted && 2 * rounded <= bytesMax / 8 ? 2 * rounded : rounded
    words = [UInt64](repeating: 0, count: count)
    mask = UInt64(count - 1)
  }

  mutating func insert(_ key: UInt64) {
    let (word, bits) = place(of: key)
    words[word] |= bits
  }

  func mayHave(_ key: UInt64) -> Bool {
    let (word, bits) = place(of: key)
    return words[word] & bits == bits
  }

  private func place(of key: UInt64) -> (word: Int, bits: UInt64) {
    let mixed = HashMix.of(key)
    var bits: UInt64 = 0
    for shift: UInt64 in [0, 6, 12, 18] { bits |= 1 << (mixed >> shift & 63) }
    return (Int(truncatingIfNeeded: mixed >> 24 & mask), bits)
  }
}

/// Spreads what differs in a few bits of a number over all of them, each number to another one (SplitMix64's end).
enum HashMix {
  static func of(_ number: UInt64) -> UInt64 {
    var mixed = number &+ 0x9e37_79b9_7f4a_7c15
    mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
    return mixed ^ mixed >> 31
  }
}
