internal import CDatalessLinux
public import DatalessCore
internal import Glibc
internal import SystemPackage

/// Content that has an id before it is complete, and content that changes. No descriptor is kept for it.
extension DiskContentStore {
  public func makeRanged(size: Int64) throws(FSError) -> ContentID { try makeWriter(size: size).commit() }

  public func makeFixed(_ bytes: UnsafeRawBufferPointer) throws(FSError) -> ContentID? {
    guard !bytes.isEmpty, bytes.count <= ContentLocation.slabLimit else { return nil }
    let writer = try makeWriter(size: Int64(bytes.count))
    do throws(FSError) {
      try writer.write(bytes, at: 0)
      return try writer.commit()
    } catch {
      writer.discard()
      throw error
    }
  }

  public func makeWritable(size: Int64, copying original: ContentID?) throws(FSError) -> ContentID {
    guard size >= 0 else { throw FSError(.invalidArgument, "a file has no less than 0 bytes") }
    if size == 0 { return try makeEmpty() }
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

  /// Nothing is written to it before it has its name, so it has it from the beginning: each file that a program makes
  /// would cost a rename(2) and more otherwise.
  private func makeEmpty() throws(FSError) -> ContentID {
    do throws(Errno) {
      let number = takeNumber()
      try files.make(number)
      files.records.add(number, FileRecords.Record(size: 0, pages: 0))
      return ContentLocation.file(number).id
    } catch {
      throw noRoom(error, 0)
    }
  }

  private func copy(_ original: ContentID, to writer: FileWriter, size: Int64) throws(FSError) {
    guard let there = try? self.size(of: original) else { throw failure(.ioError, "read") }
    let common = min(size, there)
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

  @discardableResult
  public func resize(_ id: ContentID, to size: Int64) throws(FSError) -> ContentExtent {
    do throws(Errno) {
      guard case .file(let number) = ContentLocation(id), size >= 0 else { throw .invalidArgument }
      guard let record = files.records[number] else { throw .ioError }
      let handle = try files.writableHandle(number)
      // Readers see the smaller of the two sizes while it changes.
      if size < record.size { files.records.update(number) { $0.size = size } }
      guard ftruncate(handle.descriptor.raw, off_t(size)) == 0 else {
        let error = Errno(rawValue: errno)
        files.records.update(number) { $0.size = record.size }
        throw error
      }
      files.records.update(number) { record in
        record.size = size
        if size == 0 { record.hasLostBytes = false }
      }
      return ContentExtent(size: size, blocks: countPages(of: handle) ?? record.pages * 8)
    } catch {
      throw failure(error, "resize")
    }
  }

  public func write(
    _ id: ContentID, _ bytes: UnsafeRawBufferPointer, at offset: Int64
  ) throws(FSError) -> (count: Int, extent: ContentExtent) {
    do throws(Errno) {
      let handle = try writable(id)
      guard offset >= 0 else { throw .invalidArgument }
      guard offset <= Int64.max - Int64(bytes.count) else { throw .fileTooLarge }
      let count = try SystemCall.writeSome(handle.descriptor.raw, bytes, at: offset)
      return (count, noteExtent(try FileStatus(of: handle.descriptor.raw), of: handle.number))
    } catch {
      throw failure(error, "write")
    }
  }

  public func allocate(_ id: ContentID, _ kind: AllocationKind, range: Range<Int64>) throws(FSError) {
    do throws(Errno) {
      let handle = try writable(id)
      guard range.lowerBound >= 0, !range.isEmpty else { throw .invalidArgument }
      let length = range.upperBound - range.lowerBound
      var result = 0
      repeat {
        result = clinux_fallocate(handle.descriptor.raw, kind.flags, range.lowerBound, length)
      } while result == -Int(EINTR)
      _ = try SystemCall.check(result)
      _ = noteExtent(try FileStatus(of: handle.descriptor.raw), of: handle.number)
    } catch {
      throw failure(error, "make room in")
    }
  }

  public func extent(of id: ContentID) throws(FSError) -> ContentExtent {
    do throws(Errno) {
      guard case .file(let number) = ContentLocation(id) else { throw .invalidArgument }
      let handle = try files.handle(number)
      return try withExtendedLifetime(handle) { () throws(Errno) in
        noteExtent(try FileStatus(of: handle.descriptor.raw), of: number)
      }
    } catch {
      throw failure(error, "look at")
    }
  }

  private func writable(_ id: ContentID) throws(Errno) -> ContentFiles.Handle {
    guard case .file(let number) = ContentLocation(id) else { throw .invalidArgument }
    guard files.records[number] != nil else { throw .ioError }
    return try files.writableHandle(number)
  }

  /// Takes over what a file takes now. Beside other writers it only grows: who looked first may come last.
  func noteExtent(_ status: FileStatus, of number: UInt64) -> ContentExtent {
    let pages = (status.blocks + 7) / 8
    let before = files.records.update(number) { record in
      record.size = max(record.size, status.size)
      record.pages = pages
    }
    if let before, before.pages != pages { countAllocated(pages: Int(pages - before.pages)) }
    return ContentExtent(size: status.size, blocks: status.blocks)
  }

  /// Has contents on the disk; what was removed is left out.
  ///
  /// - Parameter goesOn: Asked before each file.
  /// - Returns: Whether all are there.
  /// - Throws: EIO, ENOSPC, EDQUOT.
  public func sync(_ ids: some Sequence<ContentID>, while goesOn: () -> Bool) throws(FSError) -> Bool {
    var slabs: Set<ObjectIdentifier> = []
    for id in ids {
      guard goesOn() else { return false }
      guard let place = try? place(of: id) else { continue }
      // One file has the content of many.
      if case .slot(let slab, _, _) = place, !slabs.insert(ObjectIdentifier(slab)).inserted { continue }
      do throws(FSError) {
        try sync(id)
      } catch {
        if (try? self.place(of: id)) != nil { throw error }
      }
    }
    return true
  }

  /// - Throws: EIO, ENOSPC, EDQUOT; and EIO at each later call, as long as the content is not emptied: the kernel tells
  ///   an error once, to whoever asks first, and has forgotten the bytes then.
  public func sync(_ id: ContentID) throws(FSError) { try sync(id, by: SystemCall.syncData) }

  /// - Parameter flush: For tests: fdatasync(2).
  func sync(_ id: ContentID, by flush: (CInt) throws(Errno) -> Void) throws(FSError) {
    do throws(Errno) {
      switch try place(of: id) {
      case .slot(let slab, _, _): try slab.sync(directory.raw)
      case .file(let number, _):
        let handle = try files.handle(number)
        do throws(Errno) {
          try withExtendedLifetime(handle) { () throws(Errno) in try flush(handle.descriptor.raw) }
        } catch {
          files.records.update(number) { $0.hasLostBytes = true }
          throw error
        }
        if files.records[number]?.hasLostBytes == true { throw .ioError }
        guard files.records[number]?.isNameSynced == false else { return }
        try SystemCall.sync(directory.raw)
        files.records.update(number) { $0.isNameSynced = true }
      }
    } catch {
      throw failure(error, "flush")
    }
  }

  /// The room that a file takes on the disk has changed.
  /// - Returns: Blocks of 512 bytes; nil if the disk does not say: then numbers are older than they might be.
  @discardableResult
  func countPages(of file: ContentFiles.Handle) -> Int64? {
    guard let blocks = try? FileStatus(of: file.descriptor.raw).blocks else { return nil }
    let pages = (blocks + 7) / 8
    if let before = files.records.update(file.number, { $0.pages = pages }) {
      countAllocated(pages: Int(pages - before.pages))
    }
    return blocks
  }
}
