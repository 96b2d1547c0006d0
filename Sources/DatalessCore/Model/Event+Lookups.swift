extension Event {
  /// What a name was that was looked up, as soon as the directory was listed for which the lookup had waited.
  public enum FoundName: String, Sendable, CaseIterable {
    case absent
    /// A file with content.
    case file
    /// A file without: of its opens nothing is told.
    case emptyFile = "empty_file"
    case directory
    case symlink
    /// A device, a FIFO or a socket.
    case special
  }

  /// A lookup that waited for the listing of a directory, and what it found there.
  public struct AnsweredLookup: Sendable, Equatable {
    public var name: [UInt8]
    public var found: FoundName

    public init(name: [UInt8], found: FoundName) { (self.name, self.found) = (name, found) }
  }
}
