/// What is stored, added up: by area, by category, and the largest.
///
/// A value: items are added one by one, each once whatever names it has. Sizes are in bytes; what is dataless counts
/// to what is stored, and to nothing that is local.
public struct Inventory: Sendable {
  /// LIMIT: items that are told one by one, of each kind.
  public static let listed = 20
  /// LIMIT: files whose content may be compared.
  public static let comparedMax = 1_000_000

  /// Whether a backup has an item, and why.
  public enum Backup: Sendable, Hashable {
    /// Nothing speaks against it.
    case included
    /// Its area is not backed up.
    case area
    /// It bears a mark itself.
    case mark(BackupMark)
    /// A directory above bears one.
    case directory([UInt8])
    /// What could not be asked: the store did not answer.
    case unknown
  }

  public struct Sum: Sendable, Equatable {
    public var files: Int64 = 0
    public var stored: Int64 = 0
    public var local: Int64 = 0
    public var dataless: Int64 = 0
    public var dirty: Int64 = 0
    public var purgeable: Int64 = 0
    public var evictable: Int64 = 0
    public var backedUp: Int64 = 0
    public var counted: Int64 = 0

    public init() {}
  }

  public struct Entry: Sendable {
    public var item: StoredItem
    public var backup: Backup
  }

  /// Files of which it is known that they are equal.
  public struct Equals: Sendable {
    public var size: Int64
    public var paths: [[UInt8]]
  }

  private struct SameSize {
    var resident: [NodeID] = []
    var others: Int64 = 0
  }

  public let areas: Areas
  public private(set) var total = Sum()
  private var byPlace: [Areas.Place?: Sum] = [:]
  private var byCategory: [AreaCategory?: Sum] = [:]
  public private(set) var directories: Int64 = 0
  /// Directories that were never listed: what is in them is not known, and counted nowhere.
  public private(set) var unlisted: Int64 = 0
  /// Why files are in no backup: files and bytes.
  private var excluded: [String: (files: Int64, bytes: Int64)] = [:]
  public private(set) var largest: [Entry] = []
  public private(set) var untouched = (files: Int64(0), bytes: Int64(0))
  public private(set) var largestUntouched: [Entry] = []
  /// What came into its area by a rename.
  public private(set) var moved: [Entry] = []
  public private(set) var movedCount: Int64 = 0
  /// Files whose content was not compared because it is not here.
  public private(set) var unknown = (files: Int64(0), bytes: Int64(0))
  public private(set) var equals: [Equals] = []
  /// What would be gained if equal content were stored once.
  public private(set) var repeated = (files: Int64(0), bytes: Int64(0))
  private var seen: Set<NodeID> = []
  private var bySize: [Int64: SameSize] = [:]
  private var compared = 0
  private let root: [UInt8]
  private var byDirectory: [[UInt8]: (stored: Int64, local: Int64)] = [:]

  /// - Parameter root: The path of the directory that is looked at.
  public init(_ areas: Areas, root: [UInt8] = []) {
    self.areas = areas
    self.root = root
  }

  /// Adds an item that was met on the way; one that was met before by another name is left out.
  public mutating func add(_ item: StoredItem, _ backup: Backup) {
    if item.hasOtherNames, !seen.insert(item.node).inserted { return }
    if item.formerArea != nil { noteMoved(item, backup) }
    if item.kind == .directory {
      directories += 1
      if item.isUnlisted { unlisted += 1 }
      return
    }
    let isCounted = item.place.map { areas.area($0).isCounted } ?? true
    let category = item.place.map { areas.area($0).category }
    let isBackedUp = backup == .included
    total.add(item, isBackedUp: isBackedUp, isCounted: isCounted)
    byPlace[item.place, default: Sum()].add(item, isBackedUp: isBackedUp, isCounted: isCounted)
    byCategory[category, default: Sum()].add(item, isBackedUp: isBackedUp, isCounted: isCounted)
    addToTree(item)
    if backup != .included {
      let reason = backup.word
      excluded[reason, default: (0, 0)].files += 1
      excluded[reason, default: (0, 0)].bytes += item.size
    }
    guard item.kind == .file else { return }
    let entry = Entry(item: item, backup: backup)
    Self.insert(entry, into: &largest)
    if !item.isTouched {
      untouched.files += 1
      untouched.bytes = untouched.bytes.saturatingAdd(item.size)
      Self.insert(entry, into: &largestUntouched)
    }
    guard item.size > 0, compared < Self.comparedMax else { return }
    compared += 1
    if item.isResident {
      bySize[item.size, default: SameSize()].resident.append(item.node)
    } else {
      bySize[item.size, default: SameSize()].others += 1
    }
  }

  private mutating func noteMoved(_ item: StoredItem, _ backup: Backup) {
    movedCount += 1
    if moved.count < Self.listed { moved.append(Entry(item: item, backup: backup)) }
  }

  private static func insert(_ entry: Entry, into list: inout [Entry]) {
    guard entry.item.size > 0, list.count < listed || list[list.count - 1].item.size < entry.item.size else { return }
    let place = list.firstIndex { $0.item.size < entry.item.size } ?? list.endIndex
    list.insert(entry, at: place)
    if list.count > listed { list.removeLast() }
  }

