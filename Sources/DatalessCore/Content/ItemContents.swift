/// What of each item is local. The one owner of it, beside the records in which the namespace keeps what every item
/// has.
struct ItemContents {
  /// What is local of an item somebody is at work on. A place of its own, so that each change is made where it lies.
  private final class Place {
    var content: ItemContent
    init(_ content: ItemContent) { self.content = content }
  }

  private var work: [NodeIndex: Place] = [:]
  /// Content that no file names any more, and that a transfer may still write to.
  private var written: [UInt64: RangedContent] = [:]
  private var lastNumber: UInt64 = 0

  /// Whether nobody is at work on anything, and nothing is there in part.
  var isIdle: Bool { work.isEmpty && written.isEmpty }

  /// Whether there is content that no record names: of files that are there in part, or that have lost it while it was
  /// written.
  var hasUnnamedContent: Bool { !written.isEmpty || work.values.contains { $0.content.work.parts != nil } }

  /// A number that is given once.
  mutating func makeNumber() -> UInt64 {
    lastNumber += 1
    return lastNumber
  }

  /// What of an item is local, to be looked at.
  func content(of node: NodeIndex, in namespace: borrowing Namespace) -> ItemContent {
    ItemContent(namespace[node].contentCell, work.isEmpty ? ItemContent.Work() : work[node]?.content.work ?? .init())
  }

  /// Changes what of an item is local, by verbs of `ItemContent`.
  mutating func update<Result>(
    _ node: NodeIndex, in namespace: inout Namespace, _ change: (inout ItemContent) -> Result
  ) -> Result {
    let cell = namespace[node].contentCell
    guard !work.isEmpty, let place = work[node] else {
      var content = ItemContent(cell)
      let result = change(&content)
      namespace.setContent(content.cell, partialBytes: content.partialBytes, of: node)
      if !content.work.isNone { work[node] = Place(content) }
      return result
    }
    place.content.renew(cell)
    let result = change(&place.content)
    namespace.setContent(place.content.cell, partialBytes: place.content.partialBytes, of: node)
    if place.content.work.isNone { work[node] = nil }
    return result
  }

  // MARK: - Short looks, for each read

  /// Whether anything but what its record says is known of an item.
  func isAtWork(on node: NodeIndex) -> Bool { !work.isEmpty && work[node] != nil }

  /// The content that has a range of a file that is not resident; nil unless all of the range is there.
  func local(_ range: Range<Int64>, of node: NodeIndex) -> ContentID? {
    // Nearly every volume has none.
    guard !work.isEmpty, let parts = work[node]?.content.work.parts, parts.ranges.contains(range) else { return nil }
    return parts.reference
  }

  /// As `ItemContent.Work.retained`.
  func retained(of node: NodeIndex) -> ListedItem? { work.isEmpty ? nil : work[node]?.content.work.retained }

  /// The content of a file that comes in ranges; nil if it does not.
  func parts(of node: NodeIndex) -> RangedContent? { work.isEmpty ? nil : work[node]?.content.work.parts }

  // MARK: - Content without a file

  /// - Returns: What is to be removed now; nil as long as a transfer may write to it.
  mutating func giveUp(_ dropped: ItemContent.Dropped) -> ContentID? {
    guard let content = dropped.writtenTo else { return dropped.reference }
    written[content.id] = content
    return nil
  }

  /// A transfer will not write any more to content that has lost its file. - Returns: What is to be removed now.
  mutating func endTransfer(in id: UInt64) -> RangedContent? {
    written[id]?.transfers -= 1
    guard let content = written[id], content.transfers == 0 else { return nil }
    return written.removeValue(forKey: id)
  }
}
