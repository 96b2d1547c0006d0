/// Under which path what is below a directory is kept, whatever the directory is called by now: when it is renamed,
/// nothing that is below it has to move.
///
/// Memory: nothing until a directory is renamed; then some 200 bytes for each name that one has, or had.
struct RenamedDirectories: Sendable {
  private struct Entry {
    /// What the directory is called.
    var path: [UInt8]
    /// What is below it is kept below this.
    var origin: [UInt8]
  }

  /// A directory without its name: where what is below it is kept, and the same of directories below it.
  private struct Tree {
    var origin: [UInt8]
    var below: [(name: [UInt8], origin: [UInt8])]
  }

  /// By the hash of what a directory is called. One that is not here is kept below the name that it has.
  private var entries: [UInt64: Entry] = [:]
  /// How many of them are below a directory, by the hash of what that is called.
  private var below: [UInt64: Int] = [:]
  /// What was called so until another one that SOURCE had renamed took the name, in the refresh under way: its own
  /// rename may be told later.
  private var displaced: [[UInt8]: Tree] = [:]
  /// What directories were called that another one has taken the name of, by their origin.
  private var lost: [[UInt8]: [UInt8]] = [:]
  /// Names that were left: what is made under them later is kept elsewhere than what was there before.
  private var vacated: UInt64 = 0
  private let keepsNames: Bool

  /// - Parameter keepsNames: Whether `names` is asked for. Default: no.
  init(keepsNames: Bool = false) { self.keepsNames = keepsNames }

  // MARK: - Where things are kept

  /// The path under which an item is kept. - Parameter path: What it is called.
  func place(of path: [UInt8]) -> [UInt8] {
    guard !entries.isEmpty else { return path }
    var nearest: (hash: UInt64, end: Int)?
    PathHash.ofEachDirectory(on: path) { hash, end in if entries[hash] != nil { nearest = (hash, end) } }
    guard let nearest, let entry = entries[nearest.hash] else { return path }
    return entry.origin + path[nearest.end...]
  }

  /// The hash of that path.
  func key(of path: [UInt8]) -> UInt64 { PathHash.of(place(of: path)) }

  /// What the directories are called, or were at last, below which something is kept under another name, by the path
  /// that it is kept below; and whether they were replaced since.
  var names: [[UInt8]: (path: [UInt8], isLost: Bool)] {
    var names = lost.mapValues { (path: $0, isLost: true) }
    for entry in entries.values { names[entry.origin] = (path: entry.path, isLost: false) }
    return names
  }

  // MARK: - Changes

  /// - Parameter isExchange: Whether what had the new name has the old one from now on.
  mutating func rename(_ old: [UInt8], to new: [UInt8], isExchange: Bool) {
    guard old != new else { return }
    let (moved, other) = (take(old), take(new))
    put(moved, at: new)
    guard isExchange else {
      lose(other, new)
      return vacate(old)
    }
    put(other, at: old)
  }

  /// SOURCE has renamed it. The changes of one refresh happened at once: two may have changed names.
  mutating func renameInSource(_ old: [UInt8], to new: [UInt8]) {
    guard old != new else { return }
    let known = displaced.removeValue(forKey: old)
    let moved = known ?? take(old)
    if known == nil { vacate(old) }
    displaced[new] = take(new)
    put(moved, at: new)
  }

  mutating func refreshEnded() {
    for (path, tree) in displaced { lose(tree, path) }
    displaced = [:]
  }

  private func origin(of directory: [UInt8]) -> [UInt8] {
    entries[PathHash.of(directory)]?.origin ?? place(of: directory)
  }

  private mutating func take(_ directory: [UInt8]) -> Tree {
    var tree = Tree(origin: origin(of: directory), below: [])
    remove(directory)
    guard below[PathHash.of(directory)] != nil else { return tree }
    let start = directory + [PathBytes.slash]
    for entry in entries.values where entry.path.starts(with: start) {
      tree.below.append((name: Array(entry.path.dropFirst(directory.count)), origin: entry.origin))
      remove(entry.path)
    }
    return tree
  }

  private mutating func put(_ tree: Tree, at directory: [UInt8]) {
    set(tree.origin, of: directory)
    // Where one is kept by itself depends on those above it.
    for (name, origin) in tree.below.sorted(by: { $0.name.count < $1.name.count }) { set(origin, of: directory + name) }
  }

  private mutating func set(_ origin: [UInt8], of directory: [UInt8]) {
    remove(directory)
    guard place(of: directory) != origin else { return }
    entries[PathHash.of(directory)] = Entry(path: directory, origin: origin)
    PathHash.ofEachDirectory(on: directory) { hash, _ in below[hash, default: 0] += 1 }
  }

  private mutating func remove(_ directory: [UInt8]) {
    guard entries.removeValue(forKey: PathHash.of(directory)) != nil else { return }
    PathHash.ofEachDirectory(on: directory) { hash, _ in
      if let count = below[hash] { below[hash] = count > 1 ? count - 1 : nil }
    }
  }

  private mutating func lose(_ tree: Tree, _ directory: [UInt8]) {
    guard keepsNames else { return }
    lost[tree.origin] = directory
    for (name, origin) in tree.below { lost[origin] = directory + name }
  }

  private mutating func vacate(_ directory: [UInt8]) {
    vacated += 1
    // No path has a NUL in it.
    set([0] + Array("\(vacated)".utf8), of: directory)
  }
}
