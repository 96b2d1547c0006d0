/// All names of a volume: their records, their texts, and the hash table by which they are found. Used by `Namespace`
/// alone, which keeps the lists that run through the records.
struct NameTable: ~Copyable {
  private var records = SegmentedTable<NameRecord>()
  private var texts = NameArena()
  private var hashTable: NameHashTable
  /// Directories of which some names have been entered, with the next one.
  private var entering: [NodeIndex: NameIndex] = [:]
  /// Records to be used again, linked as siblings.
  private var firstFree = NameIndex.end

  init(key: NameHashKey) {
    hashTable = NameHashTable(key: key)
    // Index 0 means "none".
    _ = records.append(
      NameRecord(
        directory: NodeIndex(rawValue: 0), node: NodeIndex(rawValue: 0), textOffset: 0, textLength: 0, epoch: 0,
        isLocal: false, standing: .free))
  }

  subscript(name: NameIndex) -> NameRecord { _read { yield records[name] } }

  /// Indices are below this.
  var end: UInt32 { UInt32(records.count) }

  /// The name behind a readdir cookie; nil for a number that is no name of the directory.
  func name(at number: UInt64, in directory: NodeIndex) -> NameIndex? {
    guard number > 0, number < UInt64(records.count) else { return nil }
    let name = NameIndex(rawValue: UInt32(number))
    return records[name].directory == directory && records[name].standing != .free ? name : nil
  }

  /// Of an item's names the one under which the store has it; otherwise one that it had there; nil for the root, and
  /// for what was made on the volume.
  func storeName(first: NameIndex) -> NameIndex? {
    var earlier: NameIndex?
    var name = first
    while name != .end {
      let record = records[name]
      if record.isInStore { return name }
      if !record.isLocal { earlier = earlier ?? name }
      name = record.nextOfNode
    }
    return earlier
  }

  /// Of an item's names those that it had last when it had none.
  func formers(first: NameIndex) -> [NameIndex] {
    var formers: [NameIndex] = []
    var name = first
    while name != .end {
      if records[name].standing == .former { formers.append(name) }
      name = records[name].nextOfNode
    }
    return formers
  }

  /// The bytes of a name, valid as long as the table.
  func text(of name: NameIndex) -> UnsafeBufferPointer<UInt8> {
    texts.name(at: records[name].textOffset, length: records[name].textLength)
  }

  // MARK: - New names

  /// Adds a name that is in no list yet. - Returns: nil when the tables are full (2^32 names, or 4 GiB of names).
  mutating func append(
    _ text: UnsafeBufferPointer<UInt8>, of node: NodeIndex, in directory: NodeIndex, isLocal: Bool, epoch: UInt8
  ) -> NameIndex? {
    guard firstFree != .end || records.count < Int(UInt32.max), let offset = texts.append(text) else { return nil }
    return append(
      NameRecord(
        directory: directory, node: node, textOffset: offset, textLength: UInt16(text.count), epoch: epoch,
        isLocal: isLocal, standing: .present))
  }

  /// Adds a name that no listing shows, with the text and the directory of another: what an item that has none left was
  /// called.
  mutating func appendFormer(_ name: NameIndex, of node: NodeIndex) -> NameIndex? {
    let record = records[name]
    return append(text(of: name), of: node, in: record.directory, isLocal: record.isLocal, epoch: record.epoch)
  }

  private mutating func append(_ record: NameRecord) -> NameIndex {
    guard firstFree != .end else { return NameIndex(rawValue: UInt32(records.append(record))) }
    let name = firstFree
    firstFree = records[name].nextSibling
    records[name] = record
    return name
  }

  /// Gives a name's record and its text back. It is in no list, and not findable.
  mutating func free(_ name: NameIndex) {
    texts.free(at: records[name].textOffset, length: records[name].textLength)
    records[name].standing = .free
    records[name].nextSibling = firstFree
    firstFree = name
  }

  // MARK: - Finding

  /// Makes a name findable.
  mutating func enter(_ name: NameIndex) {
    records[name].hash = hashTable.hash(directory: records[name].directory, name: text(of: name))
    hashTable.insert(name, into: &records)
  }

  /// Names made findable under one lock: about 50 us.
  private static var enteredAtOnce: Int { 512 }

  /// Makes some more names of a directory findable. - Returns: Whether all are now.
  mutating func enterSome(of directory: NodeIndex, _ nodes: inout NodeTable) -> Bool {
    // Nothing to enter yet: what a first listing brings stays out.
    if nodes[directory].isIndexed || nodes[directory].firstChild == .end { return true }
    guard enterSome(of: directory, first: nodes[directory].firstChild) else { return false }
    nodes[directory].isIndexed = true
    return true
  }

