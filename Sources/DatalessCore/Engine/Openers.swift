/// Who has which file open, so that it is seen when one process writes to what another one has open, too. Kept on
/// volumes that can be written to; a file that one process alone has open costs one entry in a dictionary.
struct Openers {
  private struct Entry {
    let handle: UInt64
    let opener: SharedWrite.Opener
  }

  /// The opens of one file. The first one has no list, which would be an allocation for each open.
  private struct Group {
    var first: Entry
    var rest: [Entry] = []
    /// Opens beyond `entriesMax`. When none but these are left, `first` has no handle.
    var uncounted = 0
    /// The number of its latest open.
    var latest: UInt64
    /// Whether different processes, as far as is known, have had it open at the same time, since nobody had.
    var isMixed = false

    mutating func add(_ entry: Entry, _ number: UInt64) -> Bool {
      latest = number
      if rest.count + 1 < Openers.entriesMax { rest.append(entry) } else { uncounted += 1 }
      guard !isMixed, !first.opener.isSame(entry.opener) else { return false }
      isMixed = true
      return true
    }

    /// - Returns: Whether nobody has the file open any more.
    mutating func remove(_ handle: UInt64) -> Bool {
      if let place = rest.firstIndex(where: { $0.handle == handle }) {
        rest.remove(at: place)
      } else if first.handle != handle {
        uncounted = max(0, uncounted - 1)
      } else if let last = rest.popLast() {
        first = last
      } else if uncounted > 0 {
        // Those who are left were not noted.
        first = Entry(handle: 0, opener: SharedWrite.Opener(process: .unknown, threadID: 0, writes: false))
      } else {
        return true
      }
      return first.handle == 0 && rest.isEmpty && uncounted == 0
    }
  }

  // LIMIT: opens of one file that are told apart.
  private static let entriesMax = 64
  // LIMIT: looks in a second, of all files together; each reads some links of /proc while a caller waits.
  private static let looksMax = 100

  private let isKept: Bool
  private var groups: [NodeIndex: Group] = [:]
  private var opens: UInt64 = 0
  /// Groups that are mixed.
  private var mixed = 0
  private var looks: (since: MonotonicTime, count: Int) = (MonotonicTime(nanoseconds: 0), 0)

  /// - Parameter isKept: Whether anybody asks.
  init(isKept: Bool = false) { self.isKept = isKept }

  // MARK: - Opens

  mutating func begin(_ handle: UInt64, _ node: NodeIndex, by opener: SharedWrite.Opener) {
    guard isKept else { return }
    opens += 1
    // A passthrough open may become a cached one.
    let entry = Entry(handle: OpenHandle.asCached(handle), opener: opener)
    guard let place = groups.index(forKey: node) else {
      groups[node] = Group(first: entry, latest: opens)
      return
    }
    if groups.values[place].add(entry, opens) { mixed += 1 }
  }

  mutating func end(_ handle: UInt64, _ node: NodeIndex) {
    guard !groups.isEmpty, let place = groups.index(forKey: node),
      groups.values[place].remove(OpenHandle.asCached(handle))
    else { return }
    if groups.values[place].isMixed { mixed -= 1 }
    groups.remove(at: place)
  }

  // MARK: - Looking

  /// Whether different processes have had a file open at the same time, since nobody had.
  func isMixed(_ node: NodeIndex) -> Bool { latestIfMixed(node) != nil }

  /// The number of the latest open of a file that is mixed; nil for another one.
  func latestIfMixed(_ node: NodeIndex) -> UInt64? {
    guard mixed > 0, let place = groups.index(forKey: node), groups.values[place].isMixed else { return nil }
    return groups.values[place].latest
  }

  /// Who else has a file open that may be another process; nil for nobody.
  func beside(_ handle: UInt64, _ node: NodeIndex) -> [SharedWrite.Opener]? {
    guard isMixed(node), let group = groups[node] else { return nil }
    let key = OpenHandle.asCached(handle)
    let entries = [group.first] + group.rest
    let own = entries.first { $0.handle == key }?.opener
    var others: [SharedWrite.Opener] = []
    for entry in entries where entry.handle != key && entry.handle != 0 {
      if let own, own.isSame(entry.opener) { continue }
      if let place = others.firstIndex(where: { $0.isSame(entry.opener) }) {
        if entry.opener.writes { others[place].writes = true }
      } else if others.count < SharedWrite.othersMax {
        others.append(entry.opener)
      }
    }
    return others.isEmpty ? nil : others
  }

  /// Whether one more look may be made now.
  mutating func mayLook(_ now: MonotonicTime) -> Bool {
    if now - looks.since >= .seconds(1) { looks = (now, 0) }
    looks.count += 1
    return looks.count <= Self.looksMax
  }
}
