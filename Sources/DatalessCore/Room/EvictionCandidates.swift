internal import HeapModule

/// The files that go first of all that were offered, those that were used least recently: a bounded number of them.
struct EvictionCandidates {
  struct Candidate: Equatable {
    let node: NodeID
    /// As `NodeRecord.lastUse`: if it has another one by now, it was used since.
    let lastUse: UInt32
    /// What its eviction gives back, in bytes.
    let bytes: Int64
    /// Lower ones go first, as `PurgeOrder` has it.
    var rank = PurgeOrder.evictionRank
  }

  private struct Entry: Comparable {
    /// Of its last use.
    let order: Int64
    let candidate: Candidate

    static func < (left: Entry, right: Entry) -> Bool {
      (left.candidate.rank, left.order, left.candidate.node.rawValue) < (
        right.candidate.rank, right.order, right.candidate.node.rawValue
      )
    }

    static func == (left: Entry, right: Entry) -> Bool {
      left.candidate.rank == right.candidate.rank && left.order == right.order
        && left.candidate.node == right.candidate.node
    }
  }

  /// LIMIT: files that are kept for one look at all of them: 128 KiB.
  static let limit = 4096

  private var heap = Heap<Entry>()
  /// The use from which others are counted: those of before and after are told apart by it.
  private var origin: UInt32 = 0

  var isEmpty: Bool { heap.isEmpty }
  var count: Int { heap.count }

  /// All files are about to be offered. - Parameter now: The number of the last use.
  mutating func begin(now: UInt32) {
    heap = Heap()
    origin = now
  }

  /// - Returns: Whether it is among those that are kept.
  mutating func offer(_ candidate: Candidate) {
    // LIMIT: of two uses, 2^31 others lie between them at most; else their order is lost.
    let order = Int64(Int32(bitPattern: candidate.lastUse &- origin))
    let entry = Entry(order: candidate.lastUse == 0 ? .min : order, candidate: candidate)
    guard heap.count >= Self.limit else { return heap.insert(entry) }
    guard let youngest = heap.max, entry < youngest else { return }
    heap.replaceMax(with: entry)
  }

  /// Takes out the one that goes first.
  mutating func next() -> Candidate? { heap.popMin()?.candidate }
}
