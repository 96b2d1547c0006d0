internal import DatalessCore

/// What a content reference of the session store says: which layout, and where in it.
///
/// Bit 63 set: a file of its own; bits 32...62 the 4 KiB blocks it had on disk when it was committed, bits 0...31 its
/// number. Bit 63 clear, bit 62 set: a slot in a slab; bits 32...47 the slab's number, bits 0...31 the slot's first
/// page. So 0 is no content's reference.
enum ContentLocation: Hashable {
  /// Content up to this size lies in a slab.
  static let slabLimit: Int64 = 128 << 10
  static let pageSize: Int64 = 4096

  case file(number: UInt32, pages: UInt32)
  case slot(slab: UInt16, page: UInt32)

  init(_ reference: ContentReference) {
    let low = UInt32(truncatingIfNeeded: reference.rawValue)
    let high = UInt32(truncatingIfNeeded: reference.rawValue >> 32)
    if reference.rawValue >> 63 == 1 {
      self = .file(number: low, pages: high & 0x7fff_ffff)
    } else {
      self = .slot(slab: UInt16(truncatingIfNeeded: high), page: low)
    }
  }

  var reference: ContentReference {
    switch self {
    case .file(let number, let pages):
      ContentReference(rawValue: 1 << 63 | UInt64(pages & 0x7fff_ffff) << 32 | UInt64(number))
    case .slot(let slab, let page):
      ContentReference(rawValue: 1 << 62 | UInt64(slab) << 32 | UInt64(page))
    }
  }

  /// Pages that content of `size` bytes takes in a slab, 1...32.
  static func pages(for size: Int64) -> Int { Int((size + pageSize - 1) / pageSize) }
}
