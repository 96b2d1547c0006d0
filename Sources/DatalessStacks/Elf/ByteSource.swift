internal import Glibc

/// A file that somebody else wrote, and may be writing still.
public protocol ByteSource: Sendable {
  /// nil unless all `count` bytes are there.
  func bytes(at offset: UInt64, count: UInt64) -> [UInt8]?
}

extension [UInt8]: ByteSource {
  public func bytes(at offset: UInt64, count: UInt64) -> [UInt8]? { part(at: offset, count: count).map { Array($0) } }
}

/// By pread(2), not by a mapping: a file that is cut meanwhile would end the process with SIGBUS.
public struct FileBytes: ByteSource {
  private let descriptor: Int32

  // LIMIT: bytes of one section. The symbols of a debug build of a browser have some 300 MB.
  static let countMax: UInt64 = 512 << 20

  /// - Parameter descriptor: Of a regular file; it stays the caller's.
  public init(descriptor: Int32) { self.descriptor = descriptor }

  /// In bytes, now.
  var size: UInt64? {
    var status = stat()
    return fstat(descriptor, &status) == 0 ? UInt64(exactly: status.st_size) : nil
  }

  public func bytes(at offset: UInt64, count: UInt64) -> [UInt8]? {
    guard count <= Self.countMax, let size,
      // Nothing is allocated for what a header promises and the file has not.
      offset <= size, count <= size - offset, let count = Int(exactly: count), let offset = Int(exactly: offset)
    else { return nil }
    var done = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      while done < count {
        let read = pread(descriptor, buffer.baseAddress.map { $0 + done }, count - done, off_t(offset + done))
        guard read > 0 else { break }
        done += read
      }
      initialized = done
    }
    return done == count ? bytes : nil
  }
}
