/// One item of a volume, as the volume knows it.
public struct VolumeItem: Codable, Sendable, Equatable {
  /// Relative to the volume's root; empty for the root.
  public var path: String
  public var pathBase64: String?
  /// `file`, `directory`, `symlink`, `fifo`, `socket`, `character_device` or `block_device`.
  public var kind: String
  /// Files: `dataless`, `materializing` or `resident`, as every empty one is; directories: `dataless`, `materializing`
  /// or `listed`; `other` for what has no content.
  public var state: String
  /// st_size.
  public var sizeBytes: Int64
  /// Disk space that the content takes in the cache; 0 while dataless.
  public var localBytes: Int64
  /// Permission bits of st_mode, 0...07777.
  public var mode: UInt32
  /// st_ino on the volume.
  public var inode: UInt64
  public var openHandles: Int64
  /// True for a resident file of which the store has another version; absent otherwise.
  public var isKept: Bool?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case path, kind, state, mode, inode
    case pathBase64 = "path_b64"
    case sizeBytes = "size_bytes"
    case localBytes = "local_bytes"
    case openHandles = "open_handles"
    case isKept = "kept"
  }

  public init(
    path: [UInt8], kind: String, state: String, sizeBytes: Int64, localBytes: Int64, mode: UInt32, inode: UInt64,
    openHandles: Int64, isKept: Bool = false
  ) {
    (self.path, pathBase64) = WirePath.split(path)
    self.kind = kind
    self.state = state
    self.sizeBytes = sizeBytes
    self.localBytes = localBytes
    self.mode = mode
    self.inode = inode
    self.openHandles = openHandles
    self.isKept = isKept ? true : nil
  }

  public var pathBytes: [UInt8] { WirePath.bytes(path, pathBase64) }
}
