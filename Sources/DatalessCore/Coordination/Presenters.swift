/// Who presents which names, and is told when others use them: a name itself, what is below it, and the directories in
/// which it lies.
public struct Presenters: Sendable {
  private var paths: [UInt64: [UInt8]] = [:]
  private var at: [[UInt8]: Set<UInt64>] = [:]
  /// Of each directory, those whose names lie below it.
  private var below: [[UInt8]: Set<UInt64>] = [:]

  public init() {}

  public var isEmpty: Bool { paths.isEmpty }
  public var count: Int { paths.count }

  public func path(of presenter: UInt64) -> [UInt8]? { paths[presenter] }

  /// - Parameter path: From the volume's root, without `.`, `..` or an empty component.
  public mutating func add(_ presenter: UInt64, path: [UInt8]) {
    remove(presenter)
    paths[presenter] = path
    at[path, default: []].insert(presenter)
    for directory in Self.directories(of: path) { below[directory, default: []].insert(presenter) }
  }

  public mutating func remove(_ presenter: UInt64) {
    guard let path = paths.removeValue(forKey: presenter) else { return }
    Self.take(presenter, from: &at, path)
    for directory in Self.directories(of: path) { Self.take(presenter, from: &below, directory) }
  }

  private static func take(_ presenter: UInt64, from table: inout [[UInt8]: Set<UInt64>], _ key: [UInt8]) {
    table[key]?.remove(presenter)
    if table[key]?.isEmpty ?? false { table[key] = nil }
  }

  /// Those who present a name, something below it, or a directory in which it lies.
  public func concerned(by path: [UInt8]) -> Set<UInt64> {
    guard !paths.isEmpty else { return [] }
    var found = at[path, default: []].union(below[path, default: []])
    for directory in Self.directories(of: path) {
      if let presenters = at[directory] { found.formUnion(presenters) }
    }
    return found
  }

  /// Whether a name concerns anybody; finds out without making sets.
  public func isConcerned(by path: [UInt8]) -> Bool {
    guard !paths.isEmpty else { return false }
    return at[path] != nil || below[path] != nil || Self.directories(of: path).contains { at[$0] != nil }
  }

  /// Those concerned by several names, each with the place of the first name that concerns it.
  public func concerned(by claims: [AccessClaim]) -> [UInt64: Int] {
    var found: [UInt64: Int] = [:]
    guard !paths.isEmpty else { return found }
    for (index, claim) in claims.enumerated() {
      for presenter in concerned(by: claim.path) where found[presenter] == nil { found[presenter] = index }
      if found.count == paths.count { break }
    }
    return found
  }

  /// What had a name has another one: it is presented under that.
  ///
  /// - Parameter renames: Those that have happened together with this one, and were told before it.
  /// - Returns: Whose name has changed.
  public mutating func rename(_ from: [UInt8], to: [UInt8], with renames: inout JoinedRenames) -> [UInt64] {
    let moved = at[from, default: []].union(below[from, default: []]).filter { !renames.hasCome($0, to: from) }.sorted()
    for presenter in moved {
      guard let path = paths[presenter] else { continue }
      add(presenter, path: to + path.dropFirst(from.count))
      renames.note(presenter, from: from, to: to)
    }
    return moved
  }

  /// As above, of one that has happened alone.
  public mutating func rename(_ from: [UInt8], to: [UInt8]) -> [UInt64] {
    var alone = JoinedRenames()
    return rename(from, to: to, with: &alone)
  }

  /// The directories in which a name lies, the root first.
  private static func directories(of path: [UInt8]) -> [[UInt8]] {
    guard !path.isEmpty else { return [] }
    return [[]] + path.indices.filter { path[$0] == UInt8(ascii: "/") }.map { Array(path[..<$0]) }
  }
}
