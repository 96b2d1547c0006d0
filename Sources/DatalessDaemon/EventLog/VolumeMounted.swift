/// The first record of a session.
struct VolumeMounted: Sendable {
  /// The directory, or the synthetic specification, as given.
  var source: [UInt8]
  var mountpoint: [UInt8]
  /// The options of the volume, an object.
  var options: LogValue
  /// The daemon's process id.
  var pid: Int32
  /// Kernel release, and the version of libfuse at run time.
  var kernel: String
  var libfuse: String
  /// What the kernel granted, an object of booleans or strings.
  var fastPaths: LogValue
  var readOnly: Bool
}
