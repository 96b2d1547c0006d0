/// Files that the store has under several names, of which a refresh has met one before the others.
extension EngineState {
  /// The node of another name of a listed file, before what is listed of this one is merged.
  func twin(_ listed: ListedItem) -> NodeIndex? {
    listed.attributes.mayHaveSeveralNames ? namespace.sharedNode(for: listed) : nil
  }

  /// A name that came when nothing was known of the other ones has made an item of its own of the file. Now that both
  /// are known to be one, it leads to the one that was here before; unless somebody uses the other one, or something of
  /// it is here.
  mutating func join(
    _ twin: NodeIndex?, to node: NodeIndex, use: Namespace.ItemUse, findings: inout RefreshFindings
  ) {
    guard let twin, twin != node, namespace[node].kind == .file, !namespace[twin].isOrphan, isBare(twin, use) else {
      return
    }
    let listed = namespace.listed(of: node)
    guard listed.version.isSame(as: namespace.listed(of: twin).version) else { return }
    for name in namespace.presentNames(of: twin) + namespace.hiddenNames(of: twin) {
      findings.noteName(namespace.text(of: name), in: namespace.record(of: name).directory)
      namespace.relink(name, to: node)
      namespace.tellStoreName(name)
    }
  }

  /// Whether nothing is known of a file but what the store says.
  private func isBare(_ node: NodeIndex, _ use: Namespace.ItemUse) -> Bool {
    !namespace[node].isLocal && !namespace.isDirty(node, use) && !use.isOpen(node) && !content(of: node).isBusy
      && !namespace.hasOwnAttributes(node) && extras.bytes(of: node) == 0 && namespace.restored.item(of: node) == nil
      && contents.retained(of: node) == nil && namespace.conflicts.kind(of: node) == nil
  }
}
