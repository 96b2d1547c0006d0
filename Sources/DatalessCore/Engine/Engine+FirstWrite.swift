internal import SystemPackage

/// The first write of a file that was made on the volume. Most of them are the only one, and small: on a volume that
/// forgets everything their bytes go where small content lies, because a file of its own for each takes several times
/// as long as all the rest. The next change copies them into one, as it does with small content that was fetched.
///
/// Not on a volume that is kept: content becomes dirty there before its first byte is written.
extension Engine {
  /// - Returns: What was answered; nil if the bytes are to be written as any others.
  func writeFirst(_ bytes: UnsafeRawBufferPointer, to node: NodeID, _ request: WriteAccess) -> WriteAnswer? {
    guard writing == .scratch, request.offset == 0, !request.isDirect,
      state.withLock({ $0.isUnwritten(node) })
    else { return nil }
    let (held, needed) = holdRoom(for: node, 0..<Int64(bytes.count))
    guard let held else { return .needsRoom(needed) }
    defer { letGoRoom(held) }
    let made: ContentID
    do throws(FSError) {
      guard let fixed = try content.makeFixed(bytes) else { return nil }
      made = fixed
    } catch {
      // Whoever writes it otherwise fails in the same way, or does not.
      return nil
    }
    let taken = state.withLock { $0.takeFirst(made, for: node, request, count: bytes.count) }
    guard let taken else {
      removeContent(made)
      return nil
    }
    if let left = taken.left { removeContent(left) }
    if taken.hasOtherMode { _ = kernel.invalidateAttributes(of: node) }
    return .done(bytes.count)
  }
}

extension EngineState {
  /// Whether a file holds nothing, and nothing was ever written to it.
  fileprivate func isUnwritten(_ node: NodeID) -> Bool {
    namespace.index(of: node).map { namespace[$0].isUnwritten } ?? false
  }

  /// Gives a file its first content, unless somebody else has.
  ///
  /// - Returns: Whether its mode is another one now, and content to be removed; nil if it was not given.
  fileprivate mutating func takeFirst(
    _ made: ContentID, for node: NodeID, _ request: WriteAccess, count: Int
  ) -> (hasOtherMode: Bool, left: ContentID?)? {
    guard isUnwritten(node), let position = namespace.index(of: node) else { return nil }
    _ = updateContent(of: position) { $0.replace(with: made, size: 0) }
    planned.drop(position)
    trash.noteChange()
    let left = openFiles.lease(made, by: request.handle)
    let blocks = (Int64(count) + 4095) / 4096 * 8
    let extent = ContentExtent(size: Int64(count), blocks: blocks)
    return (noteWritten(node, request, count: count, extent: extent), left)
  }
}