  private mutating func enterSome(of directory: NodeIndex, first: NameIndex) -> Bool {
    var name = entering[directory] ?? first
    var left = Self.enteredAtOnce
    while name != .end {
      if left == 0 {
        entering[directory] = name
        return false
      }
      left -= 1
      let next = records[name].nextSibling
      enter(name)
      name = next
    }
    entering[directory] = nil
    return true
  }

  /// Whether some names of a directory are findable, and others not yet.
  func isEntering(_ directory: NodeIndex) -> Bool { entering[directory] != nil }

  /// A directory is forgotten.
  mutating func leave(_ directory: NodeIndex) { entering[directory] = nil }

  /// Makes a name that was entered unfindable.
  mutating func unenter(_ name: NameIndex) { hashTable.remove(name, from: &records) }

  /// A name that has been entered; `end` if there is none. Each layer has at most one of a text that is there, and that
  /// is found before one that is gone: a name of the store may become one of the volume's, where another one was.
  func find(_ text: UnsafeBufferPointer<UInt8>, in directory: NodeIndex, _ layer: NameLayer) -> NameIndex {
    let hash = hashTable.hash(directory: directory, name: text)
    var candidate = hashTable.head(hash)
    var gone = NameIndex.end
    while candidate != .end {
      let record = records[candidate]
      if record.hash == hash, record.directory == directory, Int(record.textLength) == text.count,
        layer.contains(record), texts.name(at: record.textOffset, length: record.textLength).elementsEqual(text)
      {
        if record.isPresent || record.standing == .removed { return candidate }
        if gone == .end { gone = candidate }
      }
      candidate = record.nextInBucket
    }
    return gone
  }

  /// Whether none of the names in a directory's list is present.
  ///
  /// - Parameters:
  ///   - last: Behind which one the look begins; gets the last one before which, itself included, none is present.
  ///   - first: Of the list.
  ///   - limit: Names looked at.
  /// - Returns: nil when there are more to be looked at.
  func isNonePresent(after last: inout NameIndex?, first: NameIndex, limit: Int) -> Bool? {
    var name = last.map { records[$0].nextSibling } ?? first
    for _ in 0..<limit {
      guard name != .end else { return true }
      guard !records[name].isPresent else { return false }
      last = name
      name = records[name].nextSibling
    }
    return nil
  }

  /// Whether so many names of so many bytes can be added.
  func hasRoom(for count: Int, names: Int = 1) -> Bool {
    // Of the places to be used again one is certain.
    let free = Int(UInt32.max) - records.count + (firstFree == .end ? 0 : 1)
    return free >= names && texts.hasRoom(for: count, names: names)
  }

  // MARK: - Changes

  mutating func setStanding(_ standing: NameRecord.Standing, _ name: NameIndex) { records[name].standing = standing }
  mutating func setEpoch(_ epoch: UInt8, of name: NameIndex) { records[name].epoch = epoch }
  mutating func setNextSibling(_ next: NameIndex, of name: NameIndex) { records[name].nextSibling = next }
  mutating func setNextOfNode(_ next: NameIndex, of name: NameIndex) { records[name].nextOfNode = next }

  mutating func setNode(_ node: NodeIndex, of name: NameIndex) { records[name].node = node }
  mutating func setLocal(_ name: NameIndex) { records[name].isLocal = true }

  /// Takes the names that are gone out of a part of a directory's list.
  ///
  /// - Parameters:
  ///   - previous: The last name before the part, or `end` at the beginning of the list; gets the last one that was
  ///     left in it.
  ///   - list: The first and the last name of the list.
  ///   - body: Gets each name that was taken out.
  /// - Returns: Whether the end of the list was reached.
  mutating func removeGone(
    after previous: inout NameIndex, limit: Int, from list: inout (first: NameIndex, last: NameIndex),
    _ body: (NameIndex) -> Void
  ) -> Bool {
    var name = previous == .end ? list.first : records[previous].nextSibling
    for _ in 0..<limit {
      guard name != .end else { return true }
      let next = records[name].nextSibling
      if records[name].standing != .gone {
        previous = name
      } else {
        if previous == .end { list.first = next } else { records[previous].nextSibling = next }
        if next == .end { list.last = previous }
        body(name)
      }
      name = next
    }
    return name == .end
  }
}
