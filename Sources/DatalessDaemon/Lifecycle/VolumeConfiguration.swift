public import DatalessControl
public import DatalessCore
import DatalessStores

/// Everything one volume needs, parsed and checked: what `mount` and `run` hand to the daemon.
///
/// Paths are absolute and are bytes, because names need not be UTF-8. The mountpoint has no symbolic links left in it,
/// so that it equals the text in /proc/self/mountinfo.
public struct VolumeConfiguration: Sendable, Codable, Equatable {
  /// Where names, metadata and content come from.
  public enum Source: Sendable, Codable, Equatable {
    /// An existing, readable directory.
    case directory([UInt8])
    /// A synthetic specification, such as `synthetic:files=1000,seed=1`, with its prefix.
    case synthetic(String)
  }

  /// Whether a volume can be written to, and what becomes of changes.
  public enum Writing: String, Sendable, Codable, CaseIterable {
    /// Every change fails with EROFS.
    case readOnly = "read_only"
    /// Changes are forgotten at unmount.
    case scratch
    /// Changes, and content that was fetched, outlive the volume, in `VolumeConfiguration.state`.
    case kept
  }

  public var source: Source
  public var mountpoint: [UInt8]
  /// What is simulated, as the canonical JSON of a scenario: checked, without files that it would have to read.
  public var scenario: String
  /// The file system type is `fuse.<subtype>`; from the scenario.
  public var subtype: String
  /// The event log's file.
  public var log: [UInt8]
  /// Whether `log` is in the default directory, where only the newest 20 are kept.
  public var logIsDefault: Bool
  /// The directory of all sessions' caches; this session's content goes to `<cacheDirectory>/<session>`.
  public var cacheDirectory: [UInt8]
  /// The directory in which a volume is kept; nil unless `writing` is `kept`.
  public var state: [UInt8]?
  /// Where the control socket's directory is made, as `<runtimeDirectory>/<major>:<minor>`.
  public var runtimeDirectory: String
  /// Whether other users may use the volume.
  public var allowOther: Bool
  /// Whether mounts below SOURCE are followed; otherwise they show as empty directories.
  public var crossMounts: Bool
  /// Whether programs may change what is on the volume.
  public var writing: Writing
  /// Twelve lower-case hexadecimal digits, random.
  public var session: String
  /// Directories of our own that lie in SOURCE and are left out of its listing.
  public var excludedDirectories: [[UInt8]]
  /// Whose arguments the log keeps.
  public var argumentPolicy: ArgumentPolicy
  /// Fast paths that are not to be used.
  public var without: [FastPath]
  /// What was found at the start and should be said by `status`, one sentence each.
  public var warnings: [String]
  /// The process with whose end the volume ends; nil for none.
  public var endsWith: Int32?
  /// Set by `dataless run` only.
  public var run: RunPlan?

  public init(
    source: Source, mountpoint: [UInt8], scenario: String = "{}", subtype: String = MountEntry.datalessSubtype,
    log: [UInt8], logIsDefault: Bool = false,
    cacheDirectory: [UInt8], runtimeDirectory: String, allowOther: Bool = false, crossMounts: Bool = false,
    writing: Writing = .readOnly, state: [UInt8]? = nil, session: String, excludedDirectories: [[UInt8]] = [],
    argumentPolicy: ArgumentPolicy = .callers,
    without: [FastPath] = [], warnings: [String] = [],
    endsWith: Int32? = nil, run: RunPlan? = nil
  ) {
    self.source = source
    self.mountpoint = mountpoint
    self.scenario = scenario
    self.subtype = subtype
    self.log = log
    self.logIsDefault = logIsDefault
    self.cacheDirectory = cacheDirectory
    self.runtimeDirectory = runtimeDirectory
    self.allowOther = allowOther
    self.crossMounts = crossMounts
    self.writing = writing
    self.state = state
    self.session = session
    self.excludedDirectories = excludedDirectories
    self.argumentPolicy = argumentPolicy
    self.without = without
    self.warnings = warnings
    self.endsWith = endsWith
    self.run = run
  }

  /// SOURCE as the mount table and the log show it: the path, or the specification.
  public var sourceBytes: [UInt8] {
    switch source {
    case .directory(let path): path
    case .synthetic(let specification): Array(specification.utf8)
    }
  }

  /// The folder of this session's content: `<cacheDirectory>/<session>`.
  public var sessionCache: [UInt8] { cacheDirectory + Array("/\(session)".utf8) }
}

/// What a volume uses of the kernel when it is there, and can do without. Each can be switched off, to test the
/// fallback or to see what an older kernel would do.
public enum FastPath: String, Sendable, Codable, CaseIterable {
  /// The kernel reads content files itself. Without it the page cache serves resident files.
  case passthrough
  /// Listings come with attributes. Without it each name of a listing costs a lookup of its own.
  case readdirplus
  /// MAP_SHARED works on direct opens. Without it opens of dataless files go through the page cache, and the ranges and
  /// the number of reads in the log are the kernel's.
  case directMapping = "direct-mapping"
  /// All names can be dropped at once. Without it absent names are not cached, and each name of an evicted directory is
  /// dropped by itself.
  case nameEpoch = "name-epoch"
}

/// What the command line may know of synthetic sources: whether a text means one, and whether it is well formed.
public enum SyntheticSource {
  /// Whether `text` starts like a specification (`synthetic:`) and hence is no directory.
  public static func isSpecification(_ text: String) -> Bool { SyntheticSpecification.isSpecification(text) }

  /// - Throws: EINVAL, naming the part of the specification that is wrong and what is expected.
  public static func check(_ text: String) throws(FSError) { _ = try SyntheticSpecification(parsing: text) }
}
