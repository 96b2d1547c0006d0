internal import CDatalessLinux
internal import SystemPackage

/// Reads a directory by getdents64(2) with a buffer large enough that 15,000 names are a few calls.
///
/// readdir(3) reads 32 KiB at a time and needs a DIR per directory; this needs one buffer per listing.
enum DirectoryReader {
  /// d_type values of getdents64(2), which are those of `ItemKind`.
  static let unknownType: UInt8 = 0
  static let directoryType: UInt8 = 4

  private static let bufferSize = 256 << 10
  /// offsetof(struct linux_dirent64, d_name).
  private static let nameOffset = 19

  /// One name in the reader's buffer: valid only during the call it is passed to.
  struct Entry {
    let name: UnsafePointer<CChar>
    let nameLength: Int
    let inode: UInt64
    let type: UInt8

    var nameBuffer: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: name, count: nameLength) }

    var nameBytes: [UInt8] {
      [UInt8](UnsafeRawBufferPointer(start: name, count: nameLength))
    }
  }

  /// Calls `body` for each name but `.` and `..`, from the descriptor's position to the end.
  ///
  /// - Throws: What getdents64(2) says (as `Failure.system`), or what `body` throws (as `Failure.body`).
  static func forEach<BodyError: Error>(
    _ directory: CInt, _ body: (Entry) throws(BodyError) -> Void
  ) throws(Failure<BodyError>) {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bufferSize, alignment: 8)
    defer { buffer.deallocate() }
    while true {
      let filled: Int
      do throws(Errno) {
        filled = try SystemCall.check(clinux_getdents64(directory, buffer.baseAddress!, buffer.count))
      } catch {
        throw .system(error)
      }
      if filled == 0 { return }
      var position = 0
      while position < filled {
        let record = UnsafeRawPointer(buffer.baseAddress! + position)
        position += Int(record.loadUnaligned(fromByteOffset: 16, as: UInt16.self))
        let name = (record + nameOffset).assumingMemoryBound(to: CChar.self)
        if isDotOrDotDot(name) { continue }
        let entry = Entry(
          name: name, nameLength: length(of: name), inode: record.loadUnaligned(as: UInt64.self),
          type: record.load(fromByteOffset: 18, as: UInt8.self))
        do throws(BodyError) { try body(entry) } catch { throw .body(error) }
      }
    }
  }

  /// Why a reading ended early.
  enum Failure<BodyError: Error>: Error {
    case system(Errno)
    case body(BodyError)
  }

  private static func isDotOrDotDot(_ name: UnsafePointer<CChar>) -> Bool {
    let dot = CChar(UInt8(ascii: "."))
    guard name[0] == dot else { return false }
    return name[1] == 0 || (name[1] == dot && name[2] == 0)
  }

  private static func length(of name: UnsafePointer<CChar>) -> Int {
    var length = 0
    while name[length] != 0 { length += 1 }
    return length
  }
}
