/// What came of each file before: whether parts of it are local, and how often it was materialized. A file keeps that
/// when it is renamed, and has nothing of what had its path before.
///
/// Memory: some 20 bytes for each file; nothing where nobody asks how often one came and all come whole.
struct FileHistory: Sendable {
  private struct File {
    var isPartial = false
    /// Only if that is counted.
    var times: Int64 = 0
  }

  private let countsTimes: Bool
  private var directories = RenamedDirectories()
  /// By the key that its path has in `directories`.
  private var files: [UInt64: File] = [:]
  /// What was at a path until something else that SOURCE had renamed took it, in the refresh under way: its own rename
  /// may be told later.
  private var displaced: [[UInt8]: File?] = [:]

  /// - Parameter countsTimes: Whether `times` is asked for.
  init(countsTimes: Bool) { self.countsTimes = countsTimes }

  /// Content has come. - Returns: Whether it is the first of a file since that was dataless.
  mutating func arrived(_ path: [UInt8], isWhole: Bool) -> Bool {
    let key = directories.key(of: path)
    if files[key]?.isPartial == true { return false }
    guard countsTimes || !isWhole else { return true }
    files[key, default: File()].isPartial = !isWhole
    if countsTimes { files[key]?.times += 1 }
    return true
  }

  /// How often the file came, once for each time that it was dataless before.
  func times(_ path: [UInt8]) -> Int64 { files[directories.key(of: path)]?.times ?? 0 }

  mutating func evicted(_ path: [UInt8]) {
    let key = directories.key(of: path)
    files[key]?.isPartial = false
    if !countsTimes { files[key] = nil }
  }

  /// What has the path from now on is another file, or another version, or there is none.
  mutating func left(_ path: [UInt8]) { files[directories.key(of: path)] = nil }

  /// - Parameters:
  ///   - isExchange: Whether what had the new path has the old one from now on.
  ///   - isDirectory: Whether what lies below goes along.
  mutating func renamed(_ old: [UInt8], to new: [UInt8], isExchange: Bool, isDirectory: Bool) {
    guard !files.isEmpty else { return }
    let (from, to) = (directories.key(of: old), directories.key(of: new))
    let (there, here) = (files.removeValue(forKey: from), files.removeValue(forKey: to))
    files[to] = there
    // Without an exchange it went with what had the new path.
    if isExchange { files[from] = here }
    // In an exchange, one may be a directory, and the other none.
    if isDirectory || isExchange { directories.rename(old, to: new, isExchange: isExchange) }
  }

  /// SOURCE has renamed it. The changes of one refresh happened at once: two may have changed names.
  mutating func renamedInSource(_ old: [UInt8], to new: [UInt8], isDirectory: Bool) {
    guard !files.isEmpty || !displaced.isEmpty else { return }
    let (from, to) = (directories.key(of: old), directories.key(of: new))
    let there = displaced.removeValue(forKey: old) ?? files.removeValue(forKey: from)
    displaced[new] = .some(files.removeValue(forKey: to))
    files[to] = there
    if isDirectory { directories.renameInSource(old, to: new) }
  }

  mutating func refreshEnded() {
    displaced = [:]
    directories.refreshEnded()
  }
}
