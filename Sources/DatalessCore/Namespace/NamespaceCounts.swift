/// How many items of each kind and state the namespace knows, kept up to date with each change.
public struct NamespaceCounts: Sendable, Equatable {
  public internal(set) var files = 0
  public internal(set) var filesDataless = 0
  public internal(set) var filesMaterializing = 0
  public internal(set) var filesPartial = 0
  public internal(set) var filesResident = 0
  /// Files that were written to on the volume and are nowhere else, empty ones among them, and the sum of their sizes.
  public internal(set) var filesDirty = 0
  public internal(set) var bytesDirty: Int64 = 0
  /// Empty files: never dataless, no content to fetch.
  public internal(set) var filesEmpty = 0
  public internal(set) var directories = 0
  public internal(set) var directoriesDataless = 0
  public internal(set) var directoriesListed = 0
  /// Symlinks, devices, FIFOs and sockets.
  public internal(set) var others = 0
  /// Sum of st_size of the files, and of those that are resident.
  public internal(set) var bytes: Int64 = 0
  public internal(set) var bytesResident: Int64 = 0

  mutating func add(_ record: NodeRecord) { count(record, 1) }
  mutating func remove(_ record: NodeRecord) { count(record, -1) }

  private mutating func count(_ record: NodeRecord, _ sign: Int) {
    switch record.kind {
    case .file:
      files += sign
      bytes &+= Int64(sign) &* record.size
      if record.isDirty {
        filesDirty += sign
        bytesDirty &+= Int64(sign) &* record.size
      }
      if record.size <= 0 {
        filesEmpty += sign
        return
      }
      switch record.state {
      case .dataless: filesDataless += sign
      case .materializing: filesMaterializing += sign
      case .partial: filesPartial += sign
      case .resident:
        filesResident += sign
        bytesResident &+= Int64(sign) &* record.size
      }
    case .directory:
      directories += sign
      if record.state == .resident { directoriesListed += sign } else { directoriesDataless += sign }
    case .symlink, .fifo, .socket, .characterDevice, .blockDevice:
      others += sign
    }
  }
}
