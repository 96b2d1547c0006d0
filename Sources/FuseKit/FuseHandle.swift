/// The number of one open file or directory, chosen by the file system in its open answer and handed back with every
/// request made through that open. C: `fuse_file_info.fh`.
public struct FuseHandle: Sendable, Hashable, RawRepresentable {
  public let rawValue: UInt64

  public init(rawValue: UInt64) { self.rawValue = rawValue }
}
