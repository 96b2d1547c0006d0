import Glibc

/// Making of directories.
enum Directories {
  /// Makes a directory and those above it that are missing; failures show when the directory is used.
  ///
  /// - Parameter mode: Of the directories that are made, as far as the umask lets it.
  static func make(_ path: [UInt8], mode: mode_t) {
    guard path.count > 1, case .failure = CPath.status(path) else { return }
    make(CPath.parent(path), mode: 0o755)
    _ = CPath.with(path) { mkdir($0, mode) }
  }
}
