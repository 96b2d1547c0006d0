import DatalessCore

extension Event.VolumeChange {
  var type: EventType {
    switch change {
    case .created: .itemCreated
    case .renamed: .itemRenamed
    case .removed: .itemRemoved
    case .attributes: .itemChanged
    case .written: .itemWritten
    }
  }
}

/// What programs have changed on the volume.
extension LogEncoder {
  mutating func changed(_ event: Event.VolumeChange) {
    json.field("path", event.path)
    json.field("inode", event.inode)
    json.field("kind", event.kind.name)
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
      json.field("bytes", written.bytes)
      json.field("calls", written.calls)
      json.field("mapped_bytes", written.mappedBytes)
      json.field("size", written.size)
    }
  }

  private mutating func removed(_ item: Event.VolumeChange.Removed) {
    json.field("was_dataless", item.wasDataless)
    json.field("lost_bytes", item.lostBytes)
    json.field("links_left", item.linksLeft)
  }
}
