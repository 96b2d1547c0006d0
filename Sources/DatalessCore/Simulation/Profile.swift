public import SystemPackage

/// Which operations materialize, and with which errnos they fail: the ways of one kind of dataless files. Data, not
/// code.
///
/// Some operations always materialize, whatever the profile, because a volume has nothing else to answer them with:
/// read, page faults and the like of a file, listing of and lookup in a directory. A profile adds to these.
public struct Profile: Sendable, Equatable {
  /// What `status` and the log call it: a name of `named`, or `custom`.
  public var name: String
  /// What else materializes a file: any of `open`, `xattr` and `seek`.
  public var files: Triggers
  /// What else materializes a directory: any of `open` and `xattr`.
  public var directories: Triggers
  public var fileErrnos: Errnos
  /// None is ENOENT unless the user said so: readdir(3) takes it for the end of the directory, and a lookup for the
  /// absence of the name, so that a directory that could not be listed would look like an empty one.
  public var directoryErrnos: Errnos
  /// What becomes of local content when SOURCE changes. Carried for the store's refresh; no part of an attempt.
  public var residentChanges: ResidentChanges = .stale
  /// Whether a dataless file is cut off to nothing without a fetch. Else the content is fetched that is thrown away.
  public var emptiesUnread = false

  /// Operations that a profile can add to those that always materialize.
  public struct Triggers: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// open(2) and opendir(3).
    public static let open = Triggers(rawValue: 1)
    /// Getting and listing extended attributes, but that of the state and those that the kernel asks for by itself.
    public static let xattr = Triggers(rawValue: 2)
    /// lseek(2) with SEEK_DATA or SEEK_HOLE.
    public static let seek = Triggers(rawValue: 4)
  }

  /// What callers are answered with when content does not come. What a rule or a tester names, a full disk and a signal
  /// keep their own errnos.
  public struct Errnos: Sendable, Hashable {
    /// Policy does not let the caller materialize.
    public var refused: Errno
    /// The store is made unreachable (`offline`).
    public var offline: Errno
    /// `give_up_after` has passed.
    public var timeout: Errno
    /// The store has another version than the one that was listed.
    public var superseded: Errno
    /// The store has the item no more.
    public var gone: Errno
    /// Any other failure of the store; nil: the store's own errno.
    public var failed: Errno?

    public init(
      refused: Errno, offline: Errno, timeout: Errno, superseded: Errno, gone: Errno, failed: Errno? = nil
    ) {
      self.refused = refused
      self.offline = offline
      self.timeout = timeout
      self.superseded = superseded
      self.gone = gone
      self.failed = failed
    }

    /// What a failure of the store becomes.
    func answer(to storeErrno: Errno) -> Errno {
      switch storeErrno {
      case .staleNFSFileHandle: superseded
      case .noSuchFileOrDirectory: gone
      // Not the store's: the local disk is full, or the wait was ended.
      case .noSpace, .diskQuotaExceeded, .interrupted: storeErrno
      default: failed ?? storeErrno
      }
    }
  }

  public enum ResidentChanges: String, Sendable, CaseIterable {
    /// The local copy is dropped or refused: nobody reads the old version.
    case stale
    /// The local copy stays as it is until it is evicted.
    case keep
  }

  public func errnos(of kind: MaterializationKind) -> Errnos { kind == .file ? fileErrnos : directoryErrnos }

  /// The operations that materialize an item of this kind, as a scenario names them: those that always do first.
  public func triggerNames(of kind: MaterializationKind) -> [String] {
    let (always, extra) = kind == .file ? (["read"], files) : (["readdir", "lookup"], directories)
    return always + Self.extraNames.filter { extra.contains($0.trigger) }.map(\.name)
  }

  /// Whether an operation materializes an item of this kind; nil for both kinds: of one of them at least.
  public func triggers(_ trigger: Trigger, on kind: MaterializationKind? = nil) -> Bool {
    switch trigger {
    case .command, .coordinate, .eager: true
    case .read, .write, .truncate, .openTruncate, .link, .copy: kind != .directory
    case .readdir, .lookup: kind != .file
    case .open, .xattr, .seek:
      Self.extraNames.contains { name, extra in
        name == trigger.rawValue
          && (kind != .directory && files.contains(extra) || kind != .file && directories.contains(extra))
      }
    }
  }

  /// What a profile can add, with the words of the log and of scenarios.
  public static let extraNames: [(name: String, trigger: Triggers)] = [
    ("open", .open), ("xattr", .xattr), ("seek", .seek),
  ]
}

