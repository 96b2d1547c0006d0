internal import CDatalessLinux
internal import DatalessCore
internal import Glibc
internal import SystemPackage

/// Writes ranges of content that has a reference already: into its slot of a slab, or into its own file.
final class ContentRangeWriter: RangeWriter {
  private let store: SessionContentStore
  private let reference: ContentReference
  private let size: Int64
  /// Of a file of its own; a slab's descriptor is the slab's.
  private let file: ContentFiles.Handle?

  init(_ store: SessionContentStore, _ reference: ContentReference, size: Int64) throws(Errno) {
    self.store = store
    self.reference = reference
    self.size = size
    if case .file(let number, _) = ContentLocation(reference) {
      file = ContentFiles.Handle(number: number, descriptor: try store.files.openForWriting(number))
    } else {
      file = nil
    }
  }

  func write(_ buffer: UnsafeRawBufferPointer, at offset: Int64) throws(FSError) {
    do throws(Errno) {
      // Beyond the slot lies another file's content.
      guard offset >= 0, Int64(buffer.count) <= size - offset else { throw .invalidArgument }
      switch ContentLocation(reference) {
      case .slot(let slab, let page):
        try SystemCall.write(
          store.slabs[slab].descriptor.raw, buffer, at: Int64(page) * ContentLocation.pageSize + offset)
      case .file:
        guard let descriptor = file?.descriptor.raw else { throw .badFileDescriptor }
        try SystemCall.write(descriptor, buffer, at: offset)
      }
    } catch {
      throw store.failure(error, "write")
    }
  }

  func finish() {
    guard case .file(let number, _) = ContentLocation(reference), let descriptor = file?.descriptor.raw else { return }
    do throws(Errno) {
      store.countRanged(number, pages: (try FileStatus(of: descriptor).blocks + 7) / 8)
    } catch {
      // Only a number in `status` is older than it might be.
    }
  }
}
