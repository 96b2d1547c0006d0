/// How the kernel shall treat one open file or directory. C: `FOPEN_*`.
public struct OpenOptions: OptionSet, Sendable, Hashable {
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Every read(2) and write(2) becomes one request with the caller's offset and length; no readahead for this open.
  public static let directIO = OpenOptions(rawValue: 1 << 0)
  /// Leave pages of earlier opens in the cache. Without it open(2) drops them, and waits for a page that a parked READ
  /// holds: set it on every open of a file, direct ones too, and invalidate by notification instead.
  public static let keepCache = OpenOptions(rawValue: 1 << 1)
  /// lseek(2) fails with ESPIPE.
  public static let nonSeekable = OpenOptions(rawValue: 1 << 2)
  /// Directories: cache the listing. Survives the open only together with `keepCache`.
  public static let cacheDirectory = OpenOptions(rawValue: 1 << 3)
  /// close(2) sends no FLUSH.
  public static let noFlush = OpenOptions(rawValue: 1 << 5)
  /// Direct writes inside the file's size need no exclusive inode lock.
  public static let parallelDirectWrites = OpenOptions(rawValue: 1 << 6)
}
