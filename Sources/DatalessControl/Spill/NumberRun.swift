/// Entries of a map in a file, by their keys; it does not change any more.
struct NumberRun: Sendable {
  struct Entry: Sendable {
    var key: UInt64
    var number: UInt32
  }

  /// What an entry takes: its key, the low half first, and its number.
  fileprivate static let words = 3
  fileprivate static let entryBytes = words * MemoryLayout<UInt32>.size

  private let file: SpillFile
  let count: Int
  private let blockEntries: Int
  /// The key at which each block begins.
  private let fences: [UInt64]
  private let filter: KeyFilter

  /// - Parameter entries: By their keys.
  /// - Returns: nil where they cannot be written.
  init?(_ entries: [Entry], limits: SpillLimits, place: SpillPlace) {
    guard var writer = NumberRunWriter(countMax: entries.count, limits: limits, place: place) else { return nil }
    for entry in entries where !writer.add(entry) { return nil }
    self.init(writer)
  }

  /// Both together.
  ///
  /// - Parameters:
  ///   - newer: What it says of a key holds.
  ///   - keepsRemoved: Whether entries that say that a key was removed are kept.
  /// - Returns: nil where they cannot be read or written.
  init?(_ older: NumberRun, _ newer: NumberRun, keepsRemoved: Bool, limits: SpillLimits, place: SpillPlace) {
    let count = older.count + newer.count
    guard var writer = NumberRunWriter(countMax: count, limits: limits, place: place) else { return nil }
    var (old, new) = (NumberRunReader(older.file, count: older.count), NumberRunReader(newer.file, count: newer.count))
    while true {
      let entry: Entry
      if let next = new.current, next.key <= old.current?.key ?? .max {
        if next.key == old.current?.key { old.advance() }
        new.advance()
        entry = next
      } else if let next = old.current {
        old.advance()
        entry = next
      } else {
        break
      }
      guard keepsRemoved || entry.number != SpilledNumbers.none else { continue }
      guard writer.add(entry) else { return nil }
    }
    guard !old.hasFailed, !new.hasFailed else { return nil }
    self.init(writer)
  }

  private init?(_ writer: NumberRunWriter) {
    var writer = writer
    guard writer.flush() else { return nil }
    (file, count, blockEntries) = (writer.file, writer.count, writer.blockEntries)
    (fences, filter) = (writer.fences, writer.filter)
  }

  /// False: it has no such key. True: it nearly always has.
  func mayHave(_ key: UInt64) -> Bool { count > 0 && filter.mayHave(key) }

  /// The number of a key, also `SpilledNumbers.none`; nil for a key that it does not have.
  subscript(key: UInt64) -> UInt32? {
    guard mayHave(key), let block = block(of: key) else { return nil }
    let first = block * blockEntries
    let entries = min(blockEntries, count - first)
    return withUnsafeTemporaryAllocation(of: UInt32.self, capacity: entries * Self.words) { buffer in
      guard file.read(UnsafeMutableRawBufferPointer(buffer), at: first * Self.entryBytes) else {
        return nil
      }
      var (low, high) = (0, entries)
      while low < high {
        let middle = (low + high) / 2
        let found = Self.key(UnsafeBufferPointer(buffer), middle)
        if found == key { return buffer[middle * Self.words + 2] }
        if found < key { low = middle + 1 } else { high = middle }
      }
      return nil
    }
  }

  /// The last block that does not begin behind a key.
  private func block(of key: UInt64) -> Int? {
    var (low, high) = (0, fences.count)
    while low < high {
      let middle = (low + high) / 2
      if fences[middle] <= key { low = middle + 1 } else { high = middle }
    }
    return low > 0 ? low - 1 : nil
  }

  fileprivate static func key(_ words: UnsafeBufferPointer<UInt32>, _ entry: Int) -> UInt64 {
    UInt64(words[entry * Self.words]) | UInt64(words[entry * Self.words + 1]) << 32
  }
}

/// Writes entries that come by their keys to a new file.
private struct NumberRunWriter {
  private static let bufferWords = 12_288

  let file: SpillFile
  let blockEntries: Int
  private(set) var count = 0
  private(set) var fences: [UInt64] = []
  private(set) var filter: KeyFilter
  private var buffer: [UInt32] = []
  private var written = 0

  /// - Parameter countMax: No more entries will come.
  init?(countMax: Int, limits: SpillLimits, place: SpillPlace) {
    guard let file = place.open() else { return nil }
    self.file = file
    var blockEntries = max(1, limits.blockEntries)
    while countMax / blockEntries >= limits.blocks { blockEntries *= 2 }
    self.blockEntries = blockEntries
    filter = KeyFilter(keys: countMax, bytesMax: limits.filterBytes)
    fences.reserveCapacity(countMax / blockEntries + 1)
    buffer.reserveCapacity(Self.bufferWords)
  }

  /// - Returns: Whether it could be written.
  mutating func add(_ entry: NumberRun.Entry) -> Bool {
    if count % blockEntries == 0 { fences.append(entry.key) }
    filter.insert(entry.key)
    count += 1
    buffer.append(UInt32(truncatingIfNeeded: entry.key))
    buffer.append(UInt32(truncatingIfNeeded: entry.key >> 32))
    buffer.append(entry.number)
    return buffer.count < Self.bufferWords || flush()
  }

  /// Writes what is left. - Returns: Whether that could be.
  mutating func flush() -> Bool {
    let isWritten = buffer.withUnsafeBytes { file.write($0, at: written) }
    written += buffer.count * MemoryLayout<UInt32>.size
    buffer.removeAll(keepingCapacity: true)
    return isWritten
  }
}

/// Reads all entries of a file, one after the other.
private struct NumberRunReader {
  private static let bufferEntries = 4_096

  private let file: SpillFile
  private let count: Int
  private var buffer: [UInt32] = []
  /// The next entry to be read from the file, and the next one of the buffer.
  private var next = 0
  private var place = 0
  /// nil behind the last one, and when it cannot be read.
  private(set) var current: NumberRun.Entry?
  private(set) var hasFailed = false

  init(_ file: SpillFile, count: Int) {
    (self.file, self.count) = (file, count)
    advance()
  }

  mutating func advance() {
    if place * NumberRun.words == buffer.count { fill() }
    guard place * NumberRun.words < buffer.count else {
      current = nil
      return
    }
    current = buffer.withUnsafeBufferPointer { words in
      NumberRun.Entry(key: NumberRun.key(words, place), number: words[place * NumberRun.words + 2])
    }
    place += 1
  }

  private mutating func fill() {
    let entries = min(Self.bufferEntries, count - next)
    var words = [UInt32](repeating: 0, count: entries * NumberRun.words)
    let isRead = words.withUnsafeMutableBytes { file.read($0, at: next * NumberRun.entryBytes) }
    hasFailed = hasFailed || !isRead
    (buffer, place) = (isRead ? words : [], 0)
    next = isRead ? next + entries : count
  }
}
