import DatalessCore
import Synchronization
import SystemPackage

/// A store in memory whose items and failures the test writes.
final class ScriptedStore: BackingStore {
  /// Which item of all that there were, whatever its names are and whether its inode number was used before.
  final class Identity: Sendable {}

  struct Item: Sendable {
    /// The same for all names of an item, and until it is gone.
    var identity = Identity()
    var attributes: ItemAttributes
    var content: [UInt8] = []
    var children: [String] = []
    var target: [UInt8] = []
    var xattrs: [String: [UInt8]] = [:]
    /// As `StoreContent.generation`.
    var generation: UInt32 = 0
    /// As `ListedItem.token`.
    var token = VersionToken.none
    /// Thrown by `open` or `list`.
    var failure: FSError?
    /// Thrown by `verify`.
    var changed: FSError?
    /// Where reads run dry.
    var shortAt: Int64?
  }

  let items: Mutex<[String: Item]>
  /// Files without a name, as they were when they lost the last one: whoever has one open has it still.
  let nameless = Mutex<[ObjectIdentifier: Item]>([:])
  let root: ItemAttributes
  let sourceName = "scripted"
  let isFastLocal: Bool
  let opens = Atomic<Int>(0)
  let lists = Atomic<Int>(0)
  /// What listings tell, and what `generation` does; items have both.
  let hasBirths = Atomic<Bool>(true)
  let hasGenerations = Atomic<Bool>(true)
  /// Versions that `write` has made.
  let versions = Atomic<Int>(0)

  init(_ files: [String: Int], links: [(String, to: String)] = [], isFastLocal: Bool = true) {
    self.isFastLocal = isFastLocal
    var items: [String: Item] = [:]
    var inode: UInt64 = 100
    func directory(_ path: String) {
      guard items[path] == nil else { return }
      inode += 1
      items[path] = Item(attributes: .directory(inode: inode))
      guard !path.isEmpty else { return }
      let (parent, name) = Self.split(path)
      directory(parent)
      items[parent]?.children.append(name)
    }
    directory("")
    for (path, size) in files.sorted(by: { $0.key < $1.key }) {
      let (parent, name) = Self.split(path)
      directory(parent)
      inode += 1
      items[path] = Item(
        attributes: .file(inode: inode, size: Int64(size)), content: PatternBytes.bytes(0, size))
      items[parent]?.children.append(name)
    }
    for (path, target) in links {
      let (parent, name) = Self.split(path)
      directory(parent)
      items[target]?.attributes.linkCount += 1
      items[path] = items[target]
      items[parent]?.children.append(name)
    }
    root = items[""]!.attributes
    self.items = Mutex(items)
  }

  static func split(_ path: String) -> (String, String) {
    guard let slash = path.lastIndex(of: "/") else { return ("", path) }
    return (String(path[..<slash]), String(path[path.index(after: slash)...]))
  }

  func edit(_ path: String, _ change: (inout Item) -> Void) {
    items.withLock { items in
      guard var item = items[path] else { return }
      change(&item)
      items[path] = item
    }
  }

  private func item(_ item: StoreBinding) throws(FSError) -> Item {
    guard let found = items.withLock({ $0[String(decoding: item.key, as: UTF8.self)] }) else {
      throw FSError(.noSuchFileOrDirectory, "no item '\(String(decoding: item.key, as: UTF8.self))'")
    }
    if let failure = found.failure { throw failure }
    return told(found)
  }

  /// An item as this store shows it.
  private func told(_ item: Item) -> Item {
    var item = item
    if !hasBirths.load(ordering: .relaxed) { item.attributes.birth = 0 }
    if !hasGenerations.load(ordering: .relaxed) { item.generation = 0 }
    return item
  }

  func list(_ directory: StoreBinding, into sink: (ListingBatch) throws(FSError) -> Void) throws(FSError) {
    lists.add(1, ordering: .relaxed)
    let found = try item(directory)
    let prefix = String(decoding: directory.key, as: UTF8.self)
    var entries = ListingBatch()
    for name in found.children {
      let path = prefix.isEmpty ? name : prefix + "/" + name
      if let child = items.withLock({ $0[path] }) {
        entries.append(name.utf8, told(child).attributes, token: child.token)
      }
    }
    if !entries.isEmpty { try sink(entries) }
  }

