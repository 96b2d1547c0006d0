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
  public var runtimeDirectory: String
  public var allowOther: Bool
  /// The longest delay that was asked for.
  public var latencyNanoseconds: Int64

  public init(
    source: VolumeConfiguration.Source, mountpoint: [UInt8], isTemporary: Bool = false, log: [UInt8],
    logIsDefault: Bool,
    cacheDirectory: [UInt8], runtimeDirectory: String, allowOther: Bool, latencyNanoseconds: Int64
  ) {
    self.source = source
    self.mountpoint = mountpoint
    self.isTemporary = isTemporary
    self.log = log
    self.logIsDefault = logIsDefault
    self.cacheDirectory = cacheDirectory
    self.runtimeDirectory = runtimeDirectory
    self.allowOther = allowOther
    self.latencyNanoseconds = latencyNanoseconds
  }
}
