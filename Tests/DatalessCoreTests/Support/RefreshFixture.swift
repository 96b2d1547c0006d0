@testable import DatalessCore
import Synchronization
import SystemPackage

/// The end of one refresh.
final class RefreshAnswer: Sendable {
  private let outcome = Mutex<RefreshOutcome?>(nil)
  func set(_ value: RefreshOutcome) { outcome.withLock { $0 = value } }
  var error: String? { outcome.withLock { $0?.error?.errno.name } }

  /// `1 added, 2 unchanged in 3; d: EACCES`: what was counted, in how many directories, and what failed; nil before the
  /// end.
  var text: String? {
    outcome.withLock { outcome in
      guard let outcome else { return nil }
      let counts = outcome.counts
      let words = [
        (counts.added, "added"), (counts.changed, "changed"), (counts.gone, "gone"), (counts.renamed, "renamed"),
        (counts.kept, "kept"), (counts.unchanged, "unchanged"),
      ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
      let failures = outcome.failures.map { "\(String(decoding: $0.path, as: UTF8.self)): \($0.error.errno.name)" }
      return words.joined(separator: ", ") + " in \(counts.directories)"
        + (failures.isEmpty ? "" : "; " + failures.joined(separator: ", "))
    }
  }
}

/// What one read gave.
enum ReadResult: Equatable {
  case bytes([UInt8])
  case failed(String)
}

extension EngineFixture {
  func startRefresh(_ paths: String...) -> RefreshAnswer {
    let answer = RefreshAnswer()
    engine.refresh(paths.map { Array($0.utf8) }, by: .command) { answer.set($0) }
    return answer
  }

  func refresh(_ paths: String...) -> RefreshAnswer {
    let answer = RefreshAnswer()
    engine.refresh(paths.map { Array($0.utf8) }, by: .command) { answer.set($0) }
    lane.runAll()
    return answer
  }

  /// Reads a whole file through a handle, as the adapter does.
  func read(_ node: NodeID, _ handle: UInt64) -> ReadResult {
    for _ in 0..<3 {
      switch engine.read(node, handle: handle, offset: 0, length: 1 << 20, isDirect: true, threadID: 10) {
      case .failed(let errno): return .failed(errno.name)
      case .repeatedFailure(let error): return .failed(error.errno.name)
      case .resident(let reference, let size):
        var bytes = [UInt8](repeating: 0xee, count: Int(size))
        let count = bytes.withUnsafeMutableBytes { buffer in
          (try? engine.readContent(reference, into: buffer, at: 0)) ?? -1
        }
        return count == bytes.count ? .bytes(bytes) : .failed("short")
      case .needsMaterialization:
        let answer = trigger(node)
        lane.runAll()
        timer.advance(milliseconds: 100) { [lane] in lane.runAll() }
        if let errno = answer.errno { return .failed(errno) }
      }
    }
    return .failed("never resident")
  }

  /// Opens a name, reads all of it, and closes it; nil if that failed.
  func content(_ path: String) -> [UInt8]? {
    let node = node(path)
    let handle = open(node)
    guard handle != 0 else { return nil }
    defer {
      engine.release(node, handle: handle)
      lane.runAll()
    }
    if case .bytes(let bytes) = read(node, handle) { return bytes }
    return nil
  }
}

extension ScriptedStore {
  func item(_ path: String) -> Item { items.withLock { $0[path]! } }
  func bytes(_ path: String) -> [UInt8] { items.withLock { $0[path]?.content ?? [] } }

  /// Writes a new version of a file, or a new file, whose bytes are all the version's.
  ///
  /// - Parameter inode: nil: the one it has.
  func write(_ path: String, size: Int, inode: UInt64? = nil, links: UInt32 = 1) {
    items.withLock { items in
      let version = versions.add(1, ordering: .relaxed).newValue
      let number = inode ?? items[path]?.attributes.inode ?? UInt64(100_000 + version)
      var attributes = ItemAttributes.file(inode: number, size: Int64(size))
      let time = Timestamp(seconds: inode == nil ? 1_710_000_000 + Int64(version) : 1_800_000_000, nanoseconds: 0)
      attributes.modificationTime = time
      attributes.changeTime = time
      attributes.linkCount = links
      let old = items[path]
      if old == nil { enter(path, &items) }
      var item = Item(
        attributes: attributes, content: [UInt8](repeating: UInt8(truncatingIfNeeded: time.seconds), count: size))
      if let old, old.attributes.inode == number { item.identity = old.identity }
      items[path] = item
      if let old { losesName(old, items) }
    }
  }

  /// Makes a new file with the inode number, the size and the mtime of one that is gone.
  func write(_ path: String, reusing old: ItemAttributes) {
    write(path, size: Int(old.size), inode: old.inode)
    let version = UInt64(versions.load(ordering: .relaxed))
    edit(path) { item in
      item.attributes = old
      item.attributes.birth = 1_000_000 + version
      item.generation = UInt32(version)
      item.attributes.changeTime.seconds += 1
      item.content = [UInt8](repeating: UInt8(truncatingIfNeeded: version &* 31), count: item.content.count)
    }
  }

  private func enter(_ path: String, _ items: inout [String: Item]) {
    let (parent, name) = Self.split(path)
    if items[parent] == nil {
      enter(parent, &items)
      let inode = UInt64(100_000 + versions.add(1, ordering: .relaxed).newValue)
      items[parent] = Item(attributes: .directory(inode: inode))
    }
    items[parent]?.children.append(name)
  }

  /// Removes an item with all that is below it.
  func remove(_ path: String) {
    items.withLock { items in
      let (parent, name) = Self.split(path)
      items[parent]?.children.removeAll { $0 == name }
      for key in items.keys where key == path || key.hasPrefix(path + "/") {
        guard let item = items.removeValue(forKey: key) else { continue }
        losesName(item, items)
      }
    }
  }

  /// Whoever has an item open that has no name any more still has it as it was then; its ctime moves.
  private func losesName(_ item: Item, _ items: [String: Item]) {
    guard !items.values.contains(where: { $0.identity === item.identity }) else { return }
    var item = item
    item.attributes.changeTime.seconds += 1
    nameless.withLock { $0[ObjectIdentifier(item.identity)] = item }
  }

  /// Renames an item, over another one if there is one; its ctime moves.
  func move(_ path: String, to target: String) {
    if items.withLock({ $0[target] != nil }) { remove(target) }
    items.withLock { items in
      let (parent, name) = Self.split(path)
      items[parent]?.children.removeAll { $0 == name }
      let (newParent, newName) = Self.split(target)
      items[newParent]?.children.append(newName)
      for key in items.keys where key == path || key.hasPrefix(path + "/") {
        items[target + key.dropFirst(path.count)] = items.removeValue(forKey: key)
      }
      items[target]?.attributes.changeTime.seconds += 1
    }
  }
}
