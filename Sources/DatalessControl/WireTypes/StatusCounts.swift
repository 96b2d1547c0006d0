/// What was changed on a volume and is nowhere else: what an unmount drops.
public struct ChangeCounts: Codable, Sendable, Equatable {
  /// Files whose content programs have written, and that have a name.
  public var dirtyFiles: Int64
  /// Their sizes.
  public var dirtyBytes: Int64
  /// Names that are there and that SOURCE does not have.
  public var namesMade: Int64
  /// Names of SOURCE that are not there: removed, moved, or another item has them.
  public var namesRemoved: Int64
  /// Items of SOURCE whose mode, owner, times or extended attributes programs have set.
  public var otherAttributes: Int64

  enum CodingKeys: String, CodingKey {
    case dirtyFiles = "dirty_files"
    case dirtyBytes = "dirty_bytes"
    case namesMade = "names_made"
    case namesRemoved = "names_removed"
    case otherAttributes = "other_attributes"
  }

  public init(
    dirtyFiles: Int64, dirtyBytes: Int64, namesMade: Int64, namesRemoved: Int64, otherAttributes: Int64
  ) {
    self.dirtyFiles = dirtyFiles
    self.dirtyBytes = dirtyBytes
    self.namesMade = namesMade
    self.namesRemoved = namesRemoved
    self.otherAttributes = otherAttributes
  }

  /// Daemons of earlier versions do not count attributes, and are unmounted all the same.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    dirtyFiles = try container.decode(Int64.self, forKey: .dirtyFiles)
    dirtyBytes = try container.decode(Int64.self, forKey: .dirtyBytes)
    namesMade = try container.decode(Int64.self, forKey: .namesMade)
    namesRemoved = try container.decode(Int64.self, forKey: .namesRemoved)
    otherAttributes = try container.decodeIfPresent(Int64.self, forKey: .otherAttributes) ?? 0
  }

  /// Whether nothing was changed that is counted.
  public var isNothing: Bool { dirtyFiles == 0 && namesMade == 0 && namesRemoved == 0 && otherAttributes == 0 }
}

/// What was materialized since the volume was mounted.
public struct MaterializedCounts: Codable, Sendable, Equatable {
  /// Files that became local, in part or whole, also by attempts that failed later; one that was evicted and read again
  /// counts again.
  public var files: Int64
  /// Successful materializations of directories.
  public var directories: Int64
  /// Content of files that became local.
  public var bytes: Int64
  /// Attempts that ended with an errno.
  public var failures: Int64
  /// Triggers that policy answered with an errno at once.
  public var refusals: Int64

  public init(files: Int64, directories: Int64, bytes: Int64, failures: Int64, refusals: Int64) {
    self.files = files
    self.directories = directories
    self.bytes = bytes
    self.failures = failures
    self.refusals = refusals
  }
}

/// Opens of files by the way in which their reads are served.
public struct OpenCounts: Codable, Sendable, Equatable {
  /// Those that are open at this moment.
  public var now: OpenModeCounts
  /// All since the volume was mounted.
  public var sinceMount: OpenModeCounts

  enum CodingKeys: String, CodingKey {
    case now
    case sinceMount = "since_mount"
  }

  public init(now: OpenModeCounts, sinceMount: OpenModeCounts) {
    self.now = now
    self.sinceMount = sinceMount
  }
}

/// How many opens of files have their reads served in each way.
public struct OpenModeCounts: Codable, Sendable, Equatable {
  /// Each read(2) reaches the volume alone, with its exact range: files that were dataless when they were opened.
  public var direct: Int64
  /// From the kernel's page cache, which asks the volume for what it has not.
  public var pageCache: Int64
  /// From the local content by the kernel itself; such reads do not reach the volume.
  public var passthrough: Int64

  enum CodingKeys: String, CodingKey {
    case direct, passthrough
    case pageCache = "page_cache"
  }

  public init(direct: Int64, pageCache: Int64, passthrough: Int64) {
    self.direct = direct
    self.pageCache = pageCache
    self.passthrough = passthrough
  }

  /// All of them.
  public var sum: Int64 { direct.plus(pageCache).plus(passthrough) }
}
