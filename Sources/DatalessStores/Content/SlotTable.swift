/// How large the content of each slot of one slab is, and how often the slot was used: 4 bytes for each page of the
/// slab that is, or was, a slot's first. A pure value.
///
/// The size is here and not in the id because a caller would have to pass it each time if it were in neither, and
/// because a store that finds its slabs again has to learn from them what lies where. 4 bytes a page are 4 to 128 bytes
/// for a *local* small file; files that are known and not local cost nothing.
struct SlotTable {
  /// After so many uses a slot is left alone, so that no id is given twice.
  static let useMax: UInt16 = 0x3fff

  /// Bit 31: holds content. Bits 14...30: its size less 1, also of a slot that is free now. Bits 0...13: uses before
  /// this one. All bits 0: was never a slot's first page.
  struct Entry: Equatable, BitwiseCopyable {
    var rawValue: UInt32 = 0

    init(rawValue: UInt32) { self.rawValue = rawValue }

    /// - Parameter size: 1...131,072.
    init(size: Int64, use: UInt16, isLive: Bool) {
      rawValue = (isLive ? 1 << 31 : 0) | UInt32(truncatingIfNeeded: size - 1) << 14 & 0x7fff_c000 | UInt32(use)
    }

    var isLive: Bool { rawValue >> 31 == 1 }
    var isSlot: Bool { rawValue != 0 }
    var size: Int64 { Int64(rawValue >> 14 & 0x1_ffff) + 1 }
    var use: UInt16 { UInt16(truncatingIfNeeded: rawValue) & useMax }
    var pages: Int { ContentLocation.pages(for: size) }
  }

  /// What stands where a slot was refused: content that is gone, of one page, in a slot that is never used again. So no
  /// id that was given for these pages is given once more.
  static let refusedEntry = Entry(size: 1, use: useMax, isLive: false)

  /// Segments, so that growing copies little.
  private var segments: [[UInt32]] = []
  private static let segmentSize: UInt32 = 1 << 13

  subscript(page: UInt32) -> Entry {
    get {
      let segment = Int(page / Self.segmentSize)
      guard segment < segments.count else { return Entry(rawValue: 0) }
      return Entry(rawValue: segments[segment][Int(page % Self.segmentSize)])
    }
    set {
      let segment = Int(page / Self.segmentSize)
      while segments.count <= segment {
        segments.append([UInt32](repeating: 0, count: Int(Self.segmentSize)))
      }
      segments[segment][Int(page % Self.segmentSize)] = newValue.rawValue
    }
  }

  /// The size of the content that has a slot in a certain use; nil if that content is gone, or never was.
  func size(_ page: UInt32, use: UInt16) -> Int64? {
    let entry = self[page]
    return entry.isLive && entry.use == use ? entry.size : nil
  }

  /// A slot holds content. - Returns: Its entry.
  mutating func commit(_ page: UInt32, size: Int64) -> Entry {
    let entry = Entry(size: size, use: self[page].use, isLive: true)
    self[page] = entry
    return entry
  }

  /// Content goes.
  ///
  /// - Returns: The slot's entry from now on, and whether the slot may be used again; nil if there is no such content.
  mutating func remove(_ page: UInt32, use: UInt16) -> (entry: Entry, isUsable: Bool)? {
    let entry = self[page]
    guard entry.isLive, entry.use == use else { return nil }
    let freed = Entry(size: entry.size, use: min(use + 1, Self.useMax), isLive: false)
    self[page] = freed
    return (freed, freed.use < Self.useMax)
  }
}
