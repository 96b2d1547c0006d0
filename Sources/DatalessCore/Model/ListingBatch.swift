/// Some entries of a directory listing on their way from a backing store: all names in one buffer, so that an entry
/// costs no allocation.
public struct ListingBatch: Sendable {
  private struct Entry {
    /// Where the name ends in `names`; it begins where the one before ends.
    var nameEnd: Int
    var attributes: ItemAttributes
  }

  private var names: [UInt8] = []
  private var entries: [Entry] = []
  /// By entry; of a store that has none it is empty.
  private var tokens: [Int: VersionToken] = [:]

  /// The most entries that a store hands over at a time.
  public static let entriesMax = 4096

  public init() {}

  public var count: Int { entries.count }
  public var isEmpty: Bool { entries.isEmpty }
  public var isFull: Bool { entries.count >= Self.entriesMax }

  /// Adds an entry. The name is bytes, never empty, without a slash, not `.` or `..`.
  public mutating func append(
    _ name: some Collection<UInt8>, _ attributes: ItemAttributes, token: VersionToken = .none
  ) {
    if !token.isNone { tokens[entries.count] = token }
    names.append(contentsOf: name)
    entries.append(Entry(nameEnd: names.count, attributes: attributes))
  }

  /// Adds an entry whose name `write` appends to the buffer.
  public mutating func append(_ attributes: ItemAttributes, writingName write: (inout [UInt8]) -> Void) {
    write(&names)
    entries.append(Entry(nameEnd: names.count, attributes: attributes))
  }

  /// Makes room for so many entries with names of about 24 bytes, for a store that knows how many will come.
  public mutating func reserve(_ count: Int) {
    let count = min(count, Self.entriesMax)
    entries.reserveCapacity(count)
    names.reserveCapacity(count * 24)
  }

  public mutating func removeAll() {
    names.removeAll(keepingCapacity: true)
    entries.removeAll(keepingCapacity: true)
    tokens.removeAll()
  }

  /// Calls `body` for the entries of a range until it returns false. The name is valid only during the call.
  ///
  /// - Returns: Whether all were visited.
  public func visit(
    _ range: Range<Int>, _ body: (_ name: UnsafeBufferPointer<UInt8>, _ item: ListedItem) -> Bool
  ) -> Bool {
    names.withUnsafeBufferPointer { names in
      var start = range.lowerBound == 0 ? 0 : entries[range.lowerBound - 1].nameEnd
      for index in range {
        let end = entries[index].nameEnd
        guard body(UnsafeBufferPointer(rebasing: names[start..<end]), item(index)) else { return false }
        start = end
      }
      return true
    }
  }

  /// One entry by itself.
  public subscript(index: Int) -> StoreEntry {
    let start = index == 0 ? 0 : entries[index - 1].nameEnd
    return StoreEntry(name: Array(names[start..<entries[index].nameEnd]), item: item(index))
  }

  private func item(_ index: Int) -> ListedItem {
    ListedItem(entries[index].attributes, token: tokens.isEmpty ? .none : tokens[index] ?? .none)
  }
}
