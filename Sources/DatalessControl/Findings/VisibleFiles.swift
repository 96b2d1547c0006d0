import DatalessCore

/// Since when programs could know the names of files: which directories were listed, and when.
///
/// Only a listing that somebody had to wait for is in the log. Memory: some 30 bytes for each directory that was
/// listed.
struct VisibleFiles: Sendable {
  /// The first listing of a directory that somebody waited for.
  struct Listing: Sendable, Equatable {
    /// CLOCK_MONOTONIC, nanoseconds: when it had come.
    var time: Int64
    /// Who had asked for it; nil when the log does not tell.
    var process: UInt32?
  }

  /// LIMIT: names that came after the listing of their directory. Beyond, nothing is known of any.
  private static let namesMax = 100_000

  /// By the hash of the directory's path.
  private var listings: [UInt64: Listing] = [:]
  /// Names that came later, and when.
  private var later: [UInt64: Int64] = [:]
  private var isFull = false

  mutating func listed(_ directory: [UInt8], by process: UInt32?, at time: Int64) {
    let hash = PathHash.of(directory)
    if listings[hash] == nil { listings[hash] = Listing(time: time, process: process) }
  }

  /// Takes note of what changes names.
  mutating func note(_ record: LogRecord) {
    let json = record.json
    let isNew: Bool
    switch record.type {
    case .itemRenamed: isNew = true
    case .sourceChanged:
      let change = json.string("change")
      isNew = change == "added" || change == "renamed" || (change == "gone" && json.string("kind") == "directory")
    default: return
    }
    guard isNew, let path = json.path else { return }
    guard json.string("kind") != "directory" else {
      // What is below it has other paths now, or is something else.
      listings = [:]
      return
    }
    guard later.count < Self.namesMax else {
      isFull = true
      return
    }
    later[PathHash.of(path)] = record.monotonicNanoseconds ?? .max
    guard json.bool("exchange") == true, let old = json.name("old_path", "old_path_b64") else { return }
    later[PathHash.of(old)] = record.monotonicNanoseconds ?? .max
  }

  /// The listing that had a file's name first; nil where the log has none.
  func listing(with path: [UInt8]) -> Listing? {
    guard !isFull, !listings.isEmpty else { return nil }
    let parent = path.lastIndex(of: PathBytes.slash).map { path[..<$0] } ?? []
    guard let listing = listings[PathHash.of(parent)] else { return nil }
    if let time = later[PathHash.of(path)], time >= listing.time { return nil }
    return listing
  }
}
