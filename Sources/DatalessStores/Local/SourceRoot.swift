internal import CDatalessLinux
internal import DatalessCore
internal import Glibc
internal import SystemPackage

/// The one descriptor through which a local store reads SOURCE.
struct SourceRoot: ~Copyable, Sendable {
  let descriptor: OwnedDescriptor
  let protection: SourceProtection
  /// The absolute path, for people.
  let name: String

  /// Opens SOURCE, and where possible replaces the descriptor by a private read-only clone of the mount below it.
  ///
  /// - Throws: ENOENT, ENOTDIR, EACCES and the other errnos of open(2), with a message that names SOURCE.
  init(path: FilePath) throws(FSError) {
    name = Self.absolute(path)
    do throws(Errno) {
      let plain = try Self.openDirectory(path)
      // The right to list is what open(2) checked; the right to search is what every later look-up needs.
      let status = try SystemCall.withPath([]) { (dot) throws(Errno) in try FileStatus(of: dot, in: plain.raw) }
      switch Self.clone(of: plain.raw, at: path, expecting: status.identity) {
      case .success(let clone):
        descriptor = OwnedDescriptor(clone)
        protection = .readOnlyClone
      case .failure(let error):
        descriptor = plain
        protection = .plainDescriptor(reason: "a private clone of its mount was refused (\(error.name))")
      }
    } catch {
      throw FSError(error, Self.message(for: error, source: name))
    }
  }

  private static func openDirectory(_ path: FilePath) throws(Errno) -> OwnedDescriptor {
    // SOURCE itself may be a symbolic link: the user named it. O_NONBLOCK, because it may also be a FIFO.
    let flags = O_RDONLY | O_NONBLOCK | CLINUX_O_DIRECTORY | CLINUX_O_CLOEXEC
    let result = path.withPlatformString { text in clinux_openat(CLINUX_AT_FDCWD, text, flags, 0) }
    return OwnedDescriptor(CInt(try SystemCall.check(result)))
  }

  /// A detached, recursive, private, read-only clone; it lives as long as its descriptor and shows in no mount table.
  private static func clone(
    of directory: CInt, at path: FilePath, expecting identity: FileIdentity
  ) -> Result<CInt, Errno> {
    do throws(Errno) {
      let tree: OwnedDescriptor
      do throws(Errno) {
        tree = try privilegedClone(of: directory)
      } catch {
        guard error == .notPermitted else { throw error }
        // An ordinary user may do the same in a user namespace.
        let result = path.withPlatformString { clinux_clone_mount_tree_as_user($0) }
        let other = OwnedDescriptor(CInt(try SystemCall.check(result)))
        return try checked(other, identity)
      }
      return try checked(tree, identity)
    } catch {
      return .failure(error)
    }
  }

  private static func checked(
    _ tree: consuming OwnedDescriptor, _ identity: FileIdentity
  ) throws(Errno) -> Result<CInt, Errno> {
    guard try FileStatus(of: tree.raw).identity == identity else { throw .staleNFSFileHandle }
    return .success(tree.release())
  }

  private static func privilegedClone(of directory: CInt) throws(Errno) -> OwnedDescriptor {
    let tree = OwnedDescriptor(CInt(try SystemCall.check(clinux_clone_mount_tree(directory))))
    // NODEV as well: should a file become a device node between listing and open, its driver is not reached.
    _ = try SystemCall.check(
      clinux_set_mount_tree_attributes(
        tree.raw, CLINUX_MOUNT_ATTR_RDONLY | CLINUX_MOUNT_ATTR_NODEV | CLINUX_MOUNT_ATTR_NOATIME,
        CLINUX_MOUNT_ATTR_ATIME_MASK))
    return tree
  }

  /// The path as given, made absolute. `..` is taken away by text only where it cannot follow a symbolic link.
  private static func absolute(_ path: FilePath) -> String {
    if path.components.contains(where: { $0.kind == .parentDirectory }) {
      return path.withPlatformString { text in
        guard let resolved = realpath(text, nil) else { return path.description }
        defer { free(resolved) }
        return String(cString: resolved)
      }
    }
    if path.isAbsolute { return path.lexicallyNormalized().description }
    guard let directory = getcwd(nil, 0) else { return path.description }
    defer { free(directory) }
    return FilePath(platformString: directory).pushing(path).lexicallyNormalized().description
  }

  private static func message(for error: Errno, source: String) -> String {
    switch error {
    case .noSuchFileOrDirectory: "SOURCE '\(source)' does not exist"
    case .notDirectory: "SOURCE '\(source)' is not a directory"
    case .permissionDenied: "SOURCE '\(source)' may not be read by this user"
    default: "SOURCE '\(source)' cannot be opened"
    }
  }
}

/// How firmly a local store is kept from changing its SOURCE.
public enum SourceProtection: Sendable, Hashable {
  /// SOURCE is read through a private, read-only copy of its mount: the kernel itself refuses every write, access times
  /// of files, directories and symbolic links included. Needs CAP_SYS_ADMIN, here or in a user namespace of our own.
  case readOnlyClone

  /// SOURCE is read through an ordinary descriptor: nothing is opened for writing, and access times are spared by
  /// O_NOATIME where the kernel grants it, which is for the user's own files. `reason` says why it is not a clone.
  case plainDescriptor(reason: String)

  /// The stable name in `status` and in the log.
  public var name: String {
    switch self {
    case .readOnlyClone: "read_only_clone"
    case .plainDescriptor: "plain_descriptor"
    }
  }
}
