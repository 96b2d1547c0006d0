public import DatalessCore

/// What the checks before a mount look at.
public struct PreflightRequest: Sendable, Codable, Equatable {
  /// SOURCE; a directory's path as given, absolute or not.
  public var source: VolumeConfiguration.Source
  /// MOUNTPOINT as given, absolute or not.
  public var mountpoint: [UInt8]
  /// Whether `run` has chosen the mountpoint, so that remedies speak of SOURCE.
  public var isTemporary: Bool
  public var log: [UInt8]
  /// A log in the default directory may lie in SOURCE: that directory is left out of the listing then.
  public var logIsDefault: Bool
  public var cacheDirectory: [UInt8]
  /// Where the volume is kept; nil if it is not.
  public var state: [UInt8]?
  public var runtimeDirectory: String
  public var allowOther: Bool
  /// The longest delay that was asked for.
  public var longestWait: Nanoseconds

  public init(
    source: VolumeConfiguration.Source, mountpoint: [UInt8], isTemporary: Bool = false, log: [UInt8],
    logIsDefault: Bool,
    cacheDirectory: [UInt8], state: [UInt8]? = nil, runtimeDirectory: String, allowOther: Bool, longestWait: Nanoseconds
  ) {
    self.source = source
    self.mountpoint = mountpoint
    self.isTemporary = isTemporary
    self.log = log
    self.logIsDefault = logIsDefault
    self.cacheDirectory = cacheDirectory
    self.state = state
    self.runtimeDirectory = runtimeDirectory
    self.allowOther = allowOther
    self.longestWait = longestWait
  }
}

/// What the checks before a mount found.
public enum PreflightAnswer: Sendable, Codable, Equatable {
  /// Nothing stands against the mount.
  case passed(PreflightResult)
  /// A reason against it, as one line.
  case failed(message: String, exitCode: Int32)
  /// MOUNTPOINT is still covered by the mount of a dead daemon, which has to go first.
  case deadMount(mountpoint: [UInt8])
}

/// The paths of a checked mount, absolute and without symbolic links.
public struct PreflightResult: Sendable, Codable, Equatable {
  public var source: VolumeConfiguration.Source
  public var mountpoint: [UInt8]
  public var log: [UInt8]
  public var cacheDirectory: [UInt8]
  public var state: [UInt8]?
  /// Our own directories that lie in SOURCE.
  public var excludedDirectories: [[UInt8]]
  /// What should be said but does not stand against the mount, one sentence each.
  public var warnings: [String]

  public init(
    source: VolumeConfiguration.Source, mountpoint: [UInt8], log: [UInt8], cacheDirectory: [UInt8],
    state: [UInt8]? = nil, excludedDirectories: [[UInt8]], warnings: [String]
  ) {
    self.source = source
    self.mountpoint = mountpoint
    self.log = log
    self.cacheDirectory = cacheDirectory
    self.state = state
    self.excludedDirectories = excludedDirectories
    self.warnings = warnings
  }
}
