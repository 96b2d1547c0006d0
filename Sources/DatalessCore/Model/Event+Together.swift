extension Event {
  /// A file was written to through one open while another process had it open, or may have had. Told once for each
  /// open.
  public struct HandleTogether: Sendable {
    public var path: [UInt8]
    /// st_ino on the volume.
    public var inode: UInt64
    /// The handle that was written through.
    public var handle: UInt64
    public var found: SharedWrite.Together
    public var time: MonotonicTime

    public init(path: [UInt8], inode: UInt64, handle: UInt64, found: SharedWrite.Together, time: MonotonicTime) {
      self.path = path
      self.inode = inode
      self.handle = handle
      self.found = found
      self.time = time
    }
  }
}
