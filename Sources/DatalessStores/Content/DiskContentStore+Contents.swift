public import DatalessCore
internal import Glibc

/// What is there, for whoever keeps a list of it.
///
/// Who takes over a store compares, before anything is made in it: content that the list does not have is removed, ids
/// that the store does not have are dropped. After a power loss the store may have forgotten an id, which it would give
/// again.
extension DiskContentStore {
  /// Forgets slots that were refused when the store was taken over (`ContentAdoption.refusedSlots`): nobody knows whose
  /// bytes are in them.
  public func dropRefusedSlots() { for slab in slabs.all { slab.dropRefused() } }

  /// Removes what is left of slabs that cannot be read (`ContentAdoption.halfSlabs`). Nobody names anything in them any
  /// more: their places are given anew.
  public func removeHalfSlabs() {
    for number in adoption.halfSlabs {
      unlinkat(directory.raw, Slab.name(number), 0)
      unlinkat(directory.raw, Slab.tableName(number), 0)
    }
  }

  /// Calls with each content and its size, in no order. Content that comes or goes meanwhile may be left out.
  public func forEachContent(_ body: (ContentID, Int64) -> Void) {
    for slab in slabs.all {
      slab.forEach { page, use, size in
        body(ContentLocation.slot(slab: slab.number, page: page, use: use).id, size)
      }
    }
    files.records.forEach { number, size in body(ContentLocation.file(number).id, size) }
  }
}
