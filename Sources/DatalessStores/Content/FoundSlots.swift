/// What the table of a slab of an earlier run says, believed as far as it is possible.
///
/// The table may be torn, or written by anybody who could write here: slots that reach beyond the slab, or into each
/// other, are refused, all of them, because nothing says whose the bytes are. Their addresses are not used again, nor
/// are those between slots: content that was never finished may lie there.
struct FoundSlots {
  private(set) var allocator: SlabAllocator
  private(set) var table = SlotTable()
  /// Slots with content, and their pages.
  private(set) var live = 0
  private(set) var livePages = 0
  /// The first pages of slots that were refused, and what these take as they say.
  private(set) var refusedPages: [UInt32] = []
  private(set) var refusedRanges: [Range<UInt32>] = []

  /// Slots that were refused.
  var refused: Int { refusedPages.count }

  /// - Parameters:
  ///   - entries: Of the pages from the first on; later ones were never a slot's first.
  ///   - capacity: Pages of the slab.
  init(_ entries: [UInt32], capacity: UInt32) {
    allocator = SlabAllocator(capacity: capacity)
    let count = UInt32(min(entries.count, Int(capacity)))
    func entry(_ page: UInt32) -> SlotTable.Entry { SlotTable.Entry(rawValue: entries[Int(page)]) }
    var page: UInt32 = 0
    while page < count {
      guard entry(page).isSlot else {
        page += 1
        continue
      }
      var end = page + UInt32(entry(page).pages)
      var slots = [page]
      var inner = page + 1
      while inner < min(end, count) {
        if entry(inner).isSlot {
          slots.append(inner)
          end = max(end, inner + UInt32(entry(inner).pages))
        }
        inner += 1
      }
      if slots.count == 1, end <= capacity {
        adopt(page, entry(page))
      } else {
        refusedPages += slots
        refusedRanges.append(page..<min(end, capacity))
      }
      page = end
      allocator.skip(to: end)
    }
  }

  private mutating func adopt(_ page: UInt32, _ entry: SlotTable.Entry) {
    table[page] = entry
    if entry.isLive {
      live += 1
      livePages += entry.pages
    } else if entry.use < SlotTable.useMax {
      allocator.leave(page, entry.pages)
    }
  }
}
