internal import CDatalessLinux
internal import Glibc
internal import SystemPackage

/// Deletes a tree of any size and depth with three descriptors and no recursion.
///
/// A directory found anywhere in the tree is first moved up into the tree's own top directory, then emptied there. So
/// no path grows, no descriptor is kept per level, and what a symbolic link points to is never touched: links are
/// unlinked. Two processes may delete the same tree at once.
enum TreeRemoval {
  /// LIMIT: names in a row that are listed and do not go. Another process that deletes the same tree can be just ahead,
  /// so that each is gone; a file system that lists what it cannot find, or has no end, would keep us for ever.
  static let missesMax = 1 << 20
  /// LIMIT: passes in a row that end so, and passes at all: one is needed for each level of a tree.
  private static let idlePassesMax = 16
  private static let passesMax = 1 << 16
  /// LIMIT: directories that are kept in memory before they are emptied.
  fileprivate static let directoriesMax = 1 << 16

  /// - Parameter missesMax: Fewer, for tests.
  /// - Throws: The first error other than ENOENT if something is left; everything else is removed then. EIO, ENOTEMPTY
  ///   for a file system that goes on listing names which it cannot find.
  static func remove(_ name: [UInt8], in parent: CInt, missesMax: Int = missesMax) throws(Errno) {
    let top: OwnedDescriptor
    do throws(Errno) {
      top = try openDirectory(name, in: parent)
    } catch {
      switch error {
      case .noSuchFileOrDirectory: return
      case .notDirectory, .tooManySymbolicLinkLevels:
        _ = try unlink(name, in: parent, 0)
        return
      default: throw error
      }
    }
    var sweep = Sweep(top: top.raw, missesMax: missesMax)
    // Each pass empties the directories that were moved up in the pass before, and what a file system skipped because
    // the directory changed while it was read.
    var idlePasses = 0
    for _ in 0..<passesMax where idlePasses < idlePassesMax {
      guard try sweep.pass() else { break }
      idlePasses = sweep.misses == 0 ? 0 : idlePasses + 1
    }
    do throws(Errno) {
      _ = try unlink(name, in: parent, AT_REMOVEDIR)
    } catch {
      throw sweep.failure ?? error
    }
  }

  /// Opens a directory for emptying, and makes sure that it may be emptied.
  fileprivate static func openDirectory(_ name: [UInt8], in parent: CInt) throws(Errno) -> OwnedDescriptor {
    let flags = O_RDONLY | CLINUX_O_DIRECTORY | CLINUX_O_NONBLOCK
    do throws(Errno) {
      let directory = try SystemCall.openBeneath(parent, name, flags: flags, crossMounts: false)
      if try FileStatus(of: directory.raw).mode & 0o700 != 0o700 { _ = fchmod(directory.raw, 0o700) }
      return directory
    } catch {
      guard error == .permissionDenied else { throw error }
    }
    // Not readable, but its owner can change that: through a handle, so that no symbolic link is followed.
    let pin = try SystemCall.openBeneath(
      parent, name, flags: CLINUX_O_PATH | CLINUX_O_DIRECTORY, crossMounts: false)
    if chmod(LocalStore.procPath(of: pin.raw), 0o700) != 0 { throw .permissionDenied }
    return try SystemCall.openBeneath(parent, name, flags: flags, crossMounts: false)
  }

  /// unlinkat(2). - Returns: False for a name that is gone already, which is no error.
  fileprivate static func unlink(_ name: [UInt8], in parent: CInt, _ flags: CInt) throws(Errno) -> Bool {
    try SystemCall.withPath(name[...]) { (text) throws(Errno) in
      try unlink(text, in: parent, flags)
    }
  }

  fileprivate static func unlink(
    _ name: UnsafePointer<CChar>, in parent: CInt, _ flags: CInt
  ) throws(Errno) -> Bool {
    if unlinkat(parent, name, flags) == 0 { return true }
    let error = errno
    if error != ENOENT { throw Errno(rawValue: error) }
    return false
  }
}

