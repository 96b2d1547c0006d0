internal import CDatalessLinux
internal import DatalessCore
internal import Glibc
internal import SystemPackage

/// Writes parts of content that has an id already: into its slot of a slab, or into its own file.
final class ContentRangeWriter: RangeWriter {
  private enum Target {
    case slot(Slab, start: Int64, size: Int64)
    case file(ContentFiles.Handle)
  }

  private let store: DiskContentStore
  private let target: Target

  init(_ store: DiskContentStore, _ id: ContentID) throws(Errno) {
    self.store = store
    switch try store.place(of: id) {
    case .slot(let slab, let page, let size):
      target = .slot(slab, start: Int64(page) * ContentLocation.pageSize, size: size)
    case .file(let number, _):
      target = .file(
        ContentFiles.Handle(number: number, descriptor: try store.files.openForWriting(number), isWritable: true))
    }
  }

  func write(_ buffer: UnsafeRawBufferPointer, at offset: Int64) throws(FSError) {
    do throws(Errno) {
      switch target {
      case .slot(let slab, let start, let size):
        // Beyond the slot lies another file's content.
        guard offset >= 0, Int64(buffer.count) <= size - offset else { throw .invalidArgument }
        try SystemCall.write(slab.descriptor.raw, buffer, at: start + offset)
      case .file(let file):
        // As it is now: writable content may have been resized.
        guard let size = store.files.records[file.number]?.size else { throw .ioError }
        guard offset >= 0, Int64(buffer.count) <= size - offset else { throw .invalidArgument }
        try SystemCall.write(file.descriptor.raw, buffer, at: offset)
      }
    } catch {
      throw store.failure(error, "write")
    }
  }

  func finish() {
    if case .file(let file) = target { store.countPages(of: file) }
  }
}
