/// Items that are known and are listed again.
extension Namespace {
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
    _ name: NameIndex, _ listed: ItemAttributes, keeps: Bool, isOpen: (NodeIndex) -> Bool
  ) -> Relisted {
    let node = record(of: name).node
    let relation = attributes(of: node).relation(to: listed)
    let known = self[node]
    if keeps, relation == .version || relation == .other, known.kind == .file, listed.kind == .file,
      known.isLocal, known.state == .resident
    {
      let isNew = retainedVersion(of: node).map { !$0.isSameVersion(as: listed) } ?? true
      setRetainedVersion(listed, of: node)
      return .kept(isNew: isNew)
    }
    let twin = sharedNode(for: listed).flatMap { $0 == node ? nil : $0 }
    switch relation {
    case .other: return .other
    case .same, .metadata:
      if let twin, !known.isLocal, !isOpen(node) {
        relink(name, to: twin)
        return .replaced
      }
      setRetainedVersion(nil, of: node)
      adopt(listed, for: node)
      return relation == .same ? .unchanged : .updated
    case .version:
      guard let newer = twin ?? self.node(for: listed) else { return .unchanged }
      relink(name, to: newer)
      return .replaced
    }
  }

  /// A file that kept an older version holds no content any more: its name leads to the newer version now.
  ///
  /// - Returns: The name, for the kernel to look up again; nil when the file had kept nothing.
  mutating func giveUpRetained(_ node: NodeIndex) -> (directory: NodeID, name: [UInt8])? {
    guard let listed = retainedVersion(of: node) else { return nil }
    setRetainedVersion(nil, of: node)
    guard let name = presentName(of: node), record(of: name).isPresent, let newer = self.node(for: listed) else {
      return nil
    }
    relink(name, to: newer)
    return (id(of: record(of: name).directory), Array(text(of: name)))
  }
}
