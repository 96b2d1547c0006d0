/// Who has which file open for writing, and what was written through each handle. Empty on a volume that is not
/// writable.
struct Writers {
  /// What was written through one handle.
  struct Written {
    let node: NodeIndex
    let caller: Caller
    /// Bytes that calls wrote, and how many calls.
    fileprivate(set) var bytes: Int64 = 0
    fileprivate(set) var calls: Int64 = 0
    /// Bytes that the page cache wrote back, of mappings: nobody knows whose.
    fileprivate(set) var mappedBytes: Int64 = 0
    /// Of a passthrough open, whose writes nobody sees: what the content was like before. nil: all are seen.
    fileprivate(set) var before: ContentStatus?
    /// The latest open of the file when it was looked who else has it open, by its number; 0: never, `.max`: somebody
    /// has, and it is told.
    fileprivate(set) var lookedAt: UInt64 = 0
    /// Whether a write was not looked at because there were too many.
    fileprivate(set) var wasPassedOver = false

    var isNothing: Bool { calls == 0 && mappedBytes == 0 }
  }

  /// Which files are open for writing.
  struct Nodes {
    fileprivate var counts: [NodeIndex: Int] = [:]
    func contains(_ node: NodeIndex) -> Bool { !counts.isEmpty && counts[node] != nil }
    var all: [NodeIndex] { Array(counts.keys) }
  }

  /// Changes of content that may run beside each other.
  enum Change { case resize, directWrite, writeback }

  /// Who knows how large a file is whose size was changed beside something else.
  enum SizeKnower {
    /// A direct write may have made it larger before the change of its size, or after it.
    case content
    /// Nothing made it larger: what mappings hold is written back where the file has bytes.
    case record
  }

  /// Changes of one file's content that are at work now.
  private struct AtWork {
    var count = 0
    var hasResize = false
    var hasDirectWrite = false
    /// Whether its size was changed beside something else: then nobody of them knows how large its content is.
    var isMixed = false
  }

  /// A change that is to be durable before a file's first byte changes.
  private struct Pending {
    let number: ChangeNumber
    /// If it emptied the file: what that was.
    var before: EmptiedFile?
  }

  private var handles: [UInt64: Written] = [:]
  private(set) var nodes = Nodes()
  /// Files that became dirty by a change that may not be durable yet.
  private var pending: [NodeIndex: Pending] = [:]
  /// Empty but for moments.
  private var atWork: [NodeID: AtWork] = [:]

  // MARK: - Handles

  /// - Parameter before: Of an open that is to be passthrough, as `Written.before`.
  mutating func begin(_ handle: UInt64, _ node: NodeIndex, by caller: Caller, before: ContentStatus? = nil) {
    handles[handle] = Written(node: node, caller: caller, before: before)
    nodes.counts[node, default: 0] += 1
  }

  /// An open that was to be passthrough is none, and has another handle.
  mutating func rename(_ handle: UInt64, to other: UInt64) {
    guard var written = handles.removeValue(forKey: handle) else { return }
    written.before = nil
    handles[other] = written
  }

  /// A passthrough open has emptied its file: what is written through it is what comes after that.
  ///
  /// - Parameter status: What the content is like now.
  mutating func noteCut(by handle: UInt64, _ status: ContentStatus) {
    guard let place = handles.index(forKey: handle), handles.values[place].before != nil else { return }
    handles.values[place].before = status
  }

  /// Whether a handle is open for writing a node.
  func isOpen(_ handle: UInt64, _ node: NodeIndex) -> Bool { handles[handle]?.node == node }

  /// Bytes were written through a handle, or were written back and belong to it as far as anybody can tell.
  mutating func note(_ bytes: Int64, through handle: UInt64, _ node: NodeIndex, isWriteback: Bool) {
    guard let place = handles.index(forKey: handle), handles.values[place].node == node else { return }
    if isWriteback {
      handles.values[place].mappedBytes += bytes
    } else {
      handles.values[place].bytes += bytes
      handles.values[place].calls += 1
    }
  }

