/// The paths of a checked mount, absolute and without symbolic links.
public struct PreflightResult: Sendable, Codable, Equatable {
  public var source: VolumeConfiguration.Source
  public var mountpoint: [UInt8]
  public var log: [UInt8]
  public var cacheDirectory: [UInt8]
  /// Our own directories that lie in SOURCE.
  public var excludedDirectories: [[UInt8]]
  /// What should be said but does not stand against the mount, one sentence each.
  public var warnings: [String]

  public init(
    source: VolumeConfiguration.Source, mountpoint: [UInt8], log: [UInt8], cacheDirectory: [UInt8],
    excludedDirectories: [[UInt8]], warnings: [String]
  ) {
    self.source = source
    self.mountpoint = mountpoint
    self.log = log
    self.cacheDirectory = cacheDirectory
    self.excludedDirectories = excludedDirectories
    self.warnings = warnings
  }
}