/// The state of one removal.
private struct Sweep {
  let top: CInt
  /// The first error met.
  var failure: Errno?
  /// Names that did not go since the last one that was removed or moved.
  private(set) var misses = 0
  private let missesMax: Int
  private var moved = 0

  init(top: CInt, missesMax: Int) {
    self.top = top
    self.missesMax = missesMax
  }

  /// Goes through the top directory once.
  ///
  /// - Returns: Whether anything was removed or moved, or gone, so that another pass may find more to do.
  mutating func pass() throws(Errno) -> Bool {
    var (progress, directories) = try unlinkFiles(in: top)
    for name in directories {
      do throws(Errno) {
        let directory = try TreeRemoval.openDirectory(name, in: top)
        progress = try empty(directory.raw) || progress
        try count(try TreeRemoval.unlink(name, in: top, AT_REMOVEDIR))
        progress = true
      } catch {
        // What it still holds is for the next pass.
        if error != .directoryNotEmpty && error != .fileExists { keepFirst(error) }
      }
    }
    return progress
  }

  /// Unlinks the files of one directory below the top, and moves its directories up.
  private mutating func empty(_ directory: CInt) throws(Errno) -> Bool {
    var (progress, directories) = try unlinkFiles(in: directory)
    for name in directories {
      moved += 1
      // No other process that deletes the same tree uses this name.
      let target = Array("moved-\(getpid())-\(moved)".utf8)
      do throws(Errno) {
        let isMoved: Bool = try SystemCall.withPath(name[...]) { (from) throws(Errno) in
          try SystemCall.withPath(target[...]) { (to) throws(Errno) in
            if renameat(directory, from, top, to) == 0 { return true }
            if errno != ENOENT { throw Errno(rawValue: errno) }
            return false
          }
        }
        try count(isMoved)
        progress = true
      } catch {
        keepFirst(error)
      }
    }
    return progress
  }

  /// Unlinks everything in a directory that is not a directory, while reading it: no list of a million names is built.
  private mutating func unlinkFiles(in directory: CInt) throws(Errno) -> (progress: Bool, directories: [[UInt8]]) {
    if lseek(directory, 0, SEEK_SET) < 0 { throw Errno(rawValue: errno) }
    var progress = false
    var directories: [[UInt8]] = []
    do throws(DirectoryReader.Failure<Errno>) {
      try DirectoryReader.forEach(directory) { (entry) throws(Errno) in
        // The others are found when these have gone.
        if directories.count >= TreeRemoval.directoriesMax { throw .argListTooLong }
        guard entry.type != DirectoryReader.directoryType else {
          directories.append(entry.nameBytes)
          return
        }
        do throws(Errno) {
          try count(try TreeRemoval.unlink(entry.name, in: directory, 0))
          progress = true
        } catch {
          // EISDIR (Linux) or EPERM (POSIX): a directory on a file system that does not tell types.
          if entry.type == DirectoryReader.unknownType, error == .isDirectory || error == .notPermitted {
            directories.append(entry.nameBytes)
          } else {
            keepFirst(error)
            try count(false)
          }
        }
      }
    } catch {
      switch error {
      // Another process that deletes the same tree has removed the directory while we read it.
      case .system(.noSuchFileOrDirectory), .body(.argListTooLong): break
      case .system(let error): throw error
      case .body(let error): throw failure ?? error
      }
    }
    return (progress, directories)
  }

  /// Takes note of a name that was removed, or of one that was not. - Throws: EIO for too many of these in a row.
  private mutating func count(_ isDone: Bool) throws(Errno) {
    misses = isDone ? 0 : misses + 1
    if misses > missesMax { throw .ioError }
  }

  private mutating func keepFirst(_ error: Errno) { failure = failure ?? error }
}
