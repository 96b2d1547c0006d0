import DatalessCore

/// What programs change on a volume, as records.
enum ChangeRecords {
  private typealias Change = Event.VolumeChange

  private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  private static func change(
    _ change: Change.Change, _ path: [UInt8], _ kind: ItemKind = .file, by caller: Caller = SampleRecords.caller
  ) -> Change {
    Change(change, path: path, inode: 1 << 62 | 7, kind: kind, by: caller, time: SampleRecords.time(600))
  }

  private static let lost = Change.Removed(
    kind: .file, inode: 790_123, wasDataless: true, lostBytes: 0, linksLeft: 0)

  /// In the order in which docs/EVENTS.md describes them.
  static let samples: [Event.VolumeChange] = [
    change(.created(linkedFrom: nil), bytes("photos/2025/new.jpg")),
    change(.renamed(from: bytes("photos/new.tmp"), isExchange: false, replaced: lost), bytes("photos/a.jpg")),
    change(
      .removed(.init(kind: .file, inode: 1 << 62 | 7, wasDataless: false, lostBytes: 48_000, linksLeft: 0)),
      bytes("photos/a.jpg")),
    change(.attributes(what: ["mode", "user.note"]), bytes("photos/a.jpg")),
    change(
      .written(.init(handle: 9, bytes: 48_000, calls: 12, mappedBytes: 4096, size: 48_000)),
      bytes("photos/2025/new.jpg")),
    change(
      .purged(
        .init(
          reason: .cache, by: "quota", area: "Containers/*/Library/Caches", category: .caches, app: bytes("maps"),
          bytes: 48_000, lostBytes: 48_000)),
      bytes("Containers/maps/Library/Caches/tile")),
  ]

  /// A directory that was removed with all that was in it.
  private static func tree(firstDirty: [UInt8]?) -> Change.Removed {
    var removed = lost
    removed.kind = .directory
    var tree = RemovedItems()
    (tree.items, tree.directories, tree.bytes) = (5, 2, 8192)
    (tree.dirtyItems, tree.dirtyBytes) = (firstDirty == nil ? 0 : 1, 100)
    tree.dirtyPaths = [firstDirty].compactMap(\.self)
    removed.tree = tree
    return removed
  }

  /// With names that are not UTF-8 and with everything, and with as little as there can be.
  static func extremes(odd: [UInt8], unknown: Caller, named: Caller) -> [Event.VolumeChange] {
    let changes: [Change.Change] = [
      .created(linkedFrom: odd), .renamed(from: odd, isExchange: true, replaced: nil),
      .renamed(from: odd, isExchange: false, replaced: lost), .removed(lost), .attributes(what: []),
      .written(.init(handle: 1 << 62 | 1, bytes: 0, calls: 0, mappedBytes: 0, size: 0)), .created(linkedFrom: nil),
      .written(.init(handle: 1 << 63 | 1, bytes: 0, calls: 0, mappedBytes: 0, size: 5, isUnseen: true)),
      .purged(
        .init(
          reason: .temporary, by: "pressure", area: "tmp", category: .temporary, app: odd, bytes: 0, lostBytes: 0)),
      .purged(
        .init(
          reason: .temporary, by: "pressure", area: "tmp", category: .temporary, app: nil, bytes: 0, lostBytes: 0)),
      .removed(tree(firstDirty: odd)), .removed(tree(firstDirty: nil)),
    ]
    return changes.flatMap { [change($0, odd, .directory, by: unknown), change($0, odd, by: named)] }
  }
}
