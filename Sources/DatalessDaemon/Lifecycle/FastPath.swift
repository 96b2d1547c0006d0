/// What a volume uses of the kernel when it is there, and can do without. Each can be switched off, to test the fallback or to
/// see what an older kernel would do.
public enum FastPath: String, Sendable, Codable, CaseIterable {
  /// The kernel reads content files itself. Without it the page cache serves resident files.
  case passthrough
  /// Listings come with attributes. Without it each name of a listing costs a lookup of its own.
  case readdirplus
  /// MAP_SHARED works on direct opens. Without it opens of dataless files go through the page cache, and the ranges and the
  /// number of reads in the log are the kernel's.
  case directMapping = "direct-mapping"
  /// All names can be dropped at once. Without it absent names are not cached, and each name of an evicted directory is
  /// dropped by itself.
  case nameEpoch = "name-epoch"
}
