internal import CDatalessLinux
internal import Glibc

/// Which mount of a file system a directory lies on, told from all others since, and of, this boot: as long as it is
/// the same, the page cache has what was written, whatever has become of the writer.
struct MountIdentity: Equatable {
  /// /proc/sys/kernel/random/boot_id.
  let boot: [UInt8]
  /// As statx(2) tells it (STATX_MNT_ID_UNIQUE, Linux 6.8): never given twice.
  let mount: UInt64

  private static let uniqueMount: UInt32 = 0x4000
  private static let bootLengthMax = 64

  /// - Returns: nil where the kernel does not tell.
  init?(of directory: CInt) {
    var status = clinux_statx()
    let result = clinux_statx_call(directory, "", CLINUX_AT_EMPTY_PATH, Self.uniqueMount, &status)
    guard result >= 0, status.mask & Self.uniqueMount != 0 else { return nil }
    let file = Glibc.open("/proc/sys/kernel/random/boot_id", O_RDONLY | CLINUX_O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var buffer = [UInt8](repeating: 0, count: Self.bootLengthMax)
    let count = read(file, &buffer, buffer.count)
    guard count > 0 else { return nil }
    boot = Array(buffer[..<count])
    mount = status.mount_id
  }

  init(boot: [UInt8], mount: UInt64) {
    self.boot = boot
    self.mount = mount
  }
}