extension Profile {
  /// The default.
  ///
  /// Source: read(2), open(2) and link(2) of macOS; TN3150; xnu 11417, bsd/vfs/vfs_syscalls.c and kern_resource.c;
  /// ESTALE for what is gone: NSFileProviderError.noSuchItem as measured on macOS 26.
  public static let macos = Profile(
    name: "macos", files: [], directories: [], fileErrnos: macosErrnos, directoryErrnos: macosErrnos)

  private static let macosErrnos = Errnos(
    refused: .deadlock, offline: .timedOut, timeout: .timedOut, superseded: .staleNFSFileHandle,
    gone: .staleNFSFileHandle)

  /// Content comes at open(2), as with most Linux clients of cloud storage.
  ///
  /// Source: jstaf/onedriver, fs/fs.go (Open downloads the whole file, EREMOTEIO when that fails); none of these
  /// clients has a policy, so a refusal is macOS's.
  public static let open = Profile(
    name: "open", files: .open, directories: [], fileErrnos: openErrnos, directoryErrnos: openErrnos)

  private static let openErrnos = Errnos(
    refused: .deadlock, offline: remoteIO, timeout: remoteIO, superseded: remoteIO, gone: remoteIO, failed: remoteIO)

  private static let remoteIO = Errno(rawValue: 121)

  /// The Cloud Files API of Windows, by the errnos nearest to its error codes.
  ///
  /// Source: cfapi.h, CF_HYDRATION_POLICY_FULL (content comes at the first I/O), CF_POPULATION_POLICY_FULL (a
  /// directory's entries before an access to it is completed), CF_OPERATION_PARAMETERS (any other failure becomes
  /// STATUS_CLOUD_FILE_UNSUCCESSFUL); microsoft/Windows-classic-samples#245 (ERROR_CLOUD_FILE_ACCESS_DENIED for a
  /// process that may not hydrate).
  public static let windows: Profile = {
    var profile = Profile(
      name: "windows", files: [], directories: [], fileErrnos: windowsErrnos, directoryErrnos: windowsErrnos)
    profile.emptiesUnread = true
    return profile
  }()

  private static let windowsErrnos = Errnos(
    refused: .permissionDenied, offline: .networkUnreachable, timeout: .timedOut, superseded: .ioError, gone: .ioError,
    failed: .ioError)

  /// The FUSE layer of OpenCloud's and Nextcloud's clients.
  ///
  /// Source: opencloud-eu/openvfs, src/openvfsfuse/openvfsfuse.cpp (openVFSfuse_open: EPERM for an ignored program,
  /// ENOENT for failure and timeout alike). Its directories are never virtual: here they fail as macOS's do.
  public static let openvfs = Profile(
    name: "openvfs", files: .open, directories: [],
    fileErrnos: Errnos(
      refused: .notPermitted, offline: .noSuchFileOrDirectory, timeout: .noSuchFileOrDirectory,
      superseded: .noSuchFileOrDirectory, gone: .noSuchFileOrDirectory, failed: .noSuchFileOrDirectory),
    directoryErrnos: Errnos(
      refused: .notPermitted, offline: .timedOut, timeout: .timedOut, superseded: .staleNFSFileHandle,
      gone: .staleNFSFileHandle))

  public static let named: [Profile] = [macos, open, windows, openvfs]
}
