/// What programs did to names on the volume.
extension SummaryFiles {
  mutating func changedHere(_ record: LogRecord) {
    let json = record.json
    guard let path = json.path else { return }
    guard let old = json.name("old_path", "old_path_b64") else {
      // Another file has the path now, or none.
      leave(path)
      return
    }
    let isExchange = json.bool("exchange") == true
    if isExchange { exchange(old, path) } else { rename(old, to: path) }
    // In an exchange, one may be a directory, and the other none.
    if isExchange || json.has("kind", "directory") { directories.rename(old, to: path, isExchange: isExchange) }
    // Nothing else belongs to this change.
    refreshEnded()
  }
}
