extension Event {
  /// LIMIT: of handles that are open, no more are told of before they are closed.
  public static let handlesToldMax = 4_096

  /// What one process read through a handle, or all of them together.
  public struct HandleReads: Sendable, Equatable {
    /// Ranges beyond this number are not told one by one.
    public static let rangesMax = 32

    /// Reads that reached the volume, and the sum of their bytes.
    public var reads: Int
    public var bytesRead: Int64
    /// Bytes read at least once.
    public var coveredBytes: Int64
    /// 1: `coveredBytes` is exact. Else each range that was read counts in whole units of so many bytes: it is an upper
    /// bound.
    public var coveredUnit: Int64
    /// Of these, what came by whole pages with read-ahead, as for a mapping, exec or sendfile(2): the most that was
    /// used.
    public var mappedBytes: Int64
    /// End of the furthest read.
    public var highWaterMark: Int64
    /// Which bytes, in order, where `coveredBytes` and `highWaterMark` do not say it (all from the beginning); nil for
    /// that, and for more than `rangesMax`.
    public var ranges: [Range<Int64>]?

    public init(
      reads: Int, bytesRead: Int64, coveredBytes: Int64, coveredUnit: Int64 = 1, mappedBytes: Int64 = 0,
      highWaterMark: Int64, ranges: [Range<Int64>]? = nil
    ) {
      self.reads = reads
      self.bytesRead = bytesRead
      self.coveredBytes = coveredBytes
      self.coveredUnit = coveredUnit
      self.mappedBytes = mappedBytes
      self.highWaterMark = highWaterMark
      self.ranges = ranges
    }
  }

  /// The end of a handle whose reads were watched: on a file that was dataless when it was opened, or with `observe:
  /// reads`.
  public struct HandleClosed: Sendable {
    /// One of the processes that read.
    public struct Reader: Sendable, Equatable {
      public var process: ProcessID
      public var reads: HandleReads

      public init(process: ProcessID, reads: HandleReads) {
        self.process = process
        self.reads = reads
      }
    }

    public var path: [UInt8]
    /// All known names of a file that has several, `path` among them; else empty.
    public var names: [[UInt8]]
    public var inode: UInt64
    public var handle: UInt64
    /// Who opened it.
    public var process: ProcessID
    public var size: Int64
    /// Of all readers together.
    public var reads: HandleReads
    /// Who read, where that is not the opener alone; empty otherwise, and when nobody did.
    public var readers: [Reader]
    /// Whether the kernel had pages of the file in its cache that this handle could use without our seeing it.
    public var isCachedBefore: Bool
    /// Whether a read through this handle started or joined a materialization.
    public var triggered: Bool
    /// Whether no name leads to the file any more: its name has another version of it, or another item, or has gone.
    public var isSuperseded: Bool
    /// How the kernel read through it.
    public var io: ReadMode
    public var time: MonotonicTime

    public init(
      path: [UInt8], names: [[UInt8]] = [], inode: UInt64, handle: UInt64, process: ProcessID, size: Int64,
      reads: HandleReads, readers: [Reader] = [], isCachedBefore: Bool = false, triggered: Bool,
      isSuperseded: Bool = false, io: ReadMode, time: MonotonicTime
    ) {
      self.path = path
      self.names = names
      self.inode = inode
      self.handle = handle
      self.process = process
      self.size = size
      self.reads = reads
      self.readers = readers
      self.isCachedBefore = isCachedBefore
      self.triggered = triggered
      self.isSuperseded = isSuperseded
      self.io = io
      self.time = time
    }
  }

  /// The first open of a file, after handles of it were watched, whose reads the kernel serves alone.
  public struct HandleUnseen: Sendable {
    public var path: [UInt8]
    public var inode: UInt64
    public var process: ProcessID
    public var size: Int64
    /// Whether the kernel reads the content file itself; else its page cache serves the reads.
    public var isPassthrough: Bool
    public var time: MonotonicTime

    public init(
      path: [UInt8], inode: UInt64, process: ProcessID, size: Int64, isPassthrough: Bool, time: MonotonicTime
    ) {
      self.path = path
      self.inode = inode
      self.process = process
      self.size = size
      self.isPassthrough = isPassthrough
      self.time = time
    }
  }
}
