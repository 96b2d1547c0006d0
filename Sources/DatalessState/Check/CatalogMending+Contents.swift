import DatalessCore

/// Files whose content is not there as it should be.
extension CatalogMending {
  /// Also finds what is referred to.
  mutating func mendContents() throws {
    var changed: [ItemRow] = []
    try connection.forEach("SELECT \(ItemRow.columns) FROM item WHERE content IS NOT NULL") { found in
      try progress.note()
      var row = try ItemRow(found)
      guard let id = row.content else { return }
      let size = contents.sizes[id]
      let isThere = row.record.isDirty ? size != nil : size == row.record.version?.size && isBelieved(row)
      if isThere || contents.isRefused(id) {
        referenced.insert(id)
        if row.record.isDirty, let size, cut(&row, to: size) { changed.append(row) }
        return
      }
      reportMissing(row)
      row.content = nil
      changed.append(row)
    }
    for row in changed { try row.save(connection) }
  }

  private func isBelieved(_ row: ItemRow) -> Bool { believed.contains(row.record.epoch) }

  private mutating func reportMissing(_ row: ItemRow) {
    guard row.record.isDirty else {
      return report.add(
        .lostContent, place(of: row.id), message: "its content is not there, or not whole", repair: "dataless again")
    }
    let isLost = row.isLostWithItsContent(isOnDisk: trusted.contains(row.record.epoch))
    report.add(
      isLost ? .lostChanges : .unwritten, place(of: row.id), message: "what was written to it is not there",
      repair: "it is empty")
  }

  /// What a program wrote is not cut off but by somebody who has no business here: what is left stays.
  ///
  /// - Returns: Whether the row was changed.
  private mutating func cut(_ row: inout ItemRow, to size: Int64) -> Bool {
    guard let from = sizesFrom, row.record.epoch >= from, trusted.contains(row.record.epoch),
      let told = row.record.attributes?.size, size < told
    else { return false }
    report.add(
      .shortContent, place(of: row.id), message: "\(size) of the \(told) bytes that were written to it are there",
      repair: "it has these")
    row.record.attributes?.size = size
    return true
  }

  /// The path by which callers find an item; its number where they do not.
  func place(of id: Int64) -> String {
    let path = (try? CatalogSearch(connection).path(of: id)) ?? nil
    guard let path, !path.isEmpty else { return "item \(id)" }
    return String(decoding: path, as: UTF8.self)
  }

  /// The same of an item whose row cannot be read: by a name that was made for it.
  func place(ofLost id: Int64) -> String {
    guard let name = try? connection.names(of: id).first(where: { $0.layer == .made }),
      let directory = try? CatalogSearch(connection).path(of: name.directory)
    else { return "item \(id)" }
    return String(decoding: directory + (directory.isEmpty ? [] : [UInt8(ascii: "/")]) + name.name, as: UTF8.self)
  }
}

extension ItemRow {
  /// Whether what a program wrote is lost if its content is missing.
  ///
  /// Content of a file of the store was on the disk before it became dirty. Of a file that was made here, a loss of
  /// power takes what nobody has flushed, as on ext4. And what was empty has lost nothing.
  ///
  /// - Parameter isOnDisk: Whether what was written in its epoch is there: flushed, or in the page cache still.
  func isLostWithItsContent(isOnDisk: Bool) -> Bool {
    record.isDirty && (isOfStore || isOnDisk && (record.attributes?.size ?? 0) > 0)
  }
}
