/// What came of each file before: whether parts of it are local, and how often it was materialized. A file keeps that
/// when it is renamed, and has nothing of what had its path before.
///
/// Memory: some 30 bytes for each file, and its name; nothing where nobody asks how often one came and all come whole.
struct FileHistory: Sendable {
  private struct File {
    var place: PathStore.Place
    var isPartial = false
    /// Only if that is counted.
    var times: Int64 = 0
  }

  private let countsTimes: Bool
  /// By the hash of the path.
  private var files: [UInt64: File] = [:]
  private var paths = PathStore()
  /// What was at a path, or below, until something else that SOURCE had renamed took it, in the refresh under way: its
  /// own rename may be told later.
  private var displaced: [[UInt8]: [(path: [UInt8], file: File)]] = [:]

  /// - Parameter countsTimes: Whether `times` is asked for.
  init(countsTimes: Bool) { self.countsTimes = countsTimes }

  /// Content has come. - Returns: Whether it is the first of a file since that was dataless.
  mutating func arrived(_ path: [UInt8], isWhole: Bool) -> Bool {
    let hash = PathHash.of(path)
    if files[hash]?.isPartial == true { return false }
    guard countsTimes || !isWhole else { return true }
    files[hash, default: File(place: paths.add(path))].isPartial = !isWhole
    if countsTimes { files[hash]?.times += 1 }
    return true
  }

  /// How often the file came, once for each time that it was dataless before.
  func times(_ path: [UInt8]) -> Int64 { files[PathHash.of(path)]?.times ?? 0 }

  mutating func evicted(_ path: [UInt8]) {
    let hash = PathHash.of(path)
    files[hash]?.isPartial = false
    if !countsTimes { files[hash] = nil }
  }

  /// What has the path from now on is another file, or another version, or there is none.
  mutating func left(_ path: [UInt8]) { files[PathHash.of(path)] = nil }

  /// - Parameters:
  ///   - isExchange: Whether what had the new path has the old one from now on.
  ///   - isDirectory: Whether what lies below goes along.
  mutating func renamed(_ old: [UInt8], to new: [UInt8], isExchange: Bool, isDirectory: Bool) {
    guard !files.isEmpty else { return }
    guard isDirectory || isExchange else {
      let file = files.removeValue(forKey: PathHash.of(old))
      files[PathHash.of(new)] = file.map { moved($0, to: new) }
      return
    }
    let there = take(at: old)
    let here = take(at: new)
    put(there, from: old, to: new)
    // Without an exchange it went with what had the new path.
    if isExchange { put(here, from: new, to: old) }
  }

  /// SOURCE has renamed it. The changes of one refresh happened at once: two may have changed names.
  mutating func renamedInSource(_ old: [UInt8], to new: [UInt8], isDirectory: Bool) {
    guard !files.isEmpty || !displaced.isEmpty else { return }
    let there = displaced.removeValue(forKey: old) ?? take(at: old, isDirectory: isDirectory)
    let gone = take(at: new, isDirectory: isDirectory)
    displaced[new] = gone
    put(there, from: old, to: new)
  }

  mutating func refreshEnded() { displaced = [:] }

  private mutating func moved(_ file: File, to path: [UInt8]) -> File {
    var file = file
    file.place = paths.add(path)
    return file
  }

  /// Takes out what is at a path, or, of a directory, below.
  private mutating func take(at top: [UInt8], isDirectory: Bool = true) -> [(path: [UInt8], file: File)] {
    guard isDirectory else { return files.removeValue(forKey: PathHash.of(top)).map { [(top, $0)] } ?? [] }
    var taken: [(path: [UInt8], file: File)] = []
    let below = top + [PathBytes.slash]
    for (hash, file) in files {
      let path = paths.path(file.place)
      guard path == top || path.starts(with: below) else { continue }
      taken.append((path, file))
      files[hash] = nil
    }
    return taken
  }

  private mutating func put(_ taken: [(path: [UInt8], file: File)], from old: [UInt8], to new: [UInt8]) {
    for (path, file) in taken {
      let place = new + path.dropFirst(old.count)
      files[PathHash.of(place)] = moved(file, to: place)
    }
  }
}
