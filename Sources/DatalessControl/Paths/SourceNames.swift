import CDatalessLinux
import Glibc

/// The names in SOURCE, if it has few enough to look at all of them before a volume is mounted.
public struct SourceNames: Sendable {
  // LIMIT: names that are looked at, and folders. Of a larger SOURCE nothing is said: a warning is not worth the wait.
  static let namesMax = 10_000
  static let foldersMax = 1_000
  /// statfs(2)'s types of file systems on which a look at a name can take as long as a network does: FUSE, NFS, SMB.
  private static let slowSystems: Set<Int> = [0x6573_5546, 0x6969, 0xff53_4d42, 0xfe53_4d42, 0x517b]

  /// From SOURCE on, its own included, which is empty.
  public private(set) var paths: [[UInt8]] = [[]]
  /// Those of them that are no folders, and never dataless: symbolic links, special files, empty files.
  public private(set) var neverDataless: Set<[UInt8]> = []
  /// Of files that have several names in SOURCE: all of these.
  public private(set) var linked: [[[UInt8]]] = []

  private struct File: Hashable {
    let device: UInt64
    let inode: UInt64
  }

  private struct Name {
    var path: [UInt8]
    var isFolder = false
    var isNeverDataless = false
    /// Of a file with several names, wherever they are.
    var linked: File?
  }

  /// nil for a SOURCE that has more names, cannot be read, is slow to answer, or has other file systems mounted in it.
  public init?(below root: [UInt8]) {
    let place = open(Self.text(root), CLINUX_O_PATH | O_DIRECTORY | O_CLOEXEC)
    guard place >= 0 else { return nil }
    let system = clinux_file_system_type(place)
    close(place)
    guard system >= 0, !Self.slowSystems.contains(system), !Self.hasMounts(below: root) else { return nil }
    var folders: [[UInt8]] = [[]]
    var next = 0
    var links: [File: [[UInt8]]] = [:]
    while next < folders.count {
      guard let names = Self.names(of: folders[next], below: root, limit: Self.namesMax - paths.count) else {
        return nil
      }
      next += 1
      for name in names {
        paths.append(name.path)
        if name.isFolder { folders.append(name.path) }
        if name.isNeverDataless { neverDataless.insert(name.path) }
        if let file = name.linked { links[file, default: []].append(name.path) }
      }
      guard folders.count <= Self.foldersMax else { return nil }
    }
    linked = links.values.filter { $0.count > 1 }.sorted { $0[0].lexicographicallyPrecedes($1[0]) }
  }

  /// nil for a folder that cannot be read, and one with more names than `limit`.
  private static func names(of folder: [UInt8], below root: [UInt8], limit: Int) -> [Name]? {
    guard let directory = opendir(text(PathBytes.join(root, folder))) else { return nil }
    defer { closedir(directory) }
    var names: [Name] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: UInt8.self, capacity: 256) { Array(UnsafeBufferPointer(start: $0, count: strlen($0))) }
      }
      if name == [UInt8(ascii: ".")] || name == Array("..".utf8) { continue }
      guard names.count < limit else { return nil }
      var found = Name(path: folder.isEmpty ? name : folder + [UInt8(ascii: "/")] + name)
      found.isFolder = Int(entry.pointee.d_type) == Int(DT_DIR)
      var status = stat()
      if !found.isFolder, fstatat(dirfd(directory), text(name), &status, AT_SYMLINK_NOFOLLOW) == 0 {
        found.isFolder = status.st_mode & S_IFMT == S_IFDIR
        found.isNeverDataless = !found.isFolder && (status.st_mode & S_IFMT != S_IFREG || status.st_size == 0)
        if !found.isFolder, status.st_nlink > 1 {
          found.linked = File(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
        }
      }
      names.append(found)
    }
    return names.sorted { $0.path.lexicographicallyPrecedes($1.path) }
  }

  /// A server that is gone would hold whoever looks into what is mounted from it.
  private static func hasMounts(below root: [UInt8]) -> Bool {
    guard let table = try? MountTable.current(), let real = realpath(text(root), nil) else { return true }
    defer { free(real) }
    let path = Array(UnsafeRawBufferPointer(start: real, count: strlen(real)))
    return table.entries.contains { $0.mountPoint != path && PathBytes.isPrefix(path, of: $0.mountPoint) }
  }

  /// As the C library takes it.
  private static func text(_ path: [UInt8]) -> [CChar] { (path + [0]).map { CChar(bitPattern: $0) } }
}
