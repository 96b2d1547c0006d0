/// What a refresh tells of the store's names.
extension EngineState {
  /// Where callers see a change, if that is not where the store's name leads.
  enum ShownPlace {
    case path([UInt8])
    case nowhere
  }

  func record(
    _ change: Event.SourceChange.Change, of name: NameIndex?, from old: ItemAttributes?, to new: ItemAttributes?,
    findings: inout RefreshFindings, now: MonotonicTime, oldPath: [UInt8]? = nil, at place: ShownPlace? = nil
  ) {
    let made = sourceChange(change, of: name, from: old, to: new, findings: &findings, now: now)
    guard var event = made else { return }
    event.oldPath = oldPath
    switch place {
    case .path(let path)?: event.shownPath = path
    case .nowhere?: event.shownPath = nil
    case nil: break
    }
    events.record(.sourceChanged(event))
  }

  /// nil when there are too many of one refresh.
  func sourceChange(
    _ change: Event.SourceChange.Change, of name: NameIndex?, from old: ItemAttributes?, to new: ItemAttributes?,
    findings: inout RefreshFindings, now: MonotonicTime
  ) -> Event.SourceChange? {
    let counts = findings.counts
    guard counts.added + counts.changed + counts.gone + counts.renamed + counts.kept <= RefreshFindings.recordsMax
    else {
      findings.counts.omittedRecords += 1
      return nil
    }
    guard let kind = (new ?? old)?.kind else { return nil }
    var event = Event.SourceChange(
      path: namespace.path(ofName: name), change: change, kind: kind, old: old, new: new, by: findings.by, time: now)
    // Behind a name of the volume's, of an item that was removed here, or that has another name here.
    if change != .kept, let name, !namespace.record(of: name).isPresent {
      event.shownPath = namespace.visiblePath(of: name)
    }
    return event
  }
}
