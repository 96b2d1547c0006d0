public import DatalessCore
internal import Glibc
internal import SystemPackage

/// Content as it is read.
extension DiskContentStore {
  /// Where content lies, and how large it is.
  enum Place {
    case slot(Slab, page: UInt32, size: Int64)
    case file(UInt64, size: Int64)
  }

  /// - Throws: EIO: there is no such content; it was removed, or the id is no store's.
  func place(of id: ContentID) throws(Errno) -> Place {
    switch ContentLocation(id) {
    case .slot(let number, let page, let use):
      if let slab = slabs[number], let size = slab.size(page, use: use) { return .slot(slab, page: page, size: size) }
    case .file(let number):
      if let size = files.records[number]?.size { return .file(number, size: size) }
    case nil: break
    }
    throw .ioError
  }

  public func size(of id: ContentID) throws(FSError) -> Int64 {
    do throws(Errno) {
      switch try place(of: id) {
      case .slot(_, _, let size), .file(_, let size): return size
      }
    } catch {
      // Tables alone are asked: what they do not have is not there.
      throw failure(.noSuchFileOrDirectory, "find")
    }
  }

  public func read(
    _ id: ContentID, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
  ) throws(FSError) -> Int {
    do throws(Errno) {
      switch try place(of: id) {
      case .slot(let slab, let page, let size):
        let start = Int64(page) * ContentLocation.pageSize
        guard let part = Self.part(of: buffer, at: offset, size: size) else { return 0 }
        let count = try SystemCall.read(slab.descriptor.raw, into: part, at: start + offset)
        // Somebody shortened a file in our directory: what is there is not the content.
        if count < part.count { throw .ioError }
        return count
      case .file(let number, let size):
        guard let part = Self.part(of: buffer, at: offset, size: size) else { return 0 }
        let handle = try files.handle(number)
        let count = try withExtendedLifetime(handle) { () throws(Errno) in
          try SystemCall.read(handle.descriptor.raw, into: part, at: offset)
        }
        // The same, but for writable content that was cut off meanwhile.
        if count < part.count, offset + Int64(count) < files.records[number]?.size ?? 0 { throw .ioError }
        return count
      }
    } catch {
      throw failure(error, "read")
    }
  }

  /// What of a buffer the content fills from an offset on; nil for nothing.
  private static func part(
    of buffer: UnsafeMutableRawBufferPointer, at offset: Int64, size: Int64
  ) -> UnsafeMutableRawBufferPointer? {
    guard offset >= 0, offset < size else { return nil }
    return UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(min(Int64(buffer.count), size - offset))])
  }

  public func seek(_ id: ContentID, from offset: Int64, hole: Bool) throws(FSError) -> Int64 {
    do throws(Errno) {
      switch try place(of: id) {
      case .slot(let slab, let page, let size):
        let start = Int64(page) * ContentLocation.pageSize
        return try seek(slab.descriptor.raw, start: start, size: size, from: offset, hole: hole)
      case .file(let number, let size):
        let handle = try files.handle(number)
        return try withExtendedLifetime(handle) { () throws(Errno) in
          try seek(handle.descriptor.raw, start: 0, size: size, from: offset, hole: hole)
        }
      }
    } catch {
      if error == .noSuchAddressOrDevice { throw FSError(error, "no further data") }
      throw failure(error, "look for data in")
    }
  }

  /// lseek(2) moves the shared position of the descriptor, which nobody uses: every read and write names its offset.
  private func seek(
    _ descriptor: CInt, start: Int64, size: Int64, from offset: Int64, hole: Bool
  ) throws(Errno) -> Int64 {
    guard offset >= 0, offset < size else { throw .noSuchAddressOrDevice }
    do throws(Errno) {
      let found = try SystemCall.seek(descriptor, start + offset, hole: hole) - start
      if !hole && found >= size { throw .noSuchAddressOrDevice }
      return min(found, size)
    } catch {
      switch error {
      // Beyond the last data of a slab, or a file system that cannot tell: then all is data.
      case .noSuchAddressOrDevice: if hole { return offset }
      case .invalidArgument, .notSupported: return hole ? size : offset
      default: break
      }
      throw error
    }
  }

  public func openDescriptor(_ id: ContentID) throws(FSError) -> CInt? {
    guard case .file(let number) = ContentLocation(id) else { return nil }
    do throws(Errno) {
      return try files.openForReading(number).release()
    } catch {
      throw failure(error, "open")
    }
  }
}
