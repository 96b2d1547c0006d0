public import SystemPackage

/// Why a volume could not be mounted: a reason for the program, and a sentence for the person.
public struct FuseMountError: Error, Sendable, Equatable, CustomStringConvertible {
  /// What stands in the way.
  public enum Reason: Sendable, Hashable {
    /// There is no /dev/fuse: no kernel module, or a container without the device.
    case noDevice
    /// /dev/fuse exists but may not be opened.
    case deviceNotPermitted
    /// An ordinary user needs the program fusermount3, and it is not there.
    case noMountProgram
    /// `allowOther` needs user_allow_other in /etc/fuse.conf.
    case allowOtherForbidden
    /// mount_max of /etc/fuse.conf is reached.
    case tooManyMounts
    /// The mountpoint does not exist, is no directory, or may not be mounted on by this user.
    case mountpoint
    /// The kernel or fusermount3 refused for another reason, as `detail` says.
    case refused
    /// libfuse did not make a session.
    case library
  }

  public let reason: Reason
  /// The errno, where one is known.
  public let errno: Errno?
  /// What is wrong and where; lower case, no full stop.
  public let message: String
  /// What to do about it; a sentence with its full stop, or empty.
  public let remedy: String
  /// What fusermount3, libfuse or the kernel said, in one line; may be empty.
  public let detail: String

  init(_ reason: Reason, errno: Errno? = nil, _ message: String, remedy: String = "", detail: String = "") {
    self.reason = reason
    self.errno = errno
    self.message = message
    self.remedy = remedy
    self.detail = detail
  }

  public var description: String {
    var text = message
    if !detail.isEmpty { text += ": \(detail)" }
    text += "."
    if !remedy.isEmpty { text += " \(remedy)" }
    return text
  }
}