  // MARK: - By name

  /// By area and app, largest first.
  public var places: [(place: Areas.Place?, sum: Sum)] {
    byPlace.map { ($0.key, $0.value) }.sorted { left, right in
      left.sum.stored != right.sum.stored
        ? left.sum.stored > right.sum.stored : order(left.place).lexicographicallyPrecedes(order(right.place))
    }
  }

  private func order(_ place: Areas.Place?) -> [UInt8] {
    guard let place else { return [] }
    return Array(areas.area(place).name.utf8) + [0] + (place.app ?? [])
  }

  /// In the order of the categories; what lies in no area comes last.
  public var categories: [(category: AreaCategory?, sum: Sum)] {
    (AreaCategory.allCases.map { Optional($0) } + [nil]).compactMap { category in
      byCategory[category].map { (category, $0) }
    }
  }

  public var exclusions: [(reason: String, files: Int64, bytes: Int64)] {
    excluded.map { ($0.key, $0.value.files, $0.value.bytes) }.sorted { $0.0 < $1.0 }
  }

  // MARK: - Directories

  /// LIMIT: directories that are added up, and told.
  private static let summedMax = 20_000
  public static let toldMax = 1_000
  private static let levelsMax = 3

  private mutating func addToTree(_ item: StoredItem) {
    guard item.size > 0 || item.localBytes > 0 else { return }
    let slash = UInt8(ascii: "/")
    let start = root.isEmpty ? 0 : root.count + 1
    guard item.path.count > start else { return }
    var level = 0
    for place in item.path.indices[start...] where item.path[place] == slash {
      level += 1
      guard level <= Self.levelsMax else { return }
      let directory = Array(item.path[..<place])
      guard byDirectory[directory] != nil || byDirectory.count < Self.summedMax else { return }
      let sum = byDirectory[directory] ?? (0, 0)
      byDirectory[directory] = (sum.stored.saturatingAdd(item.size), sum.local.saturatingAdd(item.localBytes))
    }
  }

  /// What directories hold, down to three levels below the root: the largest first.
  public var tree: [(path: [UInt8], stored: Int64, local: Int64, category: AreaCategory?)] {
    let all = byDirectory.sorted { left, right in
      left.value.stored != right.value.stored
        ? left.value.stored > right.value.stored : left.key.lexicographicallyPrecedes(right.key)
    }
    return all.prefix(Self.toldMax).map { entry in
      (entry.key, entry.value.stored, entry.value.local, areas.place(of: entry.key).map { areas.area($0).category })
    }
  }

  // MARK: - Equal content

  /// Takes out the files that are here and have a size which others have, too, size by size: they are to be compared.
  /// Content that is not here is never fetched for it; it counts as `unknown`.
  public mutating func takeCandidates() -> [(size: Int64, nodes: [NodeID])] {
    defer { bySize = [:] }
    var found: [(size: Int64, nodes: [NodeID])] = []
    for (size, files) in bySize where files.resident.count + Int(clamping: files.others) > 1 {
      unknown.files += files.others
      unknown.bytes = unknown.bytes.saturatingAdd(files.others.multipliedReportingOverflow(by: size).partialValue)
      if files.resident.count > 1 { found.append((size, files.resident)) }
    }
    return found.sorted { $0.size > $1.size }
  }

  /// A file that was to be compared is not here any more.
  public mutating func addUnknown(size: Int64) {
    unknown.files += 1
    unknown.bytes = unknown.bytes.saturatingAdd(size)
  }

  /// Some files of one size have the same content.
  public mutating func addEquals(size: Int64, paths: [[UInt8]]) {
    guard paths.count > 1 else { return }
    repeated.files += Int64(paths.count - 1)
    repeated.bytes = repeated.bytes.saturatingAdd(
      Int64(paths.count - 1).multipliedReportingOverflow(by: size).partialValue)
    if equals.count < Self.listed { equals.append(Equals(size: size, paths: Array(paths.prefix(Self.listed)))) }
  }
}

extension Inventory.Sum {
  mutating func add(_ item: StoredItem, isBackedUp: Bool, isCounted: Bool) {
    files += 1
    stored = stored.saturatingAdd(item.size)
    local = local.saturatingAdd(item.localBytes)
    if item.kind == .file, !item.isResident { dataless = dataless.saturatingAdd(item.size) }
    if item.isDirty { dirty = dirty.saturatingAdd(item.size) }
    if item.purge != nil { purgeable = purgeable.saturatingAdd(item.localBytes) }
    if item.isEvictable { evictable = evictable.saturatingAdd(item.localBytes) }
    if isBackedUp { backedUp = backedUp.saturatingAdd(item.size) }
    if isCounted { counted = counted.saturatingAdd(item.size) }
  }
}

extension Inventory.Backup {
  /// `included`, `area`, `mark`, `directory` or `unknown`: the word of the control API.
  public var word: String {
    switch self {
    case .included: "included"
    case .area: "area"
    case .mark: "mark"
    case .directory: "directory"
    case .unknown: "unknown"
    }
  }
}
