/// Places where content lies, one for each directory, and what has become of each.
///
/// In the order of their directories, so that those of one directory, and those below it, lie together.
struct SavedPlaces {
  enum Standing {
    case untried
    /// Its directory cannot be listed, or it lies elsewhere by now.
    case missed
    /// It is known by now, or is nowhere.
    case settled
  }

  private struct Entry {
    let path: [UInt8]
    var standing = Standing.untried
  }

  private var entries: [Entry]
  private(set) var untried: Int
  private(set) var missed = 0

  init(_ paths: [[UInt8]]) {
    entries = paths.sorted { left, right in
      let (above, other) = (Self.directory(of: left), Self.directory(of: right))
      if above == other { return left.lexicographicallyPrecedes(right) }
      return above.lexicographicallyPrecedes(other)
    }
    .map { Entry(path: $0) }
    untried = entries.count
  }

  /// Those that are not settled, of an item and what is below it: also one of the directory that it is in, to which
  /// itself may belong.
  ///
  /// - Parameter path: Empty: all.
  func left(of path: [UInt8]) -> [[UInt8]] {
    guard untried + missed > 0 else { return [] }
    guard !path.isEmpty else { return left(entries.indices) }
    let inside = path + [UInt8(ascii: "/")]
    // Comes behind all that begins with the path and a slash.
    let outside = path + [UInt8(ascii: "/") + 1]
    let below = first { !$0.lexicographicallyPrecedes(inside) }
    let behind = first { !$0.lexicographicallyPrecedes(outside) }
    return left(range(of: Self.directory(of: path))) + left(range(of: path[...])) + left(below..<behind)
  }

  mutating func set(_ standing: Standing, of path: [UInt8]) {
    for place in range(of: Self.directory(of: path)) where entries[place].path == path {
      count(entries[place].standing, -1)
      count(standing, 1)
      entries[place].standing = standing
    }
    if untried + missed == 0 { entries = [] }
  }

  private mutating func count(_ standing: Standing, _ change: Int) {
    switch standing {
    case .untried: untried += change
    case .missed: missed += change
    case .settled: break
    }
  }

  private func left(_ range: Range<Int>) -> [[UInt8]] {
    entries[range].compactMap { $0.standing == .settled ? nil : $0.path }
  }

  /// The places in a directory.
  private func range(of directory: ArraySlice<UInt8>) -> Range<Int> {
    first { !$0.lexicographicallyPrecedes(directory) }..<first { directory.lexicographicallyPrecedes($0) }
  }

  /// The first place whose directory is far enough in the order.
  private func first(_ isFarEnough: (ArraySlice<UInt8>) -> Bool) -> Int {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = low + (high - low) / 2
      if isFarEnough(Self.directory(of: entries[middle].path)) { high = middle } else { low = middle + 1 }
    }
    return low
  }

  private static func directory(of path: [UInt8]) -> ArraySlice<UInt8> {
    path.lastIndex(of: UInt8(ascii: "/")).map { path[..<$0] } ?? []
  }
}
