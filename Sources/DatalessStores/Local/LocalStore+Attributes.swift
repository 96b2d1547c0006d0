internal import CDatalessLinux
public import DatalessCore
internal import Glibc
internal import SystemPackage

extension LocalStore {
  /// XATTR_SIZE_MAX and XATTR_LIST_MAX: no value and no list of names is longer.
  private static var longestAttribute: Int { 65536 }
  /// Enough for nearly all of them: fits on the stack.
  private static var usualAttribute: Int { 1024 }

  public func readLink(_ link: StoreBinding) throws(FSError) -> [UInt8] {
    guard link.version.kind == .symlink else {
      throw FSError(.invalidArgument, "'\(link.displayPath)' is not a symbolic link")
    }
    guard let handle = try pin(link) else { throw failure(.improperLink, link) }
    // The kernel offers no O_NOATIME for this: only a read-only mount spares the link's access time.
    if protection != .readOnlyClone { countUnprotectedOpen() }
    do throws(Errno) {
      // The size is what SOURCE says of it, which may be anything: PATH_MAX and more where that is not enough.
      var capacity = min(max(256, Int(clamping: link.version.size)), 1 << 16) + 1
      while true {
        let target = try Self.bytes(usually: capacity, upTo: capacity) { buffer, size in
          clinux_readlinkat(handle.raw, "", buffer.assumingMemoryBound(to: CChar.self), size)
        }
        // A full buffer may hide a longer target.
        if target.count < capacity || capacity > 1 << 20 { return target }
        capacity *= 2
      }
    } catch {
      throw failure(error, link)
    }
  }

  public func extendedAttribute(_ name: [UInt8], of item: StoreBinding) throws(FSError) -> [UInt8] {
    guard let handle = try pin(item) else {
      throw FSError(.noData, "'\(item.displayPath)' is a mount point and shown empty")
    }
    do throws(Errno) {
      return try SystemCall.withPath(name[...]) { (name) throws(Errno) in
        // An O_PATH descriptor opens nothing, and its name in /proc stands for the item itself, symbolic links
        // included: so the attributes of a FIFO, a device or a link are read without opening or following it.
        let path = Self.procPath(of: handle.raw)
        return try Self.bytes(usually: Self.usualAttribute, upTo: Self.longestAttribute) { buffer, size in
          clinux_getxattr(path, name, buffer, size)
        }
      }
    } catch {
      // No attribute of that name is the usual answer; a message would be built for nothing.
      throw error == .noData ? FSError(error, "no such extended attribute") : attributeFailure(error, item)
    }
  }

  public func extendedAttributeNames(of item: StoreBinding) throws(FSError) -> [[UInt8]] {
    guard let handle = try pin(item) else { return [] }
    do throws(Errno) {
      let path = Self.procPath(of: handle.raw)
      let names = try Self.bytes(usually: Self.usualAttribute, upTo: Self.longestAttribute) { buffer, size in
        clinux_listxattr(path, buffer.assumingMemoryBound(to: CChar.self), size)
      }
      return names.split(separator: 0).map { Array($0) }
    } catch {
      // A file system without extended attributes has none to show.
      if error == .notSupported { return [] }
      throw attributeFailure(error, item)
    }
  }

  /// ENOENT of a /proc name means that /proc is not there, not that the item is gone: its descriptor is open.
  private func attributeFailure(_ error: Errno, _ item: StoreBinding) -> FSError {
    if error == .noSuchFileOrDirectory {
      return FSError(.ioError, "cannot read extended attributes of '\(item.displayPath)': /proc is not mounted")
    }
    return FSError(error, "cannot read extended attributes of '\(item.displayPath)' in SOURCE")
  }

  /// What `fill` writes into a small buffer, or into a large one if it answers ERANGE.
  private static func bytes(
    usually small: Int, upTo large: Int, _ fill: (UnsafeMutableRawPointer, Int) -> Int
  ) throws(Errno) -> [UInt8] {
    var result = 0
    let usual: [UInt8]? = withUnsafeTemporaryAllocation(byteCount: small, alignment: 16) { buffer in
      result = fill(buffer.baseAddress!, small)
      return result < 0 ? nil : [UInt8](buffer[..<result])
    }
    if let usual { return usual }
    guard result == -Int(ERANGE), large > small else { throw Errno(rawValue: CInt(-result)) }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: large, alignment: 16)
    defer { buffer.deallocate() }
    return [UInt8](buffer[..<(try SystemCall.check(fill(buffer.baseAddress!, large)))])
  }
}
