/// Items that are known and are listed again.
extension Catalog {
  /// What became of a name that was known.
  enum Relisted: Equatable {
    case unchanged
    /// The node took over the new metadata; a file's bytes are the same.
    case updated
    /// The name leads to another node now, of the same item; the old one lives on for those who have it open.
    case replaced
    /// The node stays as it is, although the store has another version.
    case kept(isNew: Bool)
    /// Another item has the name: for the caller to decide which node that is.
    case other
  }

  /// Takes what a listing says of a known name, as far as it is the same item.
  ///
  /// A file's node never changes its bytes, whatever it holds: another version gets another node. So no handle and no mapping
  /// ever sees bytes of two versions, whether or not the kernel has dropped the pages and the size that it knew for the old one:
  /// a notification may still be on its way.
  ///
  /// - Parameter keeps: Whether a resident file stays what it is when the store has another version.
  mutating func relist(
    _ dentry: Int, _ listed: ItemAttributes, keeps: Bool, _ isOpen: (Int) -> Bool
  ) -> Relisted {
    let position = Int(dentries[dentry].node)
    let known = attributes(at: position)
    let relation = known.relation(to: listed)
    let record = inodes[position]
    if keeps, relation == .version || relation == .other, record.kind == .file, listed.kind == .file,
      isBusy(record), record.state == .resident
    {
      let isNew = kept[position].map { !$0.isSameVersion(as: listed) } ?? true
      kept[position] = listed
      return .kept(isNew: isNew)
    }
    let twin = sharedNode(for: listed).flatMap { $0 == position ? nil : $0 }
    let isTaken = isBusy(record) || isOpen(position)
    switch relation {
    case .other: return .other
    case .same, .metadata:
      if let twin, !isTaken {
        relink(dentry, to: twin)
        return .replaced
      }
      kept[position] = nil
      adopt(position, listed, known)
      return relation == .same ? .unchanged : .updated
    case .version:
      guard let node = twin ?? node(for: listed) else { return .unchanged }
      relink(dentry, to: node)
      return .replaced
    }
  }

  /// Takes over metadata of the same bytes.
  mutating func adopt(_ position: Int, _ listed: ItemAttributes, _ known: ItemAttributes) {
    guard known != listed else { return }
    recount(position) { $0.update(listed) }
    noteShared(position, listed)
    changed.append(UInt32(position))
  }

  /// A file that kept an older version holds no content any more: its name leads to the newer version now.
  ///
  /// - Returns: The name, for the kernel to look up again; nil when the file had kept nothing.
  mutating func giveUpKept(_ position: Int) -> (directory: NodeID, name: [UInt8])? {
    let dentry = presentDentry(of: position)
    guard let listed = kept.removeValue(forKey: position), dentry != 0, !dentries[dentry].isGone,
      let node = node(for: listed)
    else { return nil }
    relink(dentry, to: node)
    return (NodeID(rawValue: UInt64(dentries[dentry].parent)), Array(name(of: dentry)))
  }
}
