/// Items of a volume that the kernel or a listing has seen so far, by kind and state.
public struct ItemCounts: Codable, Sendable, Equatable {
  /// Regular files known; the sum of the five below.
  public var files: Int64
  public var filesDataless: Int64
  public var filesMaterializing: Int64
  /// Files of which some ranges are local.
  public var filesPartial: Int64
  public var filesResident: Int64
  /// Files of size 0, which are never dataless; not counted as resident.
  public var filesEmpty: Int64
  /// Directories known; the sum of the two below and of those being listed now.
  public var directories: Int64
  public var directoriesDataless: Int64
  public var directoriesListed: Int64
  /// Symbolic links, devices, FIFOs and sockets.
  public var others: Int64
  /// Sum of the sizes of all files known.
  public var bytes: Int64
  /// Sum of the sizes of resident files.
  public var bytesResident: Int64
  /// Disk space that the content takes in the cache.
  public var localBytes: Int64
  /// Mount points inside SOURCE, which are shown as empty directories.
  public var otherFileSystems: Int64

  enum CodingKeys: String, CodingKey, CaseIterable {
    case files, directories, others, bytes
    case filesDataless = "files_dataless"
    case filesMaterializing = "files_materializing"
    case filesPartial = "files_partial"
    case filesResident = "files_resident"
    case filesEmpty = "files_empty"
    case directoriesDataless = "directories_dataless"
    case directoriesListed = "directories_listed"
    case bytesResident = "bytes_resident"
    case localBytes = "local_bytes"
    case otherFileSystems = "other_file_systems"
  }

  public init(
    files: Int64, filesDataless: Int64, filesMaterializing: Int64, filesPartial: Int64, filesResident: Int64,
    filesEmpty: Int64, directories: Int64, directoriesDataless: Int64, directoriesListed: Int64, others: Int64,
    bytes: Int64,
    bytesResident: Int64, localBytes: Int64, otherFileSystems: Int64
  ) {
    self.files = files
    self.filesDataless = filesDataless
    self.filesMaterializing = filesMaterializing
    self.filesPartial = filesPartial
    self.filesResident = filesResident
    self.filesEmpty = filesEmpty
    self.directories = directories
    self.directoriesDataless = directoriesDataless
    self.directoriesListed = directoriesListed
    self.others = others
    self.bytes = bytes
    self.bytesResident = bytesResident
    self.localBytes = localBytes
    self.otherFileSystems = otherFileSystems
  }
}
