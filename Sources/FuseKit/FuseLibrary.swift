internal import CFuse3

/// The libfuse that this process has loaded.
public enum FuseLibrary {
  /// Its version at run time, such as `3.14.0`. C: `fuse_pkgversion`.
  public static var version: String { String(cString: fuse_pkgversion()) }
}
