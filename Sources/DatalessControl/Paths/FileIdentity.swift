import Glibc

/// What a path names, however it is spelled: a file that is there by its number, one that is not there yet by the
/// number of its directory and its name in it.
public struct FileIdentity: Equatable, Sendable {
  /// As the kernel follows of one path.
  private static let linksMax = 40
  private static let targetBytesMax = 4_096

  private let device: UInt64
  private let inode: UInt64
  /// Empty for a file that is there.
  private let name: [UInt8]

  /// nil for `-`, and for what is there and no regular file: a device, a pipe or a directory is not replaced.
  public init?(_ path: [UInt8]) {
    guard path != [UInt8(ascii: "-")] else { return nil }
    var path = path
    // Where a link leads to that is not there yet.
    for _ in 0..<Self.linksMax {
      if let status = Self.status(path) {
        guard status.st_mode & S_IFMT == S_IFREG else { return nil }
        (device, inode, name) = (UInt64(status.st_dev), UInt64(status.st_ino), [])
        return
      }
      guard let target = Self.target(of: path) else { break }
      path = target.first == PathBytes.slash ? target : Self.folder(of: path) + target
    }
    guard let folder = Self.status(Self.folder(of: path)) else {
      (device, inode, name) = (0, 0, path)
      return
    }
    (device, inode, name) = (UInt64(folder.st_dev), UInt64(folder.st_ino), PathBytes.lastComponent(path))
  }

  /// nil for what is open and no regular file, or not open.
  public init?(descriptor: CInt) {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    (device, inode, name) = (UInt64(status.st_dev), UInt64(status.st_ino), [])
  }

  /// With a slash at its end.
  private static func folder(of path: [UInt8]) -> [UInt8] {
    path.lastIndex(of: PathBytes.slash).map { Array(path[...$0]) } ?? Array("./".utf8)
  }

  private static func status(_ path: [UInt8]) -> stat? {
    var status = stat()
    let result = named(path) { stat($0, &status) }
    return result == 0 ? status : nil
  }

  private static func target(of link: [UInt8]) -> [UInt8]? {
    var buffer = [CChar](repeating: 0, count: targetBytesMax)
    let count = named(link) { readlink($0, &buffer, targetBytesMax) }
    return count > 0 ? buffer.prefix(count).map { UInt8(bitPattern: $0) } : nil
  }

  private static func named<Result>(_ path: [UInt8], _ body: (UnsafePointer<CChar>) -> Result) -> Result {
    body((path + [0]).map { CChar(bitPattern: $0) })
  }
}
