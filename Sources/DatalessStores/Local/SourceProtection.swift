/// How firmly a local store is kept from changing its SOURCE.
public enum SourceProtection: Sendable, Hashable {
  /// SOURCE is read through a private, read-only copy of its mount: the kernel itself refuses every write, access times of
  /// files, directories and symbolic links included. Needs CAP_SYS_ADMIN, here or in a user namespace of our own.
  case readOnlyClone

  /// SOURCE is read through an ordinary descriptor: nothing is opened for writing, and access times are spared by O_NOATIME
  /// where the kernel grants it, which is for the user's own files. `reason` says why it is not a clone.
  case plainDescriptor(reason: String)

  /// The stable name in `status` and in the log.
  public var name: String {
    switch self {
    case .readOnlyClone: "read_only_clone"
    case .plainDescriptor: "plain_descriptor"
    }
  }
}
