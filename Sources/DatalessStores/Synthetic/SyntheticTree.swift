internal import DatalessCore

/// The shape of a synthetic tree, in closed form: which directory holds which, and which files, without any table.
///
/// About 100 files lie in each leaf directory. With L leaves and D levels, each directory holds `fanOut` =
/// ceil(L^(1/D)) others, the last ones fewer. Level 0 is the root, level `depth` the leaves; a directory is named by
/// (level, position).
///
/// Inode numbers: the root is 1, directories follow level by level from 2, files from 2^40.
struct SyntheticTree: Sendable {
  static let filesPerLeaf = 100
  static let firstFileInode: UInt64 = 1 << 40

  let files: Int
  let depth: Int
  let leaves: Int
  let fanOut: Int
  /// Directories of each level, 0...depth.
  let widths: [Int]
  /// The inode number of each level's first directory.
  let firstInodes: [UInt64]

  enum Node: Hashable {
    case directory(level: Int, position: Int)
    case file(Int)
  }

  init(files: Int, depth: Int) {
    self.files = files
    self.depth = depth
    leaves = depth == 0 ? 1 : (files + Self.filesPerLeaf - 1) / Self.filesPerLeaf
    var fanOut = 1
    while !Self.power(fanOut, depth, reaches: leaves) { fanOut += 1 }
    self.fanOut = fanOut
    var widths = [leaves]
    for _ in 0..<depth { widths.append((widths.last! + fanOut - 1) / fanOut) }
    self.widths = widths.reversed()
    var firstInodes: [UInt64] = []
    var next: UInt64 = 1
    for width in self.widths {
      firstInodes.append(next)
      next += UInt64(width)
    }
    self.firstInodes = firstInodes
  }

  /// Directories below the root.
  var directories: Int { widths.dropFirst().reduce(0, +) }

  func inode(of node: Node) -> UInt64 {
    switch node {
    case .directory(let level, let position): firstInodes[level] + UInt64(position)
    case .file(let index): Self.firstFileInode + UInt64(index)
    }
  }

  /// The inverse of `inode(of:)`; nil for a number that no item has.
  func node(of inode: UInt64) -> Node? {
    if inode >= Self.firstFileInode {
      let index = inode - Self.firstFileInode
      return index < UInt64(files) ? .file(Int(index)) : nil
    }
    for level in 0...depth {
      guard inode >= firstInodes[level] else { return nil }
      let position = inode - firstInodes[level]
      if position < UInt64(widths[level]) { return .directory(level: level, position: Int(position)) }
    }
    return nil
  }

  /// Positions in the next level of the directories in one directory.
  func subdirectories(level: Int, position: Int) -> Range<Int> {
    guard level < depth else { return 0..<0 }
    let start = position * fanOut
    return start..<min(start + fanOut, widths[level + 1])
  }

  /// Indexes of the files in one leaf directory; spread so that leaves differ by at most one file.
  func files(ofLeaf position: Int) -> Range<Int> {
    files * position / leaves..<files * (position + 1) / leaves
  }

  private static func power(_ base: Int, _ exponent: Int, reaches target: Int) -> Bool {
    var value = 1
    for _ in 0..<exponent where value < target { value *= base }
    return value >= target
  }
}
