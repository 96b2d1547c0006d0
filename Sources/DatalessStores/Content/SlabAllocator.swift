/// Which slots of one slab are free. A pure value: it knows no file.
///
/// Slots are runs of 1...32 pages. A freed slot is used again for content of the same number of pages, newest first;
/// otherwise a slot is cut from the end. A hole is punched into a freed slot, so that unused room in the slab costs no
/// disk, only addresses, of which there are enough: a full slab is followed by another one.
struct SlabAllocator {
  static let classes = 32

  /// Pages in all.
  let capacity: UInt32
  private var end: UInt32 = 0
  private var free: [[UInt32]] = Array(repeating: [], count: classes + 1)

  init(capacity: UInt32) { self.capacity = capacity }

  /// Takes a slot of `pages` pages, 1...32.
  ///
  /// - Returns: Its first page; nil if the slab is full.
  mutating func take(_ pages: Int) -> UInt32? {
    precondition((1...Self.classes).contains(pages), "a slot has 1 to 32 pages")
    if let page = free[pages].popLast() { return page }
    guard capacity - end >= UInt32(pages) else { return nil }
    defer { end += UInt32(pages) }
    return end
  }

  /// Gives a slot back.
  mutating func give(_ page: UInt32, _ pages: Int) { free[pages].append(page) }
}
