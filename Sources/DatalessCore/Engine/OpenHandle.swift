/// What the kernel is given as the handle of an open file: its number, and in two high bits how its reads are served,
/// so that who serves them need not ask. The handle of a watched open is its number, which the log has. 0 is a
/// directory's.
public enum OpenHandle {
  private static let unwatched: UInt64 = 1 << 62
  private static let passing: UInt64 = 1 << 63

  /// Whether reads through it are watched.
  public static func isWatched(_ handle: UInt64) -> Bool { handle != 0 && handle < unwatched }

  /// Whether the kernel reads the content file itself.
  public static func isPassthrough(_ handle: UInt64) -> Bool { handle & passing != 0 }

  /// The handle of an open that was to be passthrough, and is a cached one after all.
  public static func asCached(_ handle: UInt64) -> UInt64 { handle & ~passing }

  /// What the log calls an open file: 0 if its reads are not watched.
  public static func inLog(_ handle: UInt64) -> UInt64 { isWatched(handle) ? handle : 0 }

  static func cached(_ number: UInt64) -> UInt64 { number | unwatched }
  static func passthrough(_ number: UInt64) -> UInt64 { number | unwatched | passing }
  static func number(_ handle: UInt64) -> UInt64 { handle & ~(unwatched | passing) }
}
