/// Which slots of one slab are free. A pure value: it knows no file.
///
/// Slots are runs of 1...32 pages. A freed slot is used again for content of the same number of pages, newest first;
/// otherwise a slot is cut from the end. A hole is punched into a freed slot, so that unused room in the slab costs no
/// disk, only addresses, of which there are enough: a full slab is followed by another one.
struct SlabAllocator {
  static let classes = 32

  /// Pages in all.
  let capacity: UInt32
  /// Behind the last slot.
  private(set) var end: UInt32 = 0
  private var freeSlots: [[UInt32]] = Array(repeating: [], count: classes + 1)
  /// Free slots that may hold something: an earlier run has left them.
  private var leftSlots: [[UInt32]] = Array(repeating: [], count: classes + 1)

  init(capacity: UInt32) { self.capacity = capacity }

  /// Takes a slot of `pages` pages, 1...32.
  ///
  /// - Returns: Its first page, and whether it reads as zeros; nil if the slab is full.
  mutating func allocate(_ pages: Int) -> (page: UInt32, isEmpty: Bool)? {
    precondition((1...Self.classes).contains(pages), "a slot has 1 to 32 pages")
    if let page = freeSlots[pages].popLast() { return (page, true) }
    if let page = leftSlots[pages].popLast() { return (page, false) }
    guard capacity - end >= UInt32(pages) else { return nil }
    defer { end += UInt32(pages) }
    return (end, true)
  }

  /// Gives a slot back.
  mutating func free(_ page: UInt32, _ pages: Int) { freeSlots[pages].append(page) }

  /// A slab of an earlier run goes on at `page`, which is at most the capacity: pages before it are not cut again.
  mutating func skip(to page: UInt32) { end = max(end, min(page, capacity)) }

  /// A free slot of an earlier run, which lies before the end. - Parameter pages: 1...32.
  mutating func leave(_ page: UInt32, _ pages: Int) { leftSlots[pages].append(page) }
}
