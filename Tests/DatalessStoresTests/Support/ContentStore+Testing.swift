import DatalessCore
@testable import DatalessStores
import Glibc
import SystemPackage

extension ContentStore {
  /// Fills `bytes` from an offset; an array is easier to compare than a buffer.
  func readBytes(
    _ reference: ContentID, _ bytes: inout [UInt8], _ offset: Int64
  ) throws(FSError) -> Int {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: max(bytes.count, 1), alignment: 16)
    defer { buffer.deallocate() }
    let count = try read(
      reference, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<bytes.count]), at: offset)
    bytes.withUnsafeMutableBytes { $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[..<count])) }
    return count
  }
}

extension ContentWriter {
  func write(_ bytes: [UInt8], at offset: Int64) throws(FSError) {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: max(bytes.count, 1), alignment: 16)
    defer { buffer.deallocate() }
    buffer.copyBytes(from: bytes)
    try write(UnsafeRawBufferPointer(rebasing: buffer[..<bytes.count]), at: offset)
  }
}

extension FilePath {
  /// The names in a directory, `.` and `..` left out.
  func names() throws -> [String] {
    guard let directory = opendir(string) else { throw Errno(rawValue: errno) }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if name != "." && name != ".." { names.append(name) }
    }
    return names
  }
}

extension DiskContentStore {
  convenience init(in session: SessionDirectory) throws(FSError) {
    try self.init(in: session.descriptor, path: session.path, lifetime: .session)
  }

  convenience init(in session: SessionDirectory, slabCapacity: UInt32, places: Int) throws(FSError) {
    try self.init(
      in: session.descriptor, path: session.path, lifetime: .session, slabCapacity: slabCapacity, places: places)
  }
}
