internal import CFuse3
internal import Glibc
internal import SystemPackage

/// Mounting and unmounting, as root by system calls, as an ordinary user by fusermount3.
///
/// libfuse's fuse_session_mount would do, but says why it failed only on stderr, and forks; and its unmount closes a
/// descriptor under the feet of those who still use it.
enum Mounting {
  private static let detach: Int32 = 2
  private static let force: Int32 = 1

  /// Mounts and returns the device, close-on-exec, from which the requests come.
  static func mount(_ request: MountRequest) throws(FuseMountError) -> Int32 {
    keepStandardDescriptorsOpen()
    let mode = try directoryMode(request.mountpoint)
    guard geteuid() == 0 else { return try MountProgram.mount(request) }
    let device = try openDevice()
    let data = request.kernelData(
      device: device, rootMode: mode, uid: UInt32(getuid()), gid: UInt32(getgid()))
    let code = mountCall(request, data: data)
    if code == 0 { return device }
    close(device)
    if code == EPERM {
      // Root of a container without CAP_SYS_ADMIN, perhaps with a fusermount3 that may.
      return try MountProgram.mount(request)
    }
    throw FuseMountError(
      .refused, errno: Errno(rawValue: code), "the kernel did not mount the volume", detail: "\(Errno(rawValue: code))")
  }

  /// The st_mode of the mountpoint, which must be a directory: the kernel and fusermount3 would mount on a file, too.
  private static func directoryMode(_ mountpoint: [UInt8]) throws(FuseMountError) -> UInt32 {
    var information = stat()
    let path = mountpoint + [0]
    let result = path.withUnsafeBytes { bytes in
      bytes.baseAddress.map { stat($0.assumingMemoryBound(to: CChar.self), &information) }
    }
    guard result == 0 else {
      let code = Errno(rawValue: errno)
      throw FuseMountError(
        .mountpoint, errno: code, "the mountpoint cannot be reached", remedy: "It must be a directory that exists.",
        detail: "\(code)")
    }
    guard UInt32(information.st_mode) & 0o170000 == 0o040000 else {
      throw FuseMountError(
        .mountpoint, errno: .notDirectory, "the mountpoint is not a directory", remedy: "It must be a directory.")
    }
    return UInt32(information.st_mode)
  }

  /// Detaches the mount: its name is gone at once; the connection lives until the device is closed.
  static func unmountLazily(_ mountpoint: [UInt8]) throws(FuseMountError) {
    let code = unmountCall(mountpoint, flags: detach)
    if code == 0 || code == EINVAL { return }
    guard code == EPERM else {
      throw FuseMountError(
        .refused, errno: Errno(rawValue: code), "the kernel did not unmount the volume",
        detail: "\(Errno(rawValue: code))")
    }
    try MountProgram.unmountLazily(mountpoint)
  }

  /// Aborts the connection: every caller that waits, wherever, gets ECONNABORTED. Root only. The call itself fails with
  /// EBUSY while callers are inside, after having aborted.
  static func abort(_ mountpoint: [UInt8]) -> Errno? {
    let code = unmountCall(mountpoint, flags: force)
    return code == 0 || code == EBUSY ? nil : Errno(rawValue: code)
  }

  private static func openDevice() throws(FuseMountError) -> Int32 {
    let device = open("/dev/fuse", O_RDWR | O_CLOEXEC)
    guard device < 0 else { return device }
    let code = Errno(rawValue: errno)
    switch code {
    case .noSuchFileOrDirectory, .noSuchAddressOrDevice, Errno(rawValue: ENODEV): throw FuseMountError.noDevice
    default: throw FuseMountError.deviceNotPermitted(errno: code, detail: "\(code)")
    }
  }

  private static func mountCall(_ request: MountRequest, data: String) -> Int32 {
    let source = request.source + [0]
    let target = request.mountpoint + [0]
    return source.withUnsafeBytes { source in
      target.withUnsafeBytes { target in
        data.withCString { data in
          CFuse3.mount(
            source.baseAddress?.assumingMemoryBound(to: CChar.self),
            target.baseAddress?.assumingMemoryBound(to: CChar.self), request.type, request.flags, data) == 0 ? 0 : errno
        }
      }
    }
  }

  /// UMOUNT_NOFOLLOW (8), so that a link put in the mountpoint's place leads nowhere else.
  private static func unmountCall(_ mountpoint: [UInt8], flags: Int32) -> Int32 {
    let target = mountpoint + [0]
    return target.withUnsafeBytes {
      umount2($0.baseAddress?.assumingMemoryBound(to: CChar.self), flags | 8) == 0 ? 0 : errno
    }
  }

  /// The device must not become descriptor 0, 1 or 2, into which anybody may print.
  private static func keepStandardDescriptorsOpen() {
    var descriptor = open("/dev/null", O_RDWR)
    while (0...2).contains(descriptor) { descriptor = open("/dev/null", O_RDWR) }
    if descriptor > 2 { close(descriptor) }
  }
}
