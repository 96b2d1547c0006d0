internal import Glibc
internal import SystemPackage

/// Whether SQLite has to leave out the end of a WAL.
///
/// It takes frames up to the first whose sum is wrong, and says nothing of the rest. A process that is killed leaves
/// none of those: whole frames, of which the last transaction is not ended. A loss of power may, of changes that nobody
/// was told of. So may a disk that has changed a bit, of changes that were on it. Nothing tells the two apart.
enum WALEnd {
  static let headerBytes = 32
  private static let frameHeaderBytes = 24

  /// - Returns: Whether there is a frame, of the present use of the WAL, whose sum is wrong. False without a WAL.
  static func isTorn(_ files: StateFiles) throws(Errno) -> Bool {
    let file: OwnedFile
    do throws(Errno) {
      file = OwnedFile(try files.open(StateName.catalog + "-wal", O_RDONLY))
    } catch {
      if error == .noSuchFileOrDirectory { return false }
      throw error
    }
    var header = [UInt8](repeating: 0, count: headerBytes)
    let count = try read(file, &header, at: 0)
    // A first frame was never written to the end.
    guard count == headerBytes else { return false }
    guard let start = Header(header) else { return true }
    var sum = start.sum
    var frame = [UInt8](repeating: 0, count: frameHeaderBytes + start.pageSize)
    var offset = Int64(headerBytes)
    while try read(file, &frame, at: offset) == frame.count {
      // Of an earlier use: the WAL is written from its beginning again and again.
      guard word(frame, 8) == start.salts.0, word(frame, 12) == start.salts.1 else {
        return try isFollowed(file, start, after: offset)
      }
      sum.add(frame[..<8])
      sum.add(frame[frameHeaderBytes...])
      guard sum.first == word(frame, 16), sum.second == word(frame, 20) else { return true }
      offset += Int64(frame.count)
    }
    return false
  }

  /// Whether a frame of the present use lies behind one that says it is of another: then that one was changed.
  private static func isFollowed(_ file: OwnedFile, _ start: Header, after offset: Int64) throws(Errno) -> Bool {
    let step = Int64(frameHeaderBytes + start.pageSize)
    var frame = [UInt8](repeating: 0, count: frameHeaderBytes)
    var offset = offset
    var isFirst = true
    while try read(file, &frame, at: offset) == frame.count {
      let (left, right) = (word(frame, 8) == start.salts.0, word(frame, 12) == start.salts.1)
      // One of the two is random, and new for each use.
      if left && right || isFirst && (right || left) { return true }
      isFirst = false
      offset += step
    }
    return false
  }

  private static func read(_ file: OwnedFile, _ buffer: inout [UInt8], at offset: Int64) throws(Errno) -> Int {
    let count = pread(file.raw, &buffer, buffer.count, off_t(offset))
    guard count >= 0 else { throw Errno(rawValue: errno) }
    return count
  }

  private static func word(_ bytes: [UInt8], _ offset: Int) -> UInt32 {
    bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// The beginning of a WAL: https://www.sqlite.org/fileformat2.html#walformat
  private struct Header {
    let pageSize: Int
    let salts: (UInt32, UInt32)
    /// Over the header; those of frames go on from it.
    let sum: Sum

    /// nil for one that SQLite does not take.
    init?(_ bytes: [UInt8]) {
      let magic = word(bytes, 0)
      guard magic & ~1 == 0x377f_0682 else { return nil }
      var sum = Sum(isBigEndian: magic & 1 == 1)
      sum.add(bytes[..<24])
      let size = word(bytes, 8)
      guard sum.first == word(bytes, 24), sum.second == word(bytes, 28), word(bytes, 4) == 3_007_000,
        size >= 512, size <= 65536, size & (size - 1) == 0
      else { return nil }
      pageSize = Int(size)
      salts = (word(bytes, 16), word(bytes, 20))
      self.sum = sum
    }
  }

  private struct Sum {
    let isBigEndian: Bool
    var first: UInt32 = 0
    var second: UInt32 = 0

    init(isBigEndian: Bool) { self.isBigEndian = isBigEndian }

    /// - Parameter bytes: A multiple of 8.
    mutating func add(_ bytes: ArraySlice<UInt8>) {
      bytes.withUnsafeBytes { buffer in
        for offset in stride(from: 0, to: buffer.count - 7, by: 8) {
          let left = buffer.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
          let right = buffer.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
          first &+= (isBigEndian ? left.bigEndian : left.littleEndian) &+ second
          second &+= (isBigEndian ? right.bigEndian : right.littleEndian) &+ first
        }
      }
    }
  }
}
