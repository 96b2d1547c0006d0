public import DatalessCore
internal import Synchronization
internal import SystemPackage

/// Content that comes in ranges: a reference from the start, so that no descriptor is kept for a file that is partly
/// there.
extension SessionContentStore {
  public func makeRanged(size: Int64) throws(FSError) -> ContentReference {
    let reference = try makeWriter(size: size).commit()
    if case .file(let number, let pages) = ContentLocation(reference) {
      rangedPages.withLock { $0[number] = Int64(pages) }
    }
    return reference
  }

  public func rangeWriter(_ reference: ContentReference, size: Int64) throws(FSError) -> any RangeWriter {
    do throws(Errno) {
      return try ContentRangeWriter(self, reference, size: size)
    } catch {
      throw failure(error, "write")
    }
  }

  /// A file's own size on disk has changed.
  func countRanged(_ number: UInt32, pages: Int64) {
    let change = rangedPages.withLock { counted in
      guard let before = counted[number] else { return Int64(0) }
      counted[number] = pages
      return pages - before
    }
    countAllocated(pages: Int(change))
  }
}
