internal import Synchronization
internal import SystemPackage

/// The slabs of one content store: one is being filled, the full ones before it serve their freed slots.
///
/// Slabs are made as they are needed, one per 16 GiB of small files, and stay until the store goes: their number, and
/// so that of their descriptors, does not depend on the number of files.
final class SlabSet: Sendable {
  private let directory: CInt
  private let capacity: UInt32
  private let isKept: Bool
  /// By number; nil where something lies under the name of a slab that is none.
  private let slabs: Mutex<[Slab?]>

  /// - Parameters:
  ///   - directory: Where the slab files lie; open for as long as this object.
  ///   - isKept: Whether tables are written, so that the slabs can be found again.
  ///   - found: Slabs of an earlier run, by number.
  init(in directory: CInt, capacity: UInt32, isKept: Bool, found: [Slab?] = []) {
    self.directory = directory
    self.capacity = capacity
    self.isKept = isKept
    slabs = Mutex(found)
  }

  /// nil for a number that no slab has.
  subscript(number: UInt16) -> Slab? { slabs.withLock { Int(number) < $0.count ? $0[Int(number)] : nil } }

  var all: [Slab] { slabs.withLock { $0.compactMap { $0 } } }

  /// Takes a slot of `pages` pages in some slab.
  ///
  /// A new slab is created under the lock: three system calls, five in a store that is kept, once per 16 GiB.
  ///
  /// - Throws: ENOSPC, EDQUOT, EMFILE: no further slab can be made.
  func allocate(_ pages: Int) throws(Errno) -> (slab: Slab, page: UInt32) {
    // Newest first: it is the one with room; the older ones have what was freed in them.
    for case let slab? in slabs.withLock({ $0 }).reversed() {
      if let page = slab.allocate(pages) { return (slab, page) }
    }
    let outcome: Result<(Slab, UInt32), Errno> = slabs.withLock { slabs in
      // Another writer may have made one meanwhile.
      if case let slab?? = slabs.last, let page = slab.allocate(pages) { return .success((slab, page)) }
      while slabs.count <= Int(UInt16.max) {
        do throws(Errno) {
          let slab = try Slab(number: UInt16(slabs.count), in: directory, capacity: capacity, isKept: isKept)
          slabs.append(slab)
          guard let page = slab.allocate(pages) else { return .failure(.noSpace) }
          return .success((slab, page))
        } catch {
          // Somebody else's, or the table of a slab that is gone: left alone.
          guard isKept, error == .fileExists else { return .failure(error) }
          slabs.append(nil)
        }
      }
      return .failure(.noSpace)
    }
    let (slab, page) = try outcome.get()
    return (slab, page)
  }
}
