import DatalessCore
import TestSupport

/// Changes as an engine would tell them, at random: of files and directories of the store, and of such as are made.
struct ChangeGenerator {
  private struct Item {
    var changed: ChangedItem
    var isDirectory: Bool
    /// Where callers find it; nil: it was removed.
    var place: (directory: Int, name: [UInt8])?
    var isMade: Bool
    var content: ContentID?
  }

  private var random: TestRandom
  private var items: [Item] = []
  private var nextContent: UInt64 = 1 << 63
  private var nextMade: UInt64 = 0

  init(seed: UInt64) {
    random = TestRandom(seed: seed)
    items.append(Item(changed: root, isDirectory: true, place: nil, isMade: false))
    for (number, key) in ["a", "b", "d", "d/a", "d/e", "d/e/a"].enumerated() {
      let isDirectory = key.hasSuffix("d") || key.hasSuffix("e")
      let parent = key == "d/e/a" ? 5 : key.hasPrefix("d/") ? 3 : 0
      let changed = stored(
        key, node: UInt64(100 + number), inode: UInt64(1000 + number), kind: isDirectory ? .directory : .file)
      let name = Array(key.utf8.split(separator: UInt8(ascii: "/")).last.map { Array($0) } ?? [])
      items.append(Item(changed: changed, isDirectory: isDirectory, place: (parent, name), isMade: false))
    }
  }

  mutating func next() -> StateChange {
    while true {
      if let change = random.oneIn(3) ? make() : random.oneIn(2) ? changeContent() : changeName() { return change }
    }
  }

  private mutating func directory() -> Int? {
    let found = items.indices.filter { items[$0].isDirectory && ($0 == 0 || items[$0].place != nil) }
    return found.isEmpty ? nil : random.element(of: found)
  }

  private mutating func name() -> [UInt8] {
    random.oneIn(8)
      ? [UInt8](repeating: random.oneIn(2) ? 0xff : 0x0a, count: 1 + random.below(255))
      : bytes(random.element(of: ["a", "b", "c", "x y", "\u{e4}", "..."]))
  }

  private mutating func make() -> StateChange? {
    guard let directory = directory() else { return nil }
    let name = name()
    guard !items.contains(where: { $0.place?.directory == directory && $0.place?.name == name }) else { return nil }
    nextMade += 1
    let changed = own(node: 10_000 + nextMade, nextMade)
    let isDirectory = random.oneIn(4)
    items.append(Item(changed: changed, isDirectory: isDirectory, place: (directory, name), isMade: true))
    return .together([
      .made(
        changed, attributes(inode: changed.inode, kind: isDirectory ? .directory : .file, device: .max), target: []),
      .named(changed, name: name, in: items[directory].changed),
    ])
  }

  private mutating func changeContent() -> StateChange? {
    let files = items.indices.filter { !items[$0].isDirectory && items[$0].place != nil }
    guard !files.isEmpty else { return nil }
    let index = random.element(of: files)
    let item = items[index].changed
    switch random.below(5) {
    case 0:
      return .attribute(of: item, name: bytes("user.\(random.below(3))"), value: random.oneIn(3) ? nil : name())
    case 1: return .attributes(of: item, attributes(inode: item.inode, size: Int64(random.below(100))))
    case 2:
      guard let content = items[index].content else { return nil }
      items[index].content = nil
      return .contentDropped(of: item, content)
    default:
      let former = items[index].content
      nextContent += 1
      let content = ContentID(rawValue: nextContent)
      items[index].content = content
      let isDirty = items[index].isMade || random.oneIn(2)
      let change = isDirty ? StateChange.dirty(of: item, content) : .content(of: item, content)
      return former.map { .together([.contentDropped(of: item, $0), change]) } ?? change
    }
  }

  private mutating func changeName() -> StateChange? {
    let named = items.indices.filter { $0 > 0 && items[$0].place != nil }
    guard !named.isEmpty, let directory = directory() else { return nil }
    let index = random.element(of: named)
    guard !items[index].isDirectory else { return nil }
    if random.oneIn(3) { return .together(remove(index)) }
    let name = name()
    var changes: [StateChange] = [
      .made(items[index].changed, attributes(inode: items[index].changed.inode), target: [])
    ]
    if let target = items.firstIndex(where: { $0.place?.directory == directory && $0.place?.name == name }) {
      guard target != index, !items[target].isDirectory else { return nil }
      changes += remove(target)
    }
    changes += unname(index)
    changes.append(.named(items[index].changed, name: name, in: items[directory].changed))
    items[index].place = (directory, name)
    items[index].isMade = true
    return .together(changes)
  }

  private mutating func unname(_ index: Int) -> [StateChange] {
    guard let place = items[index].place else { return [] }
    let directory = items[place.directory].changed
    return items[index].isMade
      ? [.unnamed(name: place.name, in: directory)]
      : [.hidden(items[index].changed, name: place.name, in: directory)]
  }

  private mutating func remove(_ index: Int) -> [StateChange] {
    var changes = unname(index)
    if let content = items[index].content { changes.append(.contentDropped(of: items[index].changed, content)) }
    if items[index].changed.binding == nil { changes.append(.forgotten(items[index].changed)) }
    items[index].place = nil
    items[index].content = nil
    return changes
  }
}
