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
    rename(old, to: path)
    if json.bool("exchange") == true { rename(path, to: old) }
    // Nothing else belongs to this change.
    refreshEnded()
  }
}
