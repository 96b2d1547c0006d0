import DatalessCore

extension Event.VolumeChange {
  var type: EventType {
    switch change {
    case .created: .itemCreated
    case .renamed: .itemRenamed
    case .removed: .itemRemoved
    case .attributes: .itemChanged
    case .written: .itemWritten
    case .purged: .itemPurged
    }
  }
}

extension Event.ConflictRecord {
  var type: EventType { change == .found ? .conflictFound : .conflictResolved }
}

/// What programs have changed on the volume.
extension LogEncoder {
  mutating func changed(_ event: Event.VolumeChange) {
    json.field("path", event.path)
    json.field("inode", event.inode)
    json.field("kind", event.kind.name)
    if case .purged(let purged) = event.change { return self.purged(purged) }
    caller(event.caller)
    switch event.change {
    case .created(let linkedFrom):
      if let linkedFrom { json.field("linked_from", linkedFrom) }
    case .renamed(let old, let isExchange, let replaced):
      json.field("old_path", old)
      if isExchange { json.field("exchange", true) }
      guard let replaced else { return }
      json.key("replaced")
      json.beginObject()
      json.field("inode", replaced.inode)
      json.field("kind", replaced.kind.name)
      removed(replaced)
      json.endObject()
    case .removed(let item): removed(item)
    case .attributes(let what):
      json.key("attributes")
      json.beginArray()
      for name in what { json.string(name) }
      json.endArray()
    case .written(let written):
      let handle = OpenHandle.inLog(written.handle)
      if handle != 0 { json.field("handle", handle) }
      json.nullable("bytes", written.isUnseen ? nil : written.bytes)
      json.nullable("calls", written.isUnseen ? nil : written.calls)
      json.nullable("mapped_bytes", written.isUnseen ? nil : written.mappedBytes)
      json.field("size", written.size)
    case .purged: break
    }
  }

  private mutating func purged(_ item: Event.VolumeChange.Purged) {
    json.field("reason", item.reason.rawValue)
    json.field("by", item.by)
    json.field("area", item.area)
    json.field("category", item.category.rawValue)
    if let app = item.app { json.field("app", app) }
    json.field("bytes", item.bytes)
    json.field("lost_bytes", item.lostBytes)
  }

  mutating func conflict(_ event: Event.ConflictRecord) {
    json.field("path", event.path)
    json.field("conflict", event.kind.rawValue)
    if let attributes = event.mine ?? event.theirs { json.field("kind", attributes.kind.name) }
    switch event.change {
    case .found: break
    case .resolved(let choice, let copy):
      json.field("kept", choice.rawValue)
      if let copy { json.field("copy", copy) }
    case .ended: json.field("kept", "source")
    }
    version("mine", event.mine)
    version("theirs", event.theirs)
  }

  /// LIMIT: paths of dirty files that a record of a removed tree has.
  private static let dirtyPathsMax = 100

  private mutating func removed(_ item: Event.VolumeChange.Removed) {
    json.field("was_dataless", item.wasDataless)
    json.field("lost_bytes", item.lostBytes)
    json.field("links_left", item.linksLeft)
    guard let tree = item.tree else { return }
    json.field("items", tree.items)
    json.field("bytes", tree.bytes)
    json.field("dirty_items", tree.dirtyItems)
    guard let first = tree.dirtyPaths.first else { return }
    json.field("first_dirty", first)
    texts("dirty_paths", Array(tree.dirtyPaths.prefix(Self.dirtyPathsMax)))
  }
}
