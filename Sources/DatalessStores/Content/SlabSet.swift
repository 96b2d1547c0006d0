internal import Synchronization
internal import SystemPackage

/// The slabs of one content store: one is being filled, the full ones before it serve their freed slots.
///
/// Slabs are made as they are needed, one per 16 GiB of small files, and stay until the store goes: their number, and
/// so that of their descriptors, does not depend on the number of files.
final class SlabSet: Sendable {
  private let directory: CInt
  private let capacity: UInt32
  private let slabs = Mutex<[Slab]>([])

  /// - Parameter directory: Where the slab files lie; open for as long as this object.
  init(in directory: CInt, capacity: UInt32 = Slab.defaultCapacity) {
    self.directory = directory
    self.capacity = capacity
  }

  /// The slab of a number that was handed out by `allocate`.
  subscript(number: UInt16) -> Slab { slabs.withLock { $0[Int(number)] } }

  /// Takes a slot of `pages` pages in some slab.
  ///
  /// A new slab is created under the lock: three system calls, once per 16 GiB.
  ///
  /// - Throws: ENOSPC, EDQUOT, EMFILE: no further slab can be made.
  func allocate(_ pages: Int) throws(Errno) -> (slab: Slab, page: UInt32) {
    let outcome: Result<(Slab, UInt32), Errno> = slabs.withLock { slabs in
      // Newest first: it is the one with room; the older ones have what was freed in them.
      for slab in slabs.reversed() {
        if let page = slab.allocate(pages) { return .success((slab, page)) }
      }
      guard slabs.count <= Int(UInt16.max) else { return .failure(.noSpace) }
      do throws(Errno) {
        let slab = try Slab(number: UInt16(slabs.count), in: directory, capacity: capacity)
        slabs.append(slab)
        guard let page = slab.allocate(pages) else { return .failure(.noSpace) }
        return .success((slab, page))
      } catch {
        return .failure(error)
      }
    }
    let (slab, page) = try outcome.get()
    return (slab, page)
  }
}
