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
    // In an exchange, one may be a directory, and the other none.
    let mayHaveSome = isExchange || json.has("kind", "directory")
    let (there, here) = mayHaveSome ? (rows(below: old), isExchange ? rows(below: path) : []) : ([], [])
    if isExchange { exchange(old, path) } else { rename(old, to: path) }
    take(there + here)
    move(there, from: old, to: path)
    move(here, from: path, to: old)
    // Nothing else belongs to this change.
    refreshEnded()
  }
}
