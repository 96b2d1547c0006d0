/// Directories of which an earlier run has kept something, while that is put back: what is left to be done, whichever
/// attempt goes on with it.
struct Restorations {
  /// What a saved name is.
  enum Layer: Equatable {
    /// The store's, of what is no directory: known before the listing, which is merged with it.
    case listed
    /// The store's, and not shown.
    case hidden
    /// Made on the volume.
    case made
    /// The store's, of a directory: it has something of it if the listing has it, too.
    case directory
  }

  struct Entry: Equatable {
    var layer: Layer
    var name: [UInt8]
    var item: SavedItem
  }

  private struct Work {
    var entries: [Entry]
    var next = 0
    /// Where those begin that come after the listing.
    var late: Int
  }

  private var directories: [NodeIndex: Work] = [:]

  /// Whether what is saved of a directory was read.
  func isBegun(_ directory: NodeIndex) -> Bool { directories[directory] != nil }

  /// What is saved of a directory was read; if somebody else was faster, nothing happens.
  mutating func begin(_ directory: NodeIndex, _ saved: SavedDirectory) {
    guard directories[directory] == nil else { return }
    var hidden: Set<[UInt8]> = []
    for entry in saved.hidden { hidden.insert(entry.name) }
    var entries: [Entry] = []
    var late: [Entry] = []
    entries.reserveCapacity(saved.listed.count + saved.hidden.count + saved.made.count)
    for entry in saved.listed where !hidden.contains(entry.name) {
      switch entry.item.version?.kind ?? entry.item.attributes?.kind {
      case nil, .directory: late.append(Entry(layer: .directory, name: entry.name, item: entry.item))
      default: entries.append(Entry(layer: .listed, name: entry.name, item: entry.item))
      }
    }
    entries += saved.hidden.map { Entry(layer: .hidden, name: $0.name, item: $0.item) }
    entries += saved.made.map { Entry(layer: .made, name: $0.name, item: $0.item) }
    directories[directory] = Work(entries: entries + late, late: entries.count)
  }

  /// The next one. - Parameter afterListing: Whether the store's listing is there.
  mutating func next(in directory: NodeIndex, afterListing: Bool) -> Entry? {
    guard let work = directories[directory], work.next < (afterListing ? work.entries.count : work.late) else {
      return nil
    }
    directories[directory]?.next += 1
    return work.entries[work.next]
  }

  /// It could not be done yet.
  mutating func putBack(in directory: NodeIndex) { directories[directory]?.next -= 1 }

  /// What comes after the listing is to be done again: it could not be done to the end.
  mutating func repeatAfterListing(in directory: NodeIndex) {
    if let late = directories[directory]?.late { directories[directory]?.next = late }
  }

  /// All is done, or the directories are given back.
  mutating func end(_ some: some Sequence<NodeIndex>) {
    guard !directories.isEmpty else { return }
    for directory in some { directories[directory] = nil }
  }
}
