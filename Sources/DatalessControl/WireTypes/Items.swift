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
  /// True for a file that programs have written to on the volume: its content is nowhere else. Absent otherwise.
  public var isDirty: Bool?
  /// The content policy that holds for it: `lazy` or `eager`; absent for `lazy-and-evict`, the default.
  public var policy: String?

  enum CodingKeys: String, CodingKey {
    case path, kind, state, mode, inode, policy
    case pathBase64 = "path_b64"
    case sizeBytes = "size_bytes"
    case localBytes = "local_bytes"
    case openHandles = "open_handles"
    case isKept = "kept"
    case isDirty = "dirty"
  }

  public init(
    path: [UInt8], kind: String, state: String, sizeBytes: Int64, localBytes: Int64, mode: UInt32, inode: UInt64,
    openHandles: Int64, isKept: Bool = false, isDirty: Bool = false, policy: String? = nil
  ) {
    self.policy = policy
    (self.path, pathBase64) = WirePath.split(path)
    self.kind = kind
    self.state = state
    self.sizeBytes = sizeBytes
    self.localBytes = localBytes
    self.mode = mode
    self.inode = inode
    self.openHandles = openHandles
    self.isKept = isKept ? true : nil
    self.isDirty = isDirty ? true : nil
  }

  public var pathBytes: [UInt8] { WirePath.bytes(path, pathBase64) }
}

/// The query of `GET /v1/items`.
public struct ItemQuery: Sendable, Equatable {
  /// Relative to the volume's root; empty for the root.
  public var path: [UInt8]
  /// Whether a listed directory is followed by what is in it, at any depth, instead of one level.
  public var recursive: Bool
  /// Where the page before ended; nil for the first page.
  public var after: String?
  /// 1...10,000. Default: 1,000.
  public var limit: Int

  public static let defaultLimit = 1_000
  public static let limitMax = 10_000

  public init(path: [UInt8], recursive: Bool = false, after: String? = nil, limit: Int = Self.defaultLimit) {
    self.path = path
    self.recursive = recursive
    self.after = after
    self.limit = limit
  }
}

/// Answer of `GET /v1/items`: a part of a listing.
public struct ItemPage: Codable, Sendable, Equatable {
  /// A directory before what is in it; siblings in no particular order.
  public var items: [VolumeItem]
  /// What to pass as `after` to go on; absent at the end.
  public var next: String?

  public init(items: [VolumeItem], next: String? = nil) {
    self.items = items
    self.next = next
  }
}

/// Items of a volume that the kernel or a listing has seen so far, by kind and state.
public struct ItemCounts: Codable, Sendable, Equatable {
  /// Regular files known; the sum of the five below.
  public var files: Int64
  public var filesDataless: Int64
  public var filesMaterializing: Int64
  /// Files of which some ranges are local.
  public var filesPartial: Int64
  public var filesResident: Int64
  /// Files of size 0, which are never dataless; not counted as resident.
  public var filesEmpty: Int64
  /// Directories known; the sum of the two below and of those being listed now.
  public var directories: Int64
  public var directoriesDataless: Int64
  public var directoriesListed: Int64
  /// Symbolic links, devices, FIFOs and sockets.
  public var others: Int64
  /// Sum of the sizes of all files known.
  public var bytes: Int64
  /// Sum of the sizes of resident files.
  public var bytesResident: Int64
  /// Disk space that the content takes in the cache.
  public var localBytes: Int64
  /// Mount points inside SOURCE, which are shown as empty directories.
  public var otherFileSystems: Int64

  enum CodingKeys: String, CodingKey {
    case files, directories, others, bytes
    case filesDataless = "files_dataless"
    case filesMaterializing = "files_materializing"
    case filesPartial = "files_partial"
    case filesResident = "files_resident"
    case filesEmpty = "files_empty"
    case directoriesDataless = "directories_dataless"
    case directoriesListed = "directories_listed"
    case bytesResident = "bytes_resident"
    case localBytes = "local_bytes"
    case otherFileSystems = "other_file_systems"
  }

  public init(
    files: Int64, filesDataless: Int64, filesMaterializing: Int64, filesPartial: Int64, filesResident: Int64,
    filesEmpty: Int64, directories: Int64, directoriesDataless: Int64, directoriesListed: Int64, others: Int64,
    bytes: Int64,
    bytesResident: Int64, localBytes: Int64, otherFileSystems: Int64
  ) {
    self.files = files
    self.filesDataless = filesDataless
    self.filesMaterializing = filesMaterializing
    self.filesPartial = filesPartial
    self.filesResident = filesResident
    self.filesEmpty = filesEmpty
    self.directories = directories
    self.directoriesDataless = directoriesDataless
    self.directoriesListed = directoriesListed
    self.others = others
    self.bytes = bytes
    self.bytesResident = bytesResident
    self.localBytes = localBytes
    self.otherFileSystems = otherFileSystems
  }
}
