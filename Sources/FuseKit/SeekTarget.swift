/// What an LSEEK request looks for; other kinds of lseek(2) are the kernel's own business.
public enum SeekTarget: Sendable, Hashable {
  /// C: `SEEK_DATA`.
  case data
  /// C: `SEEK_HOLE`.
  case hole
}
