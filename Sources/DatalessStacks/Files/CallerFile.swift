internal import CDatalessLinux
internal import Glibc

/// Opens files that a process has mapped: where the process sees them, and only if they are still the same.
public enum CallerFile {
  /// statfs(2)'s type of FUSE: a volume, or anything else that can make its reader wait.
  private static let fuse: Int = 0x6573_5546

  /// A descriptor of a mapped file, which the caller of this closes.
  ///
  /// Only in the capture process: a lookup can wait where a network file system does.
  ///
  /// - Returns: nil for what is no regular file, lies on FUSE, or cannot be opened.
  public static func open(_ mapping: Mapping, of processID: Int32) -> Int32? {
    guard mapping.isFile, !mapping.path.contains(0) else { return nil }
    let path = String(decoding: mapping.path, as: UTF8.self)
    let places = [
      // In the process' own mount namespace (S19).
      "/proc/\(processID)/root\(path)",
      // What it mapped, if another file has the name by now. Root alone may.
      "/proc/\(processID)/map_files/\(String(mapping.start, radix: 16))-\(String(mapping.end, radix: 16))",
    ]
    return places.lazy.compactMap { regular($0) { $0.st_ino == mapping.inode } }.first
  }

  /// A perf map, which nobody has mapped.
  ///
  /// - Parameter owner: Whose it must be.
  static func open(_ path: String, of processID: Int32, owner: UInt32) -> Int32? {
    regular("/proc/\(processID)/root\(path)") { $0.st_uid == owner }
  }

  /// A file of debug information, which nobody has mapped either.
  ///
  /// - Parameter path: Absolute, as the process sees it.
  static func open(_ path: String, below root: CallerRoot) -> Int32? {
    regular("." + path, below: root.descriptor) { _ in true }
  }

  /// Looks at what the path leads to before it is opened: to open a FIFO or a device does something.
  private static func regular(
    _ path: String, below directory: Int32 = AT_FDCWD, _ isRight: (stat) -> Bool
  ) -> Int32? {
    let place = openat(directory, path, CLINUX_O_PATH | O_CLOEXEC)
    guard place >= 0 else { return nil }
    defer { close(place) }
    var status = stat()
    let system = clinux_file_system_type(place)
    guard system >= 0, system != fuse, fstat(place, &status) == 0,
      status.st_mode & S_IFMT == S_IFREG, isRight(status)
    else { return nil }
    // The same file, not the same path.
    let descriptor = Glibc.open("/proc/self/fd/\(place)", O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
    return descriptor >= 0 ? descriptor : nil
  }
}

/// The root directory of a process: what is looked for below it is found when the process has gone, too.
final class CallerRoot {
  let descriptor: Int32

  /// nil when the process has gone already, or its root may not be looked at.
  init?(of processID: Int32) {
    let descriptor = Glibc.open("/proc/\(processID)/root", CLINUX_O_PATH | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }
}
