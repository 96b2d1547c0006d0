internal import SystemPackage

/// Changes of one file's content that the kernel lets run beside each other.
extension Engine {
  /// What the page cache holds of a mapping, as far as the file has bytes there.
  ///
  /// - Returns: All of them, if those were written.
  func writeBack(_ bytes: UnsafeRawBufferPointer, to node: NodeID, _ request: WriteAccess) -> WriteAnswer {
    let size = state.withLock { state in
      state.writers.beginChange(of: node, .writeback)
      guard let position = state.namespace.index(of: node) else { return Int64.max }
      state.catchUp(position)
      return state.namespace[position].size
    }
    defer { endChange(of: node) }
    let count = Int(min(Int64(bytes.count), max(0, size - request.offset)))
    guard count > 0 else { return .done(bytes.count) }
    let answer = writeNow(UnsafeRawBufferPointer(rebasing: bytes[..<count]), to: node, request)
    guard case .done(count) = answer else { return answer }
    return .done(bytes.count)
  }

  func beginChange(of node: NodeID, _ change: Writers.Change) {
    state.withLock { $0.writers.beginChange(of: node, change) }
  }

  /// Such a change is through: the last of several that ran beside each other asks the content how large the file is,
  /// or cuts off what was written back to content that had been cut off meanwhile.
  ///
  /// - Returns: Whether it has another size than was noted.
  @discardableResult
  func endChange(of node: NodeID) -> Bool {
    let mixed: (knower: Writers.SizeKnower, content: ContentID, size: Int64)? = state.withLock { state in
      guard let knower = state.writers.endChange(of: node) else { return nil }
      guard let position = state.namespace.index(of: node) else { return (knower, .none, 0) }
      return (knower, state.namespace[position].content, state.namespace[position].size)
    }
    guard let mixed else { return false }
    let extent = try? content.extent(of: mixed.content)
    if mixed.knower == .record, let extent, extent.size > mixed.size {
      // Who makes it larger later would find what was cut off.
      _ = try? content.resize(mixed.content, to: mixed.size)
    }
    let isOther = state.withLock { state in
      guard state.writers.endMixed(of: node), mixed.knower == .content, let extent else { return false }
      return state.noteExtent(extent, of: node, in: mixed.content)
    }
    if isOther { _ = kernel.invalidateAttributes(of: node) }
    return isOther
  }
}

extension EngineState {
  /// What the content of a file says of itself. - Returns: Whether its size is another one now.
  fileprivate mutating func noteExtent(_ extent: ContentExtent, of node: NodeID, in content: ContentID) -> Bool {
    guard let position = namespace.index(of: node), namespace[position].content == content,
      namespace[position].size != extent.size
    else { return false }
    changeAttributes(of: position, isTold: false) { attributes in
      attributes.size = extent.size
      attributes.blocks = extent.blocks
    }
    return true
  }
}
