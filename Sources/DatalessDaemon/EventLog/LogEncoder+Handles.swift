import DatalessCore

extension LogEncoder {
  mutating func closed(_ event: Event.HandleClosed) {
    json.field("path", event.path)
    if !event.names.isEmpty { texts("names", event.names) }
    json.field("inode", event.inode)
    json.field("handle", event.handle)
    process(event.process)
    json.field("size", event.size)
    reads(event.reads)
    json.field("triggered", event.triggered)
    json.field("io", event.io.rawValue)
    if event.isCachedBefore { json.field("cached_before", true) }
    if event.isSuperseded { json.field("superseded", true) }
    guard !event.readers.isEmpty else { return }
    json.key("readers")
    json.beginArray()
    for reader in event.readers {
      json.beginObject()
      process(reader.process)
      reads(reader.reads)
      json.endObject()
    }
    json.endArray()
  }

  private mutating func reads(_ reads: Event.HandleReads) {
    json.field("bytes_read", reads.bytesRead)
    json.field("covered_bytes", reads.coveredBytes)
    if reads.coveredUnit > 1 { json.field("covered_unit", reads.coveredUnit) }
    if reads.mappedBytes > 0 { json.field("mapped_bytes", reads.mappedBytes) }
    json.field("high_water_mark", reads.highWaterMark)
    json.field("reads", reads.reads)
    guard let ranges = reads.ranges else { return }
    json.key("ranges")
    json.beginArray()
    for range in ranges {
      json.beginArray()
      json.integer(range.lowerBound)
      json.integer(range.upperBound)
      json.endArray()
    }
    json.endArray()
  }

  mutating func unseen(_ event: Event.HandleUnseen) {
    json.field("path", event.path)
    json.field("inode", event.inode)
    process(event.process)
    json.field("size", event.size)
    json.field("io", event.isPassthrough ? "passthrough" : "page_cache")
  }

  mutating func together(_ event: Event.HandleTogether) {
    json.field("path", event.path)
    json.field("inode", event.inode)
    caller(event.found.writer)
    if event.handle != 0 { json.field("handle", event.handle) }
    json.nullable("other", event.found.other == .unknown ? nil : event.found.other.rawValue)
    json.field("other_writes", event.found.otherWrites)
    json.key("locked")
    switch event.found.lock {
    case .held: json.bool(true)
    case .free: json.bool(false)
    case .unknown(let reason):
      json.null()
      json.field("reason", reason.rawValue)
    }
  }
}
