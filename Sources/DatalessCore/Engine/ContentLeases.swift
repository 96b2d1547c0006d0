/// Leases of open files on what they read. Content stays until the last lease on it has ended, whatever its file has by
/// then.
///
/// Nearly always all opens of a node lease the same content. That one is counted with the node (`Latest`), where an
/// open finds it without a search; contents that were leased before it are counted here.
struct ContentLeases {
  /// The content of a node that was leased last, and by how many opens.
  struct Latest {
    fileprivate(set) var content = ContentID.none
    fileprivate(set) var count: UInt32 = 0
  }

  private var elder: [ContentID: UInt32] = [:]
  /// Content that is leased and has no file any more.
  private var givenUp: Set<ContentID> = []

  /// Whether somebody reads content that has no file any more.
  var hasGivenUp: Bool { !givenUp.isEmpty }

  /// An open reads content of a node from now on.
  mutating func begin(_ content: ContentID, _ latest: inout Latest) {
    guard content != .none else { return }
    if latest.content != content {
      if latest.count > 0 { elder[latest.content, default: 0] += latest.count }
      latest = Latest(content: content, count: elder.isEmpty ? 0 : elder.removeValue(forKey: content) ?? 0)
    }
    latest.count += 1
  }

  /// An open reads it no longer. - Returns: The content, if it was given up and this was the last lease on it.
  mutating func end(_ content: ContentID, _ latest: inout Latest) -> ContentID? {
    guard content != .none else { return nil }
    if content == latest.content {
      latest.count -= 1
      guard latest.count == 0 else { return nil }
    } else {
      let left = (elder[content] ?? 1) - 1
      elder[content] = left > 0 ? left : nil
      guard left == 0 else { return nil }
    }
    return givenUp.isEmpty ? nil : givenUp.remove(content)
  }

  /// A node has lost its content.
  ///
  /// - Parameter latest: Of the node; nil if nobody has it open.
  /// - Returns: Whether it may be removed now; else `end` returns it.
  mutating func giveUp(_ content: ContentID, _ latest: Latest?) -> Bool {
    let isLeased = elder[content] != nil || latest.map { $0.content == content && $0.count > 0 } ?? false
    if isLeased { givenUp.insert(content) }
    return !isLeased
  }
}