  /// What was written through a handle; nil if it is not open for writing.
  subscript(handle: UInt64) -> Written? { handles[handle] }

  /// It was looked who else has the file open.
  ///
  /// - Parameter open: The number of the file's latest open; nil: somebody has, and it is told.
  mutating func noteLook(_ handle: UInt64, at open: UInt64?) {
    guard let place = handles.index(forKey: handle) else { return }
    handles.values[place].lookedAt = open ?? .max
    if open == nil { handles.values[place].wasPassedOver = false }
  }

  mutating func notePassedOver(_ handle: UInt64) {
    if let place = handles.index(forKey: handle) { handles.values[place].wasPassedOver = true }
  }

  /// A handle is closed. - Returns: What was written through it; nil if it was not open for writing.
  mutating func end(_ handle: UInt64, _ node: NodeIndex) -> Written? {
    guard !handles.isEmpty, let written = handles[handle], written.node == node else { return nil }
    handles[handle] = nil
    let count = (nodes.counts[node] ?? 1) - 1
    nodes.counts[node] = count > 0 ? count : nil
    return written
  }

  /// Handles that are open, each with what was written through it so far.
  var all: [(handle: UInt64, written: Written)] { handles.map { ($0.key, $0.value) } }

  // MARK: - Changes beside each other

  /// A change begins. The kernel lets direct writes of asynchronous I/O run beside everything else, and writes back
  /// what mappings hold while an open empties the file; all other changes of a file it does one by one.
  mutating func beginChange(of node: NodeID, _ change: Change) {
    var work = atWork[node] ?? AtWork()
    work.count += 1
    if change == .resize { work.hasResize = true }
    if change == .directWrite { work.hasDirectWrite = true }
    if work.count > 1, work.hasResize { work.isMixed = true }
    atWork[node] = work
  }

  /// It ends.
  ///
  /// - Returns: Who is to be asked for its size, because this was the last of several that do not know it; `endMixed`
  ///   follows then. nil: nobody.
  mutating func endChange(of node: NodeID) -> SizeKnower? {
    guard var work = atWork[node] else { return nil }
    if work.count == 1, work.isMixed { return work.hasDirectWrite ? .content : .record }
    work.count -= 1
    atWork[node] = work.count > 0 ? work : nil
    return nil
  }

  /// The content was asked. - Returns: Whether its answer holds: nobody has begun meanwhile, who would ask again.
  mutating func endMixed(of node: NodeID) -> Bool {
    guard var work = atWork[node] else { return false }
    work.count -= 1
    atWork[node] = work.count > 0 ? work : nil
    return work.count == 0
  }

  var hasChangesAtWork: Bool { !atWork.isEmpty }

  // MARK: - Durability

  /// A file is dirty by a change that is to be durable before its first byte changes.
  mutating func wait(for number: ChangeNumber, before node: NodeIndex) { pending[node] = Pending(number: number) }

  /// The change that has to be durable first; nil if there is none.
  func pendingChange(of node: NodeIndex) -> ChangeNumber? { pending.isEmpty ? nil : pending[node]?.number }

  /// The change that a file waits for has emptied it.
  mutating func noteEmptied(_ node: NodeIndex, _ before: EmptiedFile) { pending[node]?.before = before }

  /// The change that a file waits for cannot become durable.
  ///
  /// - Returns: What the file was, if that has emptied it; once.
  mutating func takeEmptied(_ node: NodeIndex) -> EmptiedFile? { pending[node]?.before.take() }

  mutating func endWait(of node: NodeIndex) { pending[node] = nil }

  /// Nodes are given back.
  mutating func forget(_ nodes: [NodeIndex]) { if !pending.isEmpty { for node in nodes { pending[node] = nil } } }
}
