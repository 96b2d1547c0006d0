import DatalessCore
import DatalessStores
import FuseKit
import Glibc

/// What statfs(2) of a volume shows.
enum SpaceReport {
  /// - Parameter content: Where programs write, of a volume on which they can: the room is there. nil: SOURCE's numbers
  ///   as they were at the mount.
  static func make(
    _ store: VolumeStore, _ content: DiskContentStore?
  ) throws -> @Sendable () -> FuseKit.FileSystemStatistics {
    let numbers = try store.statistics()
    guard let content else { return { numbers } }
    return { room(in: content.descriptor, names: numbers) ?? numbers }
  }

  private static func room(
    in directory: CInt, names: FuseKit.FileSystemStatistics
  ) -> FuseKit.FileSystemStatistics? {
    var room = statvfs()
    guard fstatvfs(directory, &room) == 0 else { return nil }
    return FuseKit.FileSystemStatistics(
      blockSize: UInt32(clamping: room.f_frsize), blocks: UInt64(room.f_blocks), freeBlocks: UInt64(room.f_bfree),
      availableBlocks: UInt64(room.f_bavail), files: UInt64(room.f_files), freeFiles: UInt64(room.f_ffree),
      nameLengthMax: names.nameLengthMax)
  }
}

extension FuseKit.FileSystemStatistics {
  /// A quota is all the room that there is.
  func limited(by room: RoomStatus) -> FuseKit.FileSystemStatistics {
    guard let quota = room.quota, blockSize > 0 else { return self }
    var limited = self
    limited.blocks = UInt64(clamping: quota / Int64(blockSize))
    let free = UInt64(clamping: max(0, quota - room.used - room.pending) / Int64(blockSize))
    limited.freeBlocks = min(freeBlocks, free)
    limited.availableBlocks = min(availableBlocks, free)
    return limited
  }
}
