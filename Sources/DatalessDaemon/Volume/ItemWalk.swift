import DatalessControl
import DatalessCore

/// A walk through the namespace in pages, depth first. Its cursor is the way to where it stands, so the server keeps
/// nothing between two pages.
struct ItemWalk {
  private struct Level {
    var directory: NodeID
    var cookie: UInt64
  }

  /// The item that the first page starts with.
  private var first: NodeID?
  private var levels: [Level] = []

  init(root: NodeID) { first = root }

  /// - Parameter cursor: `directory:cookie` of each level, outermost first, separated by commas.
  init?(cursor: String) {
    for part in cursor.split(separator: ",") {
      let numbers = part.split(separator: ":")
      guard numbers.count == 2, let directory = UInt64(numbers[0]), let cookie = UInt64(numbers[1]) else { return nil }
      levels.append(Level(directory: NodeID(rawValue: directory), cookie: cookie))
    }
    guard !levels.isEmpty else { return nil }
  }

  private var cursor: String? {
    levels.isEmpty
      ? nil : levels.map { "\($0.directory.rawValue):\($0.cookie)" }.joined(separator: ",")
  }

  mutating func page(_ engine: Engine, recursive: Bool, limit: Int) -> ItemPage {
    var items: [VolumeItem] = []
    if let node = first, let item = engine.describe(node) {
      items.append(VolumeItem(item))
      if item.state == "listed" { levels.append(Level(directory: node, cookie: 0)) }
    }
    while items.count < limit, let level = levels.last {
      let children = engine.children(of: level.directory, after: level.cookie, limit: limit - items.count)
      guard !children.isEmpty else {
        levels.removeLast()
        continue
      }
      for child in children {
        items.append(VolumeItem(child.item))
        levels[levels.count - 1].cookie = child.cookie
        if recursive, child.item.state == "listed" {
          levels.append(Level(directory: child.item.node, cookie: 0))
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
      openHandles: Int64(item.openHandles), isKept: item.isKept)
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
