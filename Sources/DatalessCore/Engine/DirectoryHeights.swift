/// How many levels of directories lie below each directory in which some were made, or moved to, on the volume. So no
/// path gets longer than can be put together, and walked, under the engine's lock.
///
/// Never fewer than there are; perhaps more, where what was deepest is gone and other directories are left.
struct DirectoryHeights {
  private var heights: [NodeIndex: UInt16] = [:]

  func height(of directory: NodeIndex) -> Int { heights.isEmpty ? 0 : Int(heights[directory] ?? 0) }

  /// There are so many levels below a directory. - Returns: Whether fewer were known: then the directory that it lies
  /// in has more, too.
  mutating func raise(_ directory: NodeIndex, to height: Int) -> Bool {
    guard height > self.height(of: directory) else { return false }
    heights[directory] = UInt16(clamping: height)
    return true
  }

  /// No directory is left in it.
  mutating func clear(_ directory: NodeIndex) { if !heights.isEmpty { heights[directory] = nil } }

  /// Items are given back.
  mutating func forget(_ nodes: [NodeIndex]) { if !heights.isEmpty { for node in nodes { heights[node] = nil } } }
}
