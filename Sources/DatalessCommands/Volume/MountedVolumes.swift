import DatalessControl
import Glibc

/// Which volumes a command without a path is about.
enum MountedVolumes {
  /// Those of this user. One that is mounted at several places is named once.
  static func own() throws -> [MountEntry] { try all { $0.userID == geteuid() } }

  /// Other users' volumes, for root alone; none for other callers. They come from the mount table: a daemon of another
  /// user is asked only when its volume is named.
  static func ofOthers() throws -> [MountEntry] {
    geteuid() == 0 ? try all { $0.userID != geteuid() } : []
  }

  private static func all(_ condition: (MountEntry) -> Bool) throws -> [MountEntry] {
    var seen: Set<String> = []
    return try MountTable.current().datalessEntries.filter { condition($0) && seen.insert($0.device).inserted }
  }

  /// Groups path arguments by the volume they lie on, in the order of the first path of each.
  ///
  /// - Parameter named: For what removes or drops something, as of `PathResolver.resolve`.
  /// - Throws: `ControlError.notAVolume` for a path on none.
  static func locate(
    _ paths: [PathArgument], named: Bool = false
  ) throws -> [(volume: MountEntry, paths: [[UInt8]])] {
    let resolver = try PathResolver.current()
    var groups: [(volume: MountEntry, paths: [[UInt8]])] = []
    for path in paths {
      guard let location = try resolver.locate(path.bytes, named: named) else {
        throw ControlError.notAVolume(path.bytes)
      }
      if let index = groups.firstIndex(where: { $0.volume.mountID == location.mount.mountID }) {
        groups[index].paths.append(location.relative)
      } else {
        groups.append((location.mount, [location.relative]))
      }
    }
    return groups
  }
}
