import DatalessCore
import Glibc

/// Files that have bytes which a program may have written, and of which nobody knows what they were called: they are
/// called `lost+found-<inode>`, in the root. Inside a transaction of its caller's.
struct FoundFiles {
  let connection: CatalogConnection
  /// How long content is; nil if there is none.
  let size: (ContentID) -> Int64?

  /// A name in the root that nobody has made on the volume.
  func name(for row: ItemRow) throws -> [UInt8] {
    let name = "lost+found-\(row.inode)"
    var (candidate, number) = (Array(name.utf8), 1)
    while try connection.name(candidate, in: ItemRow.root, .made) != nil {
      number += 1
      candidate = Array("\(name)-\(number)".utf8)
    }
    return candidate
  }

  func keep(_ row: ItemRow, as name: [UInt8]) throws {
    var row = row
    if row.record.attributes == nil {
      var attributes = ItemAttributes.none
      attributes.inode = row.inode
      attributes.mode = UInt32(ItemKind.file.rawValue) << 12 | 0o600
      (attributes.uid, attributes.gid) = (geteuid(), getegid())
      attributes.linkCount = 1
      attributes.size = row.content.flatMap { size($0) } ?? 0
      attributes.modificationTime = row.record.version?.modificationTime ?? attributes.modificationTime
      row.record.attributes = attributes
    }
    try row.save(connection)
    try NameRow(directory: ItemRow.root, name: name, layer: .made, item: row.id).save(connection)
  }

  /// Makes files of content that no row names.
  ///
  /// - Parameter found: Called with each.
  func keep(_ contents: some Sequence<ContentID>, found: (ItemRow, _ name: [UInt8]) -> Void) throws {
    var highest = max(try connection.number(.highestInode) ?? 0, 1 << 62)
    var id = try connection.first("SELECT max(id) FROM item") { row throws in try row.integer(0) } ?? ItemRow.root
    for content in contents.sorted(by: { $0.rawValue < $1.rawValue }) {
      // None of the volume's own is left: the content stays, and the next `check` finds it.
      guard highest < .max >> 1, id < .max / 2 else { break }
      highest += 1
      id += 1
      var row = ItemRow(id: id, place: nil, inode: highest)
      row.content = content
      row.record.isDirty = true
      let name = try name(for: row)
      try keep(row, as: name)
      found(row, name)
    }
    try connection.set(.highestInode, to: highest)
  }
}
