/// A file of the store's that an open has emptied by giving it other content, on a volume that is kept: what it was,
/// until it is known that the change outlives a crash.
///
/// Where it cannot, because the disk is full, the open fails, and a call that fails has changed nothing: the file is
/// the store's again, dataless. So nothing is lost that another one has not changed meanwhile.
struct EmptiedFile {
  /// The content that it had; once it is emptied, the empty one that it was given.
  fileprivate var content: ContentID
  fileprivate let before: ItemAttributes

  /// What it looks like again, if nobody has changed that since.
  fileprivate func restored(_ now: ItemAttributes) -> ItemAttributes {
    var attributes = now
    attributes.size = before.size
    attributes.blocks = before.blocks
    attributes.modificationTime = before.modificationTime
    attributes.changeTime = before.changeTime
    // O_TRUNC takes setuid and setgid away; other bits are chmod(2)'s.
    if now.mode | 0o6000 == before.mode | 0o6000 { attributes.mode = before.mode }
    return attributes
  }
}

extension Engine {
  /// As `whenDurable`, for an open of a file.
  ///
  /// - Parameter completion: As `synchronize`. If it fails, and the open had emptied the file, that is as it was
  ///   before, unless somebody else uses it by then.
  public func whenDurable(
    _ number: ChangeNumber, opening node: NodeID, completion: @escaping @Sendable (FSError?) -> Void
  ) {
    whenDurable(number) { [self] error in
      if error != nil { giveBackEmptied(node) }
      completion(error)
    }
  }

  private func giveBackEmptied(_ node: NodeID) {
    let content: ContentID? = state.withLock { $0.giveBackEmptied(node) }
    guard let content else { return }
    if content != .none { removeContent(content) }
    // Whoever has looked at it meanwhile has seen an empty file.
    _ = kernel.invalidateAttributes(of: node)
  }
}

extension EngineState {
  /// A file that an open is about to empty; nil for one whose content is nowhere else.
  func fileToBeEmptied(_ node: NodeID) -> EmptiedFile? {
    guard writing == .kept, let position = namespace.index(of: node), !namespace[position].isDirty else { return nil }
    return EmptiedFile(content: namespace[position].content, before: namespace.attributes(of: position))
  }

  /// The open has emptied it, and waits until that is durable. - Parameter file: As `fileToBeEmptied` gave it before.
  mutating func noteEmptied(_ node: NodeID, _ file: EmptiedFile) {
    guard let position = namespace.index(of: node), namespace[position].isDirty,
      namespace[position].content != file.content
    else { return }
    var emptied = file
    emptied.content = namespace[position].content
    writers.noteEmptied(position, emptied)
  }

  /// - Returns: Content to be removed, or `none`; nil if nothing was changed.
  fileprivate mutating func giveBackEmptied(_ node: NodeID) -> ContentID? {
    guard let position = namespace.index(of: node), let file = writers.takeEmptied(position) else { return nil }
    let record = namespace[position]
    // Of what the store has no more, or has in another version, nothing could be fetched.
    guard record.isDirty, record.content == file.content, record.size == 0, !record.isOrphan,
      openFiles.count(of: position) == 0, namespace.binding(of: position) != nil,
      contents.retained(of: position) == nil
    else { return nil }
    writers.endWait(of: position)
    journal.beginOperation()
    defer { journal.endOperation() }
    changeAttributes(of: position) { $0 = file.restored($0) }
    let dropped = evictContent(of: position).flatMap { contents.giveUp($0) }
    trash.noteChange()
    return dropped.flatMap { removable($0, of: position) } ?? ContentID.none
  }
}
