import DatalessControl
import Glibc

/// Whether this machine lets this user mount a FUSE file system.
struct FuseAvailability {
  var userID = geteuid()
  var device = "/dev/fuse"
  /// Major and minor number that it has to have: FUSE's are 10 and 229 (admin-guide/devices.txt of the kernel).
  var deviceNumber = (major: UInt64(10), minor: UInt64(229))
  var configuration = "/etc/fuse.conf"
  var processStatus = "/proc/self/status"
  /// Where fusermount3 is looked for, as libfuse does: its own directory first, then $PATH.
  var searchPath = ["/usr/bin", "/bin"] + Self.programDirectories()

  /// - Throws: `LifecycleError` with what is missing and how to get it.
  func check(allowOther: Bool) throws(LifecycleError) {
    try checkDevice()
    if userID == 0 {
      try checkCapability()
    } else {
      try checkHelper()
      if allowOther { try checkAllowOther() }
    }
  }

  private static func programDirectories() -> [String] {
    guard let path = getenv("PATH") else { return [] }
    return String(cString: path).split(separator: ":").map(String.init)
  }

  private func checkDevice() throws(LifecycleError) {
    let path = Array(device.utf8)
    if case .failure(let failure) = CPath.status(path) {
      throw LifecycleError(
        "cannot mount: \(device) is missing: \(ErrorText.reason(failure.number)). Load the module (modprobe fuse), "
          + "or start the container with --device /dev/fuse --cap-add SYS_ADMIN.")
    }
    // fusermount3 opens it with the rights of the user that calls it.
    let descriptor = CPath.with(path) { open($0, O_RDWR | O_CLOEXEC) }
    guard descriptor >= 0 else {
      let number = errno
      let remedy =
        switch number {
        case ENODEV, ENXIO: "Load the module: modprobe fuse."
        case EACCES where userID != 0: "As root: chmod 666 \(device)."
        default: "Start the container with --device /dev/fuse --cap-add SYS_ADMIN, or mount outside of it."
        }
      throw LifecycleError("cannot mount: \(device) cannot be opened: \(ErrorText.reason(number)). \(remedy)")
    }
    defer { close(descriptor) }
    // Containers hide a device by another one in its place: it can be opened, and nothing can be mounted.
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFCHR,
      status.st_rdev == deviceNumber.major << 8 | deviceNumber.minor
    else {
      throw LifecycleError(
        "cannot mount: \(device) is something else than FUSE's device (\(deviceNumber.major), \(deviceNumber.minor)) "
          + "(ENODEV). Start the container with --device /dev/fuse --cap-add SYS_ADMIN, or mount outside of it.")
    }
  }

  private func checkCapability() throws(LifecycleError) {
    guard let bytes = try? FileBytes.read(processStatus) else { return }
    let prefix = Array("CapEff:".utf8)
    for line in bytes.split(separator: UInt8(ascii: "\n")) where line.starts(with: prefix) {
      let digits = String(decoding: line.dropFirst(prefix.count).filter { $0 > 0x20 }, as: UTF8.self)
      // CAP_SYS_ADMIN is bit 21.
      guard let mask = UInt64(digits, radix: 16), mask & (1 << 21) == 0 else { return }
      throw LifecycleError(
        "cannot mount: no permission (EPERM): this root user lacks CAP_SYS_ADMIN. Start the container with "
          + "--cap-add SYS_ADMIN --device /dev/fuse, or mount outside of it.")
    }
  }

  private func checkHelper() throws(LifecycleError) {
    for directory in searchPath {
      let path = Array("\(directory)/fusermount3".utf8)
      guard case .success(let status) = CPath.status(path) else { continue }
      guard status.st_mode & S_ISUID != 0, status.st_uid == 0 else {
        throw LifecycleError(
          "cannot mount: \(directory)/fusermount3 is not set-user-id root (EPERM), so it cannot mount for you. "
            + "Reinstall it (apt install --reinstall fuse3) or mount as root.")
      }
      return
    }
    throw LifecycleError(
      "cannot mount: fusermount3 is not installed (ENOENT); an ordinary user needs it. "
        + "Install it (apt install fuse3) or mount as root.")
  }

  /// - Throws: `LifecycleError` when this user may not let others use his volumes.
  func checkAllowOther() throws(LifecycleError) {
    let lines = ((try? FileBytes.read(configuration)) ?? []).split(separator: UInt8(ascii: "\n"))
    let isAllowed = lines.contains { line in
      line.filter { $0 > 0x20 }.elementsEqual("user_allow_other".utf8)
    }
    guard isAllowed else {
      throw LifecycleError(
        "cannot mount: --allow-other is not allowed to ordinary users here (EPERM). Put the line user_allow_other into "
          + "\(configuration), or mount as root.")
    }
  }
}
