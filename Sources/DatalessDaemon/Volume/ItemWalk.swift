import DatalessControl
import DatalessCore
import SystemPackage

/// A walk through the namespace in pages, depth first. Its cursor is the way to where it stands, so the server keeps
/// nothing between two pages.
struct ItemWalk {
  private struct Level {
    var directory: NodeID
    var position: DirectoryPosition
  }

  /// The item that the first page starts with.
  private var first: NodeID?
  private var levels: [Level] = []

  init(root: NodeID) { first = root }

  /// - Parameter cursor: `directory:cookie:sweeps` of each level, outermost first, separated by commas.
  init?(cursor: String) {
    for part in cursor.split(separator: ",") {
      let numbers = part.split(separator: ":")
      guard numbers.count == 3, let directory = UInt64(numbers[0]), let cookie = UInt64(numbers[1]),
        let sweeps = UInt64(numbers[2])
      else { return nil }
      let position = DirectoryPosition(cookie: cookie, sweeps: sweeps)
      levels.append(Level(directory: NodeID(rawValue: directory), position: position))
    }
    guard !levels.isEmpty else { return nil }
  }

  private var cursor: String? {
    levels.isEmpty
      ? nil
      : levels.map { "\($0.directory.rawValue):\($0.position.cookie):\($0.position.sweeps)" }.joined(separator: ",")
  }

  /// - Throws: ESTALE when a directory has lost the name at which the page before ended: the rest of it cannot be told
  ///   from what was listed.
  mutating func page(_ engine: Engine, recursive: Bool, limit: Int) throws(FSError) -> ItemPage {
    var items: [VolumeItem] = []
    if let node = first, let item = engine.describe(node) {
      items.append(VolumeItem(item))
      if item.state == "listed" { levels.append(Level(directory: node, position: .start)) }
    }
    while items.count < limit, let level = levels.last {
      let children: [(position: DirectoryPosition, item: ItemDescription)]
      switch engine.children(of: level.directory, after: level.position, limit: limit - items.count) {
      case .children(let found): children = found
      case .notListed: children = []
      case .lost:
        throw FSError(
          .staleNFSFileHandle,
          "names of '\(String(decoding: engine.describe(level.directory)?.path ?? [], as: UTF8.self))' have vanished since the "
            + "last page, and the place with them. List it from the start.")
      }
      guard !children.isEmpty else {
        levels.removeLast()
        continue
      }
      for child in children {
        items.append(VolumeItem(child.item))
        levels[levels.count - 1].position = child.position
        if recursive, child.item.state == "listed" {
          levels.append(Level(directory: child.item.node, position: .start))
          break
        }
      }
    }
    return ItemPage(items: items, next: cursor)
  }
}

extension VolumeItem {
  init(_ item: ItemDescription) {
    self.init(
      path: item.path, kind: item.attributes.kind.name, state: item.state, sizeBytes: item.attributes.size,
      localBytes: item.localBytes, mode: item.attributes.mode & 0o7777, inode: item.attributes.inode,
      openHandles: Int64(item.openHandles), isKept: item.isKept, isDirty: item.isDirty,
      policy: item.policy == .standard ? nil : item.policy.rawValue)
  }
}

extension ItemKind {
  /// The word of the control API.
  var name: String {
    switch self {
    case .file: "file"
    case .directory: "directory"
    case .symlink: "symlink"
    case .fifo: "fifo"
    case .socket: "socket"
    case .characterDevice: "character_device"
    case .blockDevice: "block_device"
    }
  }
}
