/// What materializes on a volume, and with which errnos it fails.
public struct ProfileStatus: Codable, Sendable, Equatable {
  /// `macos`, `open`, `windows`, `openvfs`, or `custom` for one of the user's own.
  public var name: String
  /// The operations that materialize a file: `read`, `open`, `xattr`, `seek`.
  public var files: [String]
  /// The operations that list a directory: `readdir`, `lookup`, `open`, `xattr`.
  public var directories: [String]
  /// Names of errnos, by `refused`, `offline`, `timeout`, `superseded`, `gone` and `failed`, which is absent where the store's
  /// own errno stays.
  public var errnos: [String: String]
  /// The same for directories.
  public var directoryErrnos: [String: String]
  /// `stale` or `keep`.
  public var residentChanges: String

  enum CodingKeys: String, CodingKey, CaseIterable {
    case name, files, directories, errnos
    case directoryErrnos = "directory_errnos"
    case residentChanges = "resident_changes"
  }

  public init(
    name: String, files: [String], directories: [String], errnos: [String: String], directoryErrnos: [String: String],
    residentChanges: String
  ) {
    self.name = name
    self.files = files
    self.directories = directories
    self.errnos = errnos
    self.directoryErrnos = directoryErrnos
    self.residentChanges = residentChanges
  }
}
