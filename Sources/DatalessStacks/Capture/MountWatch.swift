internal import Glibc

/// The FUSE mounts that this process sees, read again only when a mount has come or gone. For one thread.
public final class MountWatch {
  private var descriptor: Int32 = -1
  private var known: Set<DeviceNumber>?

  public init() {}

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// nil when it cannot be told: then nobody's memory may be read.
  public func devices() -> Set<DeviceNumber>? {
    if descriptor < 0 {
      descriptor = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { return nil }
      known = read()
    } else if known == nil || hasChanged() {
      known = read()
    }
    return known
  }

  /// The kernel says once of each change that there was one. Asked before it is read: what changes meanwhile is said
  /// the next time.
  private func hasChanged() -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLPRI), revents: 0)
    return poll(&entry, 1, 0) != 0
  }

  private func read() -> Set<DeviceNumber>? {
    guard lseek(descriptor, 0, SEEK_SET) == 0,
      let text = ProcessFile.bytes(of: descriptor, limit: FuseMounts.bytesMax), text.count < FuseMounts.bytesMax
    else { return nil }
    return FuseMounts.devices(text)
  }
}
