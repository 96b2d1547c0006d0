import DatalessCore

/// Lookups that had to wait for the listing of their directory, found something, and were followed by nothing: nobody
/// opened, listed, passed through or changed what was found; and listings of which nothing was opened.
///
/// It is told of each record of the log. Memory: a path and an `Asker` for each lookup that nothing has followed yet.
struct UnfollowedLookups<Asker: Sendable>: Sendable {
  /// What was looked up by one name.
  struct Lookup: Sendable {
    let path: [UInt8]
    let isDirectory: Bool
    /// Who asked first.
    let asker: Asker
    /// How often it was asked for, and how long that took altogether.
    fileprivate(set) var count: Int64 = 1
    fileprivate(set) var blocked: Int64
    /// Whether it may have been followed by what leaves no record.
    fileprivate(set) var isDoubtful: Bool
    fileprivate let epoch: Int
    fileprivate let number: Int
  }

  /// LIMIT: lookups that are kept. What comes beyond is unknown.
  private static var lookupsMax: Int { 100_000 }
  private static var listingsMax: Int { 1_000_000 }

  /// By the hash of the path.
  private var lookups: [UInt64: Lookup] = [:]
  /// How long was waited for each directory's listing.
  private var listings: [UInt64: Int64] = [:]
  private var asked = 0
  /// Grows when a directory gets another name: what is below it has other paths then.
  private var epoch = 0
  /// Lookups of which the log cannot tell whether anything followed them: of symbolic links, of empty files, of what
  /// has no content, and where it does not say what was found.
  private(set) var untold: Int64 = 0

  /// A lookup was answered that had to wait.
  ///
  /// - Parameters:
  ///   - json: Of its `wait.finished`.
  ///   - directory: In which the name was looked up; nil when the log does not tell.
  mutating func lookedUp(
    _ json: JSONObject, in directory: [UInt8]?, blocked: Int64, _ asker: (_ path: [UInt8]) -> Asker
  ) {
    guard let directory, let name = json.name("name", "name_b64"), let found = json.string("found") else {
      untold += 1
      return
    }
    // That it is not there is an answer that was needed.
    if found == "absent" { return }
    guard found == "file" || found == "directory", lookups.count < Self.lookupsMax else {
      untold += 1
      return
    }
    let path = directory.isEmpty ? name : directory + [PathBytes.slash] + name
    let hash = PathHash.of(path)
    if let known = lookups.index(forKey: hash) {
      lookups.values[known].count += 1
      lookups.values[known].blocked = lookups.values[known].blocked.plus(max(0, blocked))
      return
    }
    asked += 1
    lookups[hash] = Lookup(
      path: path, isDirectory: found == "directory", asker: asker(path), blocked: max(0, blocked), isDoubtful: false,
      epoch: epoch, number: asked)
  }

  /// A listing has come that was waited for.
  mutating func listed(_ directory: [UInt8], blocked: Int64) {
    let hash = PathHash.of(directory)
    guard listings.count < Self.listingsMax || listings[hash] != nil else { return }
    listings[hash] = (listings[hash] ?? 0).plus(max(0, blocked))
  }

  /// Takes note of what shows that something is used.
  ///
  /// - Parameter path: Of the item of the record's attempt.
  mutating func note(_ record: LogRecord, path attempted: [UInt8]?) {
    guard !lookups.isEmpty || !listings.isEmpty else { return }
    let json = record.json
    switch record.type {
    case .handleClosed, .handleOpen, .handleUnseen, .itemCreated, .itemRemoved, .itemChanged, .itemWritten:
      followed(json)
    case .materializationStarted, .materializationRefused:
      guard record.isTriggeredByCommand else { return followed(json) }
      // Whoever goes through a directory that is listed leaves no record.
      json.path.map { doubt($0) }
    case .waitStarted:
      if let attempted, !record.isTriggeredByCommand { followed(attempted) }
    case .accessStarted: accessed(json)
    case .itemRenamed:
      followed(json)
      json.name("old_path", "old_path_b64").map { followed($0) }
      if json.string("kind") == "directory" { epoch += 1 }
    case .sourceChanged:
      guard json.string("change") == "renamed" else { return }
      json.name("old_path", "old_path_b64").map { doubt($0) }
      if json.string("kind") == "directory" { epoch += 1 }
    default: break
    }
  }

  /// A call that was merely delayed. Looking at something again is no use of it.
  private mutating func accessed(_ json: JSONObject) {
    guard let path = json.path else { return }
    switch json.string("operation") {
    case "getattr": break
    case "lookup": path.lastIndex(of: PathBytes.slash).map { followed(Array(path[..<$0])) }
    default: followed(path)
    }
  }

  private mutating func followed(_ json: JSONObject) {
    json.path.map { followed($0) }
    for name in json.names { followed(name) }
    // A link is made of it.
    json.name("linked_from", "linked_from_b64").map { followed($0) }
  }

  /// Something is used, and so are all directories on the way to it.
  private mutating func followed(_ path: [UInt8]) {
    PathHash.ofEach(on: path) { hash, isWhole in
      lookups[hash] = nil
      if !isWhole { listings[hash] = nil }
    }
  }

  private mutating func doubt(_ path: [UInt8]) {
    guard let place = lookups.index(forKey: PathHash.of(path)) else { return }
    lookups.values[place].isDoubtful = true
  }

  /// What nothing has followed so far, in the order in which it was asked for. Of a directory nobody knows: chdir(2)
  /// looks it up and asks whether it may, as stat(2) and access(2) do, and opens nothing.
  ///
  /// - Parameter opensAreTold: Whether every open of a file is in the log.
  func left(opensAreTold: Bool) -> [Lookup] {
    lookups.values.map { lookup in
      var lookup = lookup
      if lookup.epoch != epoch || lookup.isDirectory || !opensAreTold { lookup.isDoubtful = true }
      return lookup
    }.sorted { $0.number < $1.number }
  }

  /// Of what nothing has followed so far, lookups of directories.
  var directoriesLeft: Int64 { lookups.values.reduce(0) { $1.isDirectory ? $0.plus($1.count) : $0 } }

  /// Listings of which nothing was opened so far, and how long they were waited for.
  var listingsLeft: (count: Int64, blocked: Int64) {
    (Int64(listings.count), listings.values.reduce(0) { $0.plus($1) })
  }
}
