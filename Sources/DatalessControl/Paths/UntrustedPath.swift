import DatalessCore
public import SystemPackage

/// A directory or file at one of our paths that is not used, because somebody else may have prepared it; and why.
public struct UntrustedPath: Error, Sendable, Equatable, CustomStringConvertible {
  public enum Reason: Sendable, Equatable {
    /// A system call failed; ENOENT when there is nothing of that name.
    case system(Errno)
    /// It belongs to this user, who is neither root nor the one it should belong to.
    case owner(UInt32)
    /// Others may write to it, or, for a private directory, look into it; its permission bits.
    case permissions(UInt32)
    /// A symbolic link that neither root nor the user made, or any link where none may be.
    case link
    case notDirectory
    case notRegular
    case tooLarge
    /// It lies on a file system of this type that a user serves: a look at it could wait for ever.
    case servedByUser(String)
    /// It lies where names are mounted when they are looked at (autofs): root would have another user's choice mounted.
    case automount
  }

  /// The place itself or the directory above it that is not trusted.
  public var path: [UInt8]
  public var reason: Reason

  public init(_ path: [UInt8], _ reason: Reason) {
    self.path = path
    self.reason = reason
  }

  public var errno: Errno {
    switch reason {
    case .system(let errno): errno
    case .owner, .permissions, .servedByUser, .automount: .notPermitted
    case .link: .tooManySymbolicLinkLevels
    case .notDirectory: .notDirectory
    case .notRegular: .invalidArgument
    case .tooLarge: .fileTooLarge
    }
  }

  /// What makes it one that is used, where that can be done with it: a sentence's beginning.
  ///
  /// - Parameter other: What else there is to do: "give another one with --state".
  public func remedy(or other: String) -> String {
    switch reason {
    case .permissions: "Make it yours alone (chmod go-w), or \(other)."
    case .owner: "Make it yours (chown), or \(other)."
    default: other.prefix(1).uppercased() + other.dropFirst() + "."
    }
  }

  /// `'/tmp/dataless-7' belongs to user 9 (EPERM)`: a sentence without its full stop.
  public var description: String {
    let name = "'\(TerminalText.escaped(path))'"
    let words =
      switch reason {
      case .system(let errno): ": \(errno.description)"
      case .owner(let user): " belongs to user \(user)"
      case .permissions(let mode): " has mode 0\(String(mode & 0o7777, radix: 8)), which lets others in"
      case .link: " is a symbolic link that is not followed"
      case .notDirectory: " is not a directory"
      case .notRegular: " is not a regular file"
      case .tooLarge: " is larger than any of ours"
      case .servedByUser(let type): " lies on a \(type) mount, which a user serves"
      case .automount: " lies on an autofs mount, where a look at a name has something mounted"
      }
    return "\(name)\(words) (\(errno.name))"
  }
}
