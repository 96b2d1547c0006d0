/// Where the store has items, as an earlier run has kept it, until their places are looked at.
///
/// Each is found by its item and by its place: what lies on the way to a key is asked under the engine's lock, once for
/// each file that a listing brings.
struct RestoredKeys {
  private var keys: [NodeIndex: [UInt8]] = [:]
  /// More than one while a place is about to be another item's.
  private var nodes: [[UInt8]: [NodeIndex]] = [:]

  var isEmpty: Bool { keys.isEmpty }
  var all: [NodeIndex] { Array(keys.keys) }

  subscript(node: NodeIndex) -> [UInt8]? {
    get { keys.isEmpty ? nil : keys[node] }
    set {
      guard newValue != nil || !keys.isEmpty else { return }
      if let former = keys.removeValue(forKey: node) { leave(former, node) }
      guard let newValue else { return }
      keys[node] = newValue
      nodes[newValue, default: []].append(node)
    }
  }

  private mutating func leave(_ key: [UInt8], _ node: NodeIndex) {
    guard var left = nodes.removeValue(forKey: key) else { return }
    left.removeAll { $0 == node }
    if !left.isEmpty { nodes[key] = left }
  }

  /// What lies at a key.
  func items(at key: [UInt8]) -> [NodeIndex] { nodes[key] ?? [] }

  /// Takes those below a directory's key for which `isTaken` holds. - Returns: What they are.
  mutating func takeBelow(_ key: [UInt8], where isTaken: (NodeIndex) -> Bool) -> [NodeIndex] {
    let place = key + [UInt8(ascii: "/")]
    let taken = keys.filter { $0.value.starts(with: place) && isTaken($0.key) }.map(\.key)
    for node in taken { self[node] = nil }
    return taken
  }

  /// Takes all below the directories that were moved, each with the key that it has now. The nearest move counts: what
  /// is above that has been moved away from.
  mutating func takeMoved(_ moves: [[UInt8]: [UInt8]]) -> [NodeIndex: [UInt8]] {
    var moved: [NodeIndex: [UInt8]] = [:]
    for (node, key) in keys {
      guard let from = StoreKey.directories(above: key).first(where: { moves[$0] != nil }), let to = moves[from] else {
        continue
      }
      moved[node] = to + key.dropFirst(from.count)
    }
    for node in moved.keys { self[node] = nil }
    return moved
  }
}

/// What is known of a key by its text.
enum StoreKey {
  /// The keys of the directories on the way to a key, the nearest first, without the root's, which is empty.
  static func directories(above key: [UInt8]) -> some Sequence<[UInt8]> {
    key.indices.reversed().lazy.filter { key[$0] == UInt8(ascii: "/") && $0 > 0 }.map { Array(key[..<$0]) }
  }

  /// The last name of a key; nil for the root's, which has none.
  static func name(of key: [UInt8]) -> [UInt8]? { key.split(separator: UInt8(ascii: "/")).last.map(Array.init) }
}
