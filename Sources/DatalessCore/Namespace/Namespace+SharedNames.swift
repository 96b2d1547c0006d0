/// Names of written files in a directory that the store has no more, where it has the files elsewhere, too.
extension Namespace {
  /// LIMIT: names that are looked at below one directory. With more of them it may stay, and be empty.
  private static var sharedBelowMax: Int { 1024 }

  /// Takes away the names below a directory of written files that the store has, and callers find, outside of it: as
  /// when the store removes each of these names by itself. The directory need not be kept for their sake.
  ///
  /// - Parameter name: The directory's, which the last listing did not see.
  /// - Returns: Names, for the kernel to forget.
  mutating func leaveShared(below name: NameIndex) -> [NameIndex] {
    let top = record(of: name).node
    guard self[top].kind == .directory, keeps(top), presentNames(of: top) == [name] else { return [] }
    var found: [NameIndex] = []
    var directories = [top]
    var left = Self.sharedBelowMax
    while let directory = directories.popLast() {
      var name = self[directory].firstChild
      while name != .end, left > 0 {
        left -= 1
        let record = record(of: name)
        if record.isPresent, keeps(record.node) {
          if self[record.node].kind == .directory {
            directories.append(record.node)
          } else if record.isInStore, isNamed(record.node, outside: top) {
            found.append(name)
          }
        }
        name = record.nextSibling
      }
    }
    for name in found { setStanding(.gone, of: name) }
    return found
  }

  /// Whether the store has a file under a name outside of a directory, by which callers find it.
  private func isNamed(_ node: NodeIndex, outside directory: NodeIndex) -> Bool {
    var name = self[node].firstName
    for _ in 0..<Self.sharedNamesMax where name != .end {
      if record(of: name).isInStore, stays(name, outside: directory) { return true }
      name = record(of: name).nextOfNode
    }
    return false
  }

  /// Whether a name, and all directories in which it lies, were in the last listings, or were made here.
  private func stays(_ name: NameIndex, outside excluded: NodeIndex) -> Bool {
    var name = name
    for _ in 0..<Self.depthMax {
      let record = record(of: name)
      let directory = self[record.directory]
      guard record.isPresent, record.directory != excluded,
        record.isLocal || record.epoch == directory.listingEpoch || directory.state != .resident
      else { return false }
      if record.directory == .root { return true }
      guard let above = presentName(of: record.directory) else { return false }
      name = above
    }
    return false
  }
}
