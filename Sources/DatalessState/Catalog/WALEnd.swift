internal import Glibc
internal import SystemPackage

/// Where a WAL ends, and whether SQLite has to leave out what lies there.
///
/// It takes frames up to the first whose sum is wrong, and says nothing of the rest. A process that is killed leaves
/// none of those: whole frames, of which the last transaction is not ended, and perhaps the header of one more, which
/// SQLite writes before its page. A loss of power may leave frames with wrong sums, and any part of the last one, of
/// changes that nobody was told of. So may a disk that has changed a bit, or somebody who has cut the file, of changes
/// that were on it. Nothing in the WAL tells these apart. It may also be cut so that it looks as after a kill: that
/// frames are missing then is known by `LogMark`.
struct WALEnd {
  static let headerBytes = 32
  fileprivate static let frameHeaderBytes = 24

  /// Whether there is a frame, of the present use of the WAL, whose sum is wrong, or of whose page a part is missing.
  /// False without a WAL.
  private(set) var isTorn = false
  /// What is committed; nil without a WAL.
  private(set) var committed: LogPosition?

  init(_ files: StateFiles) throws(Errno) {
    do throws(Errno) {
      let file = OwnedFile(try files.open(StateName.catalog + "-wal", O_RDONLY))
      var scan = WALScan(file)
      switch try scan.goOn() {
      case .whole: break
      case .torn: isTorn = true
      case .otherUse(let use, let step, let offset):
        isTorn = try Self.isFollowed(file, by: use, step: step, after: offset)
      }
      committed = scan.committed
    } catch {
      guard error == .noSuchFileOrDirectory else { throw error }
    }
  }

  /// Whether a frame of the present use lies behind one that says it is of another: then that one was changed.
  private static func isFollowed(
    _ file: OwnedFile, by use: UInt64, step: Int64, after offset: Int64
  ) throws(Errno) -> Bool {
    var frame = [UInt8](repeating: 0, count: frameHeaderBytes)
    var offset = offset
    var isFirst = true
    while try WALScan.read(file, &frame, at: offset) == frame.count {
      let other = WALScan.use(of: frame) ^ use
      let (left, right) = (other >> 32 == 0, UInt32(truncatingIfNeeded: other) == 0)
      // One of the two is random, and new for each use.
      if left && right || isFirst && (right || left) { return true }
      isFirst = false
      offset += step
    }
    return false
  }
}

/// How much is committed to a WAL.
struct LogPosition: Equatable {
  /// Both salts: new ones each time that the WAL is written from its beginning.
  let use: UInt64
  /// Up to the last one that ends a transaction.
  let frames: UInt64
}

/// Reads a WAL from its beginning, and later on from where the last transaction that it has met ends.
struct WALScan {
  /// Why it has stopped.
  enum Stop {
    /// Behind a whole frame, or one of which no more than its header is there.
    case whole
    case torn
    /// At a frame of an earlier use, or one that says so: the WAL is written from its beginning again and again.
    case otherUse(than: UInt64, step: Int64, at: Int64)
  }

  private let file: OwnedFile
  private(set) var committed: LogPosition?
  /// Behind the last transaction.
  private var sum = Sum(isBigEndian: false)
  private var offset = Int64(WALEnd.headerBytes)

  init(_ file: OwnedFile) { self.file = file }

  mutating func goOn() throws(Errno) -> Stop {
    var header = [UInt8](repeating: 0, count: WALEnd.headerBytes)
    let isThere = try Self.read(file, &header, at: 0) == header.count
    guard isThere, let start = Header(header) else {
      committed = nil
      // Without a header a first frame was never written to the end.
      return isThere ? .torn : .whole
    }
    if committed?.use != start.use {
      committed = LogPosition(use: start.use, frames: 0)
      (sum, offset) = (start.sum, Int64(WALEnd.headerBytes))
    }
    var (sum, offset, frames) = (self.sum, self.offset, committed?.frames ?? 0)
    var frame = [UInt8](repeating: 0, count: WALEnd.frameHeaderBytes + start.pageSize)
    while true {
      let count = try Self.read(file, &frame, at: offset)
      if count <= WALEnd.frameHeaderBytes { return .whole }
      guard Self.use(of: frame) == start.use else {
        return .otherUse(than: start.use, step: Int64(frame.count), at: offset)
      }
      guard count == frame.count else { return .torn }
      sum.add(frame[..<8])
      sum.add(frame[WALEnd.frameHeaderBytes...])
      guard sum.first == Self.word(frame, 16), sum.second == Self.word(frame, 20) else { return .torn }
      offset += Int64(frame.count)
      frames += 1
      // How many pages the database has after it: of those alone that end a transaction.
      guard Self.word(frame, 4) != 0 else { continue }
      (self.sum, self.offset) = (sum, offset)
      committed = LogPosition(use: start.use, frames: frames)
    }
  }

  fileprivate static func use(of frame: [UInt8]) -> UInt64 { UInt64(word(frame, 8)) << 32 | UInt64(word(frame, 12)) }

  fileprivate static func read(_ file: OwnedFile, _ buffer: inout [UInt8], at offset: Int64) throws(Errno) -> Int {
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
    let use: UInt64
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
      use = UInt64(word(bytes, 16)) << 32 | UInt64(word(bytes, 20))
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
