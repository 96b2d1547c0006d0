/// Inode numbers of files that an earlier run has kept, and that the store has no more where they were: it may have
/// them elsewhere by now, or other items of these numbers, and two items with one number are one file to programs.
extension EngineState {
  /// Written files whose names the listing under way has not had, and of which nobody was told since the mount: the
  /// number of any other is known. - Parameter position: As `Namespace.dropVanishedNames`.
  mutating func writtenUnseen(_ directory: NodeIndex, from position: NameCursor) -> [NodeIndex] {
    var found: [NodeIndex] = []
    _ = namespace.visitVanishedNames(of: directory, from: position, limit: Self.vanishedAtATime) { namespace, name in
      let node = namespace.record(of: name).node
      let record = namespace[node]
      // By another name it may have been listed before.
      guard record.kind == .file, record.isDirty, record.lookups == 0, !namespace.isMade(node),
        !namespace.hasSeveralNames(node)
      else { return }
      found.append(node)
    }
    return found
  }

  /// A file that is the volume's own from now on gets a number of the volume's, which it keeps.
  mutating func takeOwnNumber(_ file: NodeIndex) {
    guard !namespace[file].isFree, !namespace[file].isOrphan, !namespace.isBound(file),
      let inode = madeNumbers.take(above: namespace.largestReserved)
    else { return }
    namespace.makeOwn(file, inode: inode)
    costs.add(ChangeCosts.item, to: file, of: namespace[file].uid)
    namespace.tellUnbound(file)
  }
}
