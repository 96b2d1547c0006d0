import DatalessCore
import DatalessStores
import FuseKit
import SystemPackage

/// The backing store of a volume with what only its own kind can tell.
enum VolumeStore {
  case local(LocalStore)
  case synthetic(SyntheticStore)

  /// Opens SOURCE.
  ///
  /// - Throws: `FSError` as the stores do.
  init(_ configuration: VolumeConfiguration) throws {
    switch configuration.source {
    case .directory(let path):
      let excluded = configuration.excludedDirectories.compactMap { directory in
        try? FileIdentity(of: Self.filePath(directory))
      }
      self = .local(
        try LocalStore(source: Self.filePath(path), crossMounts: configuration.crossMounts, excluded: excluded))
    case .synthetic(let text):
      self = .synthetic(SyntheticStore(try SyntheticSpecification(parsing: text)))
    }
  }

  /// A path of any bytes.
  static func filePath(_ bytes: [UInt8]) -> FilePath {
    (bytes + [0]).withUnsafeBufferPointer { buffer in
      buffer.withMemoryRebound(to: CChar.self) { FilePath(platformString: $0.baseAddress!) }
    }
  }

  var store: EngineStore {
    switch self {
    case .local(let store): .blocking(store)
    case .synthetic(let store): .blocking(store)
    }
  }

  var root: ItemAttributes {
    switch self {
    case .local(let store): store.root
    case .synthetic(let store): store.root
    }
  }

  /// What statfs(2) of the volume shows: SOURCE's numbers as they were at the mount.
  func statistics() throws -> FuseKit.FileSystemStatistics {
    let numbers: DatalessStores.FileSystemStatistics
    switch self {
    case .local(let store): numbers = try store.statistics()
    case .synthetic(let store): numbers = store.statistics()
    }
    return FuseKit.FileSystemStatistics(
      blockSize: UInt32(clamping: numbers.blockSize), blocks: numbers.blocks, freeBlocks: numbers.freeBlocks,
      availableBlocks: numbers.availableBlocks, files: numbers.files, freeFiles: numbers.freeFiles,
      nameLengthMax: UInt32(clamping: numbers.nameMax))
  }

  /// Mount points below SOURCE that are shown as empty directories.
  var otherFileSystems: Int {
    switch self {
    case .local(let store): store.otherFileSystems
    case .synthetic: 0
    }
  }

  /// How SOURCE is kept from being written to, access times included.
  var protection: String {
    switch self {
    case .local(let store): store.protection.name
    case .synthetic: "computed"
    }
  }

  /// What a user should know about SOURCE, as it is now.
  var warnings: [String] {
    guard case .local(let store) = self else { return [] }
    var warnings: [String] = []
    if store.atimeUnprotectedOpens > 0 {
      warnings.append(
        "\(store.atimeUnprotectedOpens) files of other owners were read without O_NOATIME: their access times in SOURCE"
          + " may have moved. Mount as root, or SOURCE with noatime, to prevent it.")
    }
    if store.unreadableEntries > 0 {
      warnings.append("\(store.unreadableEntries) names of SOURCE could not be examined and are shown with mode 0.")
    }
    return warnings
  }
}
