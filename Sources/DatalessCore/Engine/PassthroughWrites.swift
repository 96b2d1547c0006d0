/// Files to which programs may write past the volume: through passthrough opens, and through mappings that such opens
/// have left behind. No request tells of it, so what these files look like is asked of their content, each time.
///
/// A file is in it from the first such open until it is known that nobody can write to it any more. All of its opens
/// are passthrough as long: the kernel's own pages of it are old, and are dropped when it leaves.
struct PassthroughWrites {
  /// One such file.
  struct File {
    let watch: any ContentWatch
    /// What the content said of itself when the item's record took it over last.
    fileprivate(set) var seen: ContentStatus
    /// Opens that are decided, and have no backing yet.
    fileprivate var undecided = 0
    /// Whether an open was answered so.
    fileprivate var isConfirmed = false
    fileprivate var isSettling = false
    /// How often somebody had it mapped when nobody had it open.
    fileprivate var looks = 0
  }

  /// Content of the store as it was when a program was about to write to it.
  struct Untouched {
    fileprivate let content: ContentID
    private let size: Int64
    private let modificationTime: Timestamp

    /// - Parameter now: The volume's time.
    /// - Returns: nil if what is written next might not be seen in `status`: what the disk's clock had at that moment
    ///   may be what it has then.
    init?(_ content: ContentID, _ status: ContentStatus, watch: any ContentWatch, now: Timestamp) {
      guard watch.seesStores, status.modificationTime < now,
        !status.modificationTime.isBehind(now, within: ItemAttributes.tick)
      else { return nil }
      self.content = content
      size = status.extent.size
      modificationTime = status.modificationTime
    }

    fileprivate func isStill(_ status: ContentStatus) -> Bool {
      size == status.extent.size && modificationTime == status.modificationTime
    }
  }

  private var files: [NodeIndex: File] = [:]
  /// Of files that are dirty because somebody has opened them for writing, as far as that is known.
  private var untouched: [NodeIndex: Untouched] = [:]
  /// Watches that nobody needs: given up where no lock is held.
  private var left: [any ContentWatch] = []

  /// LIMIT: each has a descriptor.
  static let countMax = 1024

  var isEmpty: Bool { files.isEmpty }
  var isFull: Bool { files.count >= Self.countMax }
  var nodes: [NodeIndex] { Array(files.keys) }

  subscript(node: NodeIndex) -> File? { files.isEmpty ? nil : files[node] }

  /// Whether an open has to be passthrough, whoever else has the file open.
  func mustPassThrough(_ node: NodeIndex) -> Bool { self[node]?.isConfirmed ?? false }

  // MARK: - Opens

  /// An open for writing is to be passthrough, once there is a backing: `confirm` or `refuse`.
  mutating func begin(_ node: NodeIndex, _ watch: any ContentWatch, seen: ContentStatus) {
    files[node, default: File(watch: watch, seen: seen)].undecided += 1
  }

  /// It is. - Returns: Whether it is the first one of the file.
  mutating func confirm(_ node: NodeIndex) -> Bool {
    guard var file = files[node] else { return false }
    let isFirst = !file.isConfirmed
    file.isConfirmed = true
    file.undecided -= 1
    files[node] = file
    return isFirst
  }

  /// It is not.
  mutating func refuse(_ node: NodeIndex) {
    guard var file = files[node] else { return }
    file.undecided -= 1
    if file.isConfirmed || file.undecided > 0 { files[node] = file } else { end(node) }
  }

  // MARK: - What was written

  /// The item's record has taken over what the content says.
  mutating func take(_ status: ContentStatus, of node: NodeIndex) { files[node]?.seen = status }

  /// A file becomes dirty for an open for writing.
  mutating func noteUntouched(_ node: NodeIndex, _ before: Untouched?) {
    if before != nil || !untouched.isEmpty { untouched[node] = before }
  }

  /// Whether nobody has written to a file since it became dirty. - Parameter content: What it has now.
  func isUntouched(_ node: NodeIndex, _ content: ContentID) -> Bool {
    guard let before = untouched[node], before.content == content, let status = self[node]?.watch.look() else {
      return false
    }
    return before.isStill(status)
  }

  // MARK: - The end

  /// Nobody has the file open.
  ///
  /// - Returns: How long to wait before it is found out whether somebody has it mapped; nil if that will be done
  ///   already, or there is nothing to find out.
  mutating func beginSettling(_ node: NodeIndex) -> Nanoseconds? {
    guard let file = files[node], file.isConfirmed, !file.isSettling else { return nil }
    files[node]?.isSettling = true
    return .milliseconds(1000 << Int64(min(file.looks, 6)))
  }

  /// It is found out now. - Returns: Whether it has to be.
  mutating func endSettling(_ node: NodeIndex) -> Bool {
    guard files[node] != nil else { return false }
    files[node]?.isSettling = false
    return true
  }

  /// Somebody has it mapped.
  mutating func noteMapped(_ node: NodeIndex) { files[node]?.looks += 1 }

  /// Nobody can write to it past the volume any more.
  mutating func end(_ node: NodeIndex) {
    noteUntouched(node, nil)
    if !files.isEmpty, let file = files.removeValue(forKey: node) { left.append(file.watch) }
  }

  /// Nodes are given back.
  mutating func forget(_ nodes: [NodeIndex]) {
    if !files.isEmpty || !untouched.isEmpty { for node in nodes { end(node) } }
  }

  /// What is to be dropped after unlocking.
  mutating func takeLeft() -> [any ContentWatch] {
    guard !left.isEmpty else { return [] }
    defer { left = [] }
    return left
  }
}

extension ItemAttributes {
  /// LIMIT: by how much the clock of a disk's times may be behind the volume's: a tick of the kernel.
  fileprivate static let tick = Timestamp(seconds: 0, nanoseconds: 20_000_000)

  /// With what was written past the volume.
  func following(_ status: ContentStatus, since seen: ContentStatus) -> ItemAttributes {
    var attributes = self
    attributes.size = status.extent.size
    attributes.blocks = status.extent.blocks
    guard status.modificationTime != seen.modificationTime || status.extent.size != seen.extent.size else {
      return attributes
    }
    // What the volume itself did a moment ago is not to be dated back.
    if !status.modificationTime.isBehind(modificationTime, within: Self.tick) {
      attributes.modificationTime = status.modificationTime
    }
    attributes.changeTime = max(changeTime, status.modificationTime)
    return attributes
  }
}

extension Timestamp {
  /// Whether it is before another one by less than `limit`, which is below a second.
  fileprivate func isBehind(_ other: Timestamp, within limit: Timestamp) -> Bool {
    guard self < other else { return false }
    let (seconds, overflow) = other.seconds.subtractingReportingOverflow(self.seconds)
    guard !overflow, seconds <= 1 else { return false }
    let behind = seconds * 1_000_000_000 + Int64(other.nanoseconds) - Int64(nanoseconds)
    return behind < Int64(limit.nanoseconds)
  }
}
