internal import DatalessCore

/// What a content id of the disk store says: which layout, and where in it. How large the content is, the store's
/// tables know.
///
/// The two highest bits are 10 for a file of its own, whose number the others are; 01 for a slot in a slab: bits
/// 48...61 how often the slot was used before, bits 32...47 the slab's number, bits 0...31 the slot's first page. So 0
/// is no content's id, and the id of content that was removed is never that of the content that has its place now.
enum ContentLocation: Hashable {
  /// Fetched content up to this size lies in a slab.
  static let slabLimit: Int64 = 128 << 10
  static let pageSize: Int64 = 4096
  /// The largest number of a file, which is never reached.
  static let numberMax: UInt64 = 1 << 62 - 1

  case file(UInt64)
  case slot(slab: UInt16, page: UInt32, use: UInt16)

  /// nil for an id that no store gives.
  init?(_ id: ContentID) {
    switch id.rawValue >> 62 {
    case 2: self = .file(id.rawValue & Self.numberMax)
    case 1:
      self = .slot(
        slab: UInt16(truncatingIfNeeded: id.rawValue >> 32), page: UInt32(truncatingIfNeeded: id.rawValue),
        use: UInt16(truncatingIfNeeded: id.rawValue >> 48) & SlotTable.useMax)
    default: return nil
    }
  }

  var id: ContentID {
    switch self {
    case .file(let number): ContentID(rawValue: 2 << 62 | number & Self.numberMax)
    case .slot(let slab, let page, let use):
      ContentID(rawValue: 1 << 62 | UInt64(use & SlotTable.useMax) << 48 | UInt64(slab) << 32 | UInt64(page))
    }
  }

  /// Pages that content of `size` bytes takes in a slab, 1...32.
  static func pages(for size: Int64) -> Int { Int((size + pageSize - 1) / pageSize) }
}
