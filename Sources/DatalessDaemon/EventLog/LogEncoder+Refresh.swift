import DatalessControl
import DatalessCore

extension LogEncoder {
  mutating func sourceChanged(_ event: Event.SourceChange) {
    json.field("path", event.path)
    json.field("kind", event.kind.name)
    json.field("change", event.change.rawValue)
    if let path = event.oldPath { json.field("old_path", path) }
    if event.isMetadataOnly { json.field("metadata_only", true) }
    version("old", event.old)
    version("new", event.new)
    json.field("by", event.by.rawValue)
  }

  private mutating func version(_ name: StaticString, _ attributes: ItemAttributes?) {
    guard let attributes else { return }
    json.key(name)
    json.beginObject()
    json.field("inode", attributes.inode)
    json.field("size", attributes.size)
    time("mtime", attributes.modificationTime)
    time("ctime", attributes.changeTime)
    json.endObject()
  }

  private mutating func time(_ name: StaticString, _ time: Timestamp) {
    json.field(name, UTCTime.rfc3339(seconds: time.seconds, nanoseconds: time.nanoseconds))
  }

  mutating func refreshFinished(_ event: Event.RefreshFinished) {
    json.field("by", event.by.rawValue)
    json.field("outcome", event.outcome.name)
    json.field("directories", event.counts.directories)
    json.field("added", event.counts.added)
    json.field("changed", event.counts.changed)
    json.field("gone", event.counts.gone)
    json.field("renamed", event.counts.renamed)
    json.field("kept", event.counts.kept)
    json.field("unchanged", event.counts.unchanged)
    json.field("failures", event.failures)
    json.field("records_omitted", event.counts.omittedRecords)
    json.field("duration_ns", event.durationNanoseconds)
  }
}
