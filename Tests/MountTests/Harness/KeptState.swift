import DatalessCore
import DatalessState
import DatalessStores
import Glibc

/// A state directory as a daemon leaves it, made without one: `made` with a file in it, and `changed`, a file of
/// SOURCE.
enum KeptState {
  static let made = "made on the volume"
  static let changed = "changed on the volume"

  static func make(at path: String, source: String = "/source") throws {
    mkdir(path, 0o700)
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer { close(descriptor) }
    let directory = try StateDirectory(descriptor, path: path, .keep)
    let root = attributes(2, .directory)
    let volume = try StateVolume(directory, source: source, root: root, lane: Lane(), timer: Timer())
    let rootItem = ChangedItem(.root, inode: 2, binding: StoreBinding(key: [], version: StoreVersion(root)))
    let folder = ChangedItem(NodeID(rawValue: 10), inode: 1 << 62 | 1, binding: nil)
    let file = ChangedItem(NodeID(rawValue: 11), inode: 1 << 62 | 2, binding: nil)
    let other = ChangedItem(
      NodeID(rawValue: 12), inode: 3,
      binding: StoreBinding(key: Array("changed".utf8), version: StoreVersion(attributes(3, .file))))
    let changes: [StateChange] = [
      .together([
        .made(folder, attributes(folder.inode, .directory), target: []),
        .named(folder, name: Array("made".utf8), in: rootItem),
      ]),
      .together([
        .made(file, attributes(file.inode, .file), target: []), .named(file, name: Array("file".utf8), in: folder),
      ]),
      .dirty(of: file, try content(made, volume)), .dirty(of: other, try content(changed, volume)),
    ]
    for (number, change) in changes.enumerated() {
      volume.journal.append(change, ChangeNumber(rawValue: UInt64(number + 1)))
    }
    try volume.close()
  }

  private static func attributes(_ inode: UInt64, _ kind: ItemKind) -> ItemAttributes {
    let time = Timestamp(seconds: 1, nanoseconds: 0)
    return ItemAttributes(
      device: 7, inode: inode, mode: UInt32(kind.rawValue) << 12 | 0o755, linkCount: 1, uid: geteuid(), gid: getegid(),
      specialDevice: 0, size: 0, blocks: 0, accessTime: time, modificationTime: time, changeTime: time)
  }

  private static func content(_ text: String, _ volume: StateVolume) throws -> ContentID {
    let id = try volume.content.makeWritable(size: 0, copying: nil)
    _ = try Array(text.utf8).withUnsafeBytes { try volume.content.write(id, $0, at: 0) }
    return id
  }

  /// Nothing has to be done in the background: `close` commits all.
  private struct Lane: BlockingLane {
    func submit(_ work: @escaping @Sendable () -> Void) {}
  }

  private struct Timer: TimerLane {
    var now: MonotonicTime { MonotonicTime(nanoseconds: 0) }
    func schedule(at deadline: MonotonicTime, _ action: @escaping @Sendable () -> Void) -> TimerToken {
      TimerToken(rawValue: 0)
    }
    func cancel(_ token: TimerToken) -> Bool { true }
  }
}
