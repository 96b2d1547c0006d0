internal import CDatalessLinux
public import DatalessCore
internal import Glibc
internal import SystemPackage

/// Content that has an id before it is complete, and content that changes. No descriptor is kept for it.
extension DiskContentStore {
  public func makeRanged(size: Int64) throws(FSError) -> ContentID { try makeWriter(size: size).commit() }

  public func makeWritable(size: Int64, copying original: ContentID?) throws(FSError) -> ContentID {
    guard size >= 0 else { throw FSError(.invalidArgument, "a file has no less than 0 bytes") }
    let writer: FileWriter
    do throws(Errno) {
      writer = try makeFileWriter(size: size)
    } catch {
      throw noRoom(error, size)
    }
    do throws(FSError) {
      if let original { try copy(original, to: writer, size: size) }
      return try writer.commit()
    } catch {
      writer.discard()
      throw error
    }
  }

  private func copy(_ original: ContentID, to writer: FileWriter, size: Int64) throws(FSError) {
    let common = min(size, try self.size(of: original))
    if case .file(let number) = ContentLocation(original) {
      do throws(Errno) {
        let handle = try files.handle(number)
        let isCloned = withExtendedLifetime(handle) { common == size && writer.clone(from: handle.descriptor.raw) }
        if isCloned { return }
      } catch {
        throw failure(error, "read")
      }
    }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 4096)
    defer { buffer.deallocate() }
    var position: Int64 = 0
    while position < common {
      let wanted = Int(min(Int64(buffer.count), common - position))
      let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted])
      let count = try read(original, into: part, at: position)
      guard count > 0 else { throw failure(.ioError, "read") }
      try writer.write(UnsafeRawBufferPointer(rebasing: part[..<count]), at: position)
      position += Int64(count)
    }
  }

  public func rangeWriter(_ id: ContentID) throws(FSError) -> any RangeWriter {
    do throws(Errno) {
      return try ContentRangeWriter(self, id)
    } catch {
      throw failure(error, "write")
    }
  }

  public func resize(_ id: ContentID, to size: Int64) throws(FSError) {
    do throws(Errno) {
      guard case .file(let number) = ContentLocation(id), size >= 0 else { throw .invalidArgument }
      guard let record = files.records[number] else { throw .ioError }
      let handle = ContentFiles.Handle(number: number, descriptor: try files.openForWriting(number))
      // Readers see the smaller of the two sizes while it changes.
      if size < record.size { files.records.update(number) { $0.size = size } }
      guard ftruncate(handle.descriptor.raw, off_t(size)) == 0 else {
        let error = Errno(rawValue: errno)
        files.records.update(number) { $0.size = record.size }
        throw error
      }
      files.records.update(number) { $0.size = size }
      countPages(of: handle)
    } catch {
      throw failure(error, "resize")
    }
  }

  public func sync(_ id: ContentID) throws(FSError) {
    do throws(Errno) {
      switch try place(of: id) {
      case .slot(let slab, _, _): try slab.sync(directory.raw)
      case .file(let number, _):
        let handle = try files.handle(number)
        try withExtendedLifetime(handle) { () throws(Errno) in try SystemCall.syncData(handle.descriptor.raw) }
        guard files.records[number]?.isNameSynced == false else { return }
        try SystemCall.sync(directory.raw)
        files.records.update(number) { $0.isNameSynced = true }
      }
    } catch {
      throw failure(error, "flush")
    }
  }

  /// The room that a file takes on the disk has changed.
  func countPages(of file: ContentFiles.Handle) {
    do throws(Errno) {
      let pages = (try FileStatus(of: file.descriptor.raw).blocks + 7) / 8
      guard let before = files.records.update(file.number, { $0.pages = pages }) else { return }
      countAllocated(pages: Int(pages - before.pages))
    } catch {
      // Only a number in `status` is older than it might be.
    }
  }
}