  func open(_ file: StoreBinding) throws(FSError) -> any StoreContent {
    opens.add(1, ordering: .relaxed)
    let found = try item(file)
    guard StoreVersion(found.attributes, token: found.token).isSame(as: file.version) else {
      throw FSError(.staleNFSFileHandle, "another version")
    }
    return ScriptedContent(self, String(decoding: file.key, as: UTF8.self), found)
  }

  func shown(_ path: String) -> Item? { items.withLock { $0[path] }.map(told) }

  /// An item as it is now, under whatever name or under none. - Parameter path: The name to look under first.
  fileprivate func current(_ opened: Item, _ path: String) -> Item {
    let named = items.withLock { items in
      if let item = items[path], item.identity === opened.identity { return Optional(item) }
      return items.values.first { $0.identity === opened.identity }
    }
    return (named ?? nameless.withLock { $0[ObjectIdentifier(opened.identity)] }).map(told) ?? opened
  }

  func generation(of item: StoreBinding) -> UInt32 { (try? self.item(item))?.generation ?? 0 }

  func readLink(_ link: StoreBinding) throws(FSError) -> [UInt8] { try item(link).target }

  func extendedAttribute(_ name: [UInt8], of target: StoreBinding) throws(FSError) -> [UInt8] {
    guard let value = try item(target).xattrs[String(decoding: name, as: UTF8.self)] else {
      throw FSError(.noData, "no attribute")
    }
    return value
  }

  func extendedAttributeNames(of target: StoreBinding) throws(FSError) -> [[UInt8]] {
    try item(target).xattrs.keys.sorted().map { Array($0.utf8) }
  }
}

/// Content as it is when it is read, like that of an open file of a disk: a change shows while it is read, also when
/// the file has another name meanwhile, or none.
final class ScriptedContent: StoreContent {
  private let store: ScriptedStore
  private let path: String
  private let opened: ScriptedStore.Item
  let descriptor: CInt? = nil
  var generation: UInt32 { opened.generation }

  init(_ store: ScriptedStore, _ path: String, _ item: ScriptedStore.Item) {
    self.store = store
    self.path = path
    opened = item
  }

  private var item: ScriptedStore.Item { store.current(opened, path) }

  func nextData(from offset: Int64) throws(FSError) -> Range<Int64>? {
    offset < opened.attributes.size ? offset..<opened.attributes.size : nil
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FSError) -> Int {
    let end = min(Int64(item.content.count), item.shortAt ?? .max)
    guard offset < end else { return 0 }
    let count = min(buffer.count, Int(end - offset))
    item.content.withUnsafeBytes { buffer.copyMemory(from: .init(rebasing: $0[Int(offset)..<Int(offset) + count])) }
    return count
  }

  func verify() throws(FSError) {
    if let changed = item.changed { throw changed }
    let (now, then) = (item, opened)
    guard
      StoreVersion(now.attributes, token: now.token).isSame(as: StoreVersion(then.attributes, token: then.token))
    else { throw FSError(.staleNFSFileHandle, "another version") }
  }
  func close() {}
}

extension ItemAttributes {
  static func file(inode: UInt64, size: Int64, mode: UInt32 = 0o100644) -> ItemAttributes {
    let time = Timestamp(seconds: 1_700_000_000, nanoseconds: UInt32(inode))
    return ItemAttributes(
      device: 7, inode: inode, mode: mode, linkCount: 1, uid: 1, gid: 2, specialDevice: 0, size: size,
      blocks: (size + 511) / 512, accessTime: time, modificationTime: time, changeTime: time, birth: inode)
  }

  static func directory(inode: UInt64) -> ItemAttributes {
    var attributes = file(inode: inode, size: 4096, mode: 0o40755)
    attributes.linkCount = 2
    return attributes
  }
}

/// The content of scripted files: byte n is n modulo 256. Copied from a table, since a debug build takes seconds to
/// make the megabytes that random tests read one by one.
enum PatternBytes {
  private static let table = (0..<1 << 20).map { UInt8(truncatingIfNeeded: $0) }

  static func bytes(_ offset: Int, _ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    while bytes.count < count {
      let start = (offset + bytes.count) % 256
      bytes += table[start..<min(table.count, start + count - bytes.count)]
    }
    return bytes
  }
}
