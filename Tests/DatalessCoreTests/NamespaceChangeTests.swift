@testable import DatalessCore
import TestSupport
import Testing

/// Names that are made, removed and moved on the volume while the store changes underneath, beside a model that knows
/// neither tables nor lists.
@Suite struct NamespaceChangeTests {
  /// Three sets of names: what the store listed, which of those are hidden here, and what was made here.
  struct Model {
    struct Item: Equatable {
      /// Of one listing of a name: the same item under another name is another one, as no refresh looks for renames
      /// here; but under one that was made for it here.
      var number: Int
      var inode: UInt64
      var version: Int
      var mode: UInt32
    }

    var store: [String: (inode: UInt64, version: Int)] = [:]
    var base: [String: Item] = [:]
    var hidden: Set<String> = []
    var local: [String: Item] = [:]
    private var lastNumber = 0

    var visible: [String: Item] { base.filter { !hidden.contains($0.key) }.merging(local) { $1 } }

    mutating func makeNumber() -> Int {
      lastNumber += 1
      return lastNumber
    }

    mutating func give(_ name: String, _ item: Item) {
      if hidden.contains(name), base[name]?.number == item.number { hidden.remove(name) } else { local[name] = item }
    }

    mutating func remove(_ name: String) {
      if local.removeValue(forKey: name) == nil { hidden.insert(name) }
    }

    private mutating func item(_ listed: (inode: UInt64, version: Int), as name: String) -> Item {
      if let same = local[name], same.inode == listed.inode, same.version == listed.version { return same }
      return Item(number: makeNumber(), inode: listed.inode, version: listed.version, mode: 0o644)
    }

    /// - Parameter inConflict: Names that were made here, of items that are in conflict with what the store has.
    mutating func list(inConflict: Set<String>) {
      for name in Set(base.keys).union(store.keys) {
        switch (base[name], store[name]) {
        case (nil, let listed?):
          base[name] = item(listed, as: name)
          if local[name] != nil { hidden.insert(name) }
        case (_?, nil):
          base[name] = nil
          hidden.remove(name)
        case (let known?, let listed?) where known.inode == listed.inode:
          guard known.version != listed.version else { continue }
          // Another version comes with the store's attributes, but for those that were changed here: of what has a
          // name.
          let isNamed = !hidden.contains(name) || local.values.contains { $0.number == known.number }
          let newer = Item(
            number: makeNumber(), inode: listed.inode, version: listed.version, mode: isNamed ? known.mode : 0o644)
          base[name] = newer
          if hidden.contains(name) {
            for (other, item) in local where item.number == known.number { local[other] = newer }
          }
        case (_?, let listed?):
          base[name] = item(listed, as: name)
          if local[name] == nil { hidden.remove(name) }
        case (nil, nil): break
        }
      }
      // Dataless, and nowhere in the store.
      let bound = Set(base.values.map(\.number))
      for (name, item) in local where !bound.contains(item.number) && item.inode < Self.firstMade {
        local[name] = nil
        if inConflict.contains(name) { hidden.remove(name) }
      }
    }

    static let firstMade: UInt64 = 1_000_000
  }

  private static let names = ["a", "b", "c", "d", "e", "f"]

  private static func attributes(inode: UInt64, version: Int, mode: UInt32 = 0o644) -> ItemAttributes {
    var attributes = ItemAttributes.file(inode: inode, size: 10, mode: 0o100000 | mode)
    attributes.modificationTime.seconds += Int64(version)
    attributes.changeTime.seconds += Int64(version)
    return attributes
  }

  private static func list(_ namespace: inout Namespace, _ model: inout Model, _ random: inout TestRandom) {
    let use = Namespace.ItemUse(isOpen: { _ in false }, retained: { _ in nil }, isOpenForWriting: { _ in false })
    while !namespace.beginListing(of: .root) {}
    for (name, item) in model.store.sorted(by: { $0.key < $1.key }).shuffled(using: &random) {
      let listed = ListedItem(attributes(inode: item.inode, version: item.version))
      let fits = Array(name.utf8).withUnsafeBufferPointer { namespace.insert($0, listed, in: .root, use: use) }
      #expect(fits)
    }
    var cursor: NameCursor? = .start
    while let position = cursor {
      cursor = namespace.dropVanishedNames(of: .root, from: position, limit: 2, use: use)
    }
    let inConflict = model.local.keys.filter { text in
      name(text, namespace).flatMap { namespace.conflicts.kind(of: namespace.record(of: $0).node) } != nil
    }
    namespace.dropUnbound(use: use)
    model.list(inConflict: Set(inConflict))
  }

  private static func name(_ text: String, _ namespace: borrowing Namespace) -> NameIndex? {
    Array(text.utf8).withUnsafeBufferPointer { namespace.find($0, in: .root, .visible) }
  }

  private static func items(_ namespace: borrowing Namespace) -> [String: Model.Item] {
    var found: [String: Model.Item] = [:]
    _ = namespace.readDirectory(.root, from: 2) { entry in
      let text = String(decoding: entry.name, as: UTF8.self)
      #expect(found[text] == nil, "\(text) twice")
      let first = 1_700_000_000
      found[text] = Model.Item(
        number: 0, inode: entry.attributes.inode, version: Int(entry.attributes.modificationTime.seconds) - first,
        mode: entry.attributes.mode & 0o777)
      return true
    }
    return found
  }

  private static func check(_ namespace: inout Namespace, _ model: Model, _ context: String) {
    let expected = model.visible.mapValues {
      Model.Item(number: 0, inode: $0.inode, version: $0.version, mode: $0.mode)
    }
    let found = items(namespace)
    #expect(found == expected, "\(context)")
    while !namespace.indexNames(of: .root) {}
    for (text, item) in model.visible {
      guard let name = name(text, namespace) else {
        Issue.record("\(text) is not found, \(context)")
        continue
      }
      // Where the store has it, whatever it is called here.
      let binding = namespace.binding(of: namespace.record(of: name).node)
      guard item.inode < Model.firstMade else {
        #expect(binding == nil, "\(context)")
        continue
      }
      guard let key = model.base.first(where: { $0.value.number == item.number })?.key else { continue }
      #expect(binding?.key == Array(key.utf8) && binding?.version.inode == item.inode, "\(text), \(context)")
      let listed = attributes(inode: item.inode, version: item.version)
      #expect(binding?.version.isSame(as: StoreVersion(listed)) == true, "\(text), \(context)")
    }
    let changes = namespace.changeCount(in: .root)
    #expect(changes == model.hidden.count + model.local.count, "\(context)")
  }

  @Test(arguments: TestSeed.seeds) func bothSidesChangeAndNothingIsLost(seed: UInt64) {
    var random = TestRandom(seed: seed)
    for round in 0..<40 {
      var namespace = Namespace(root: .directory(inode: 1))
      var model = Model()
      var nextInode: UInt64 = 100
      var nextMade = Model.firstMade
      Self.list(&namespace, &model, &random)
      for step in 0..<120 {
        let context = "seed \(seed), round \(round), step \(step)"
        if random.oneIn(6) {
          Self.list(&namespace, &model, &random)
        } else if random.oneIn(2) {
          nextInode += 1
          Self.changeStore(&model, inode: nextInode, &random)
        } else {
          nextMade += 1
          while !namespace.indexNames(of: .root) {}
          Self.changeHere(&namespace, &model, inode: nextMade, &random)
        }
        if random.oneIn(4) {
          var forgotten: [NodeIndex] = []
          var freed: [NameGraph.FreedName] = []
          namespace.giveBackSome(limit: 8, forgotten: &forgotten, freed: &freed) { _ in false }
        }
        Self.check(&namespace, model, context)
      }
    }
  }

  private static func changeStore(_ model: inout Model, inode: UInt64, _ random: inout TestRandom) {
    let name = random.element(of: names)
    switch random.below(4) {
    case 0: model.store[name] = (inode, 0)
    case 1: model.store[name]?.version += 1
    case 2: model.store[name] = nil
    default: if let moved = model.store.removeValue(forKey: name) { model.store[random.element(of: names)] = moved }
    }
  }

  private static func changeHere(
    _ namespace: inout Namespace, _ model: inout Model, inode: UInt64, _ random: inout TestRandom
  ) {
    let text = random.element(of: names)
    let other = random.element(of: names)
    guard let name = name(text, namespace), let item = model.visible[text] else {
      let made = Model.Item(number: model.makeNumber(), inode: inode, version: 0, mode: 0o600)
      let node = Array(text.utf8).withUnsafeBufferPointer {
        namespace.make($0, attributes(inode: inode, version: 0, mode: 0o600), in: .root)
      }
      #expect(node != nil)
      return model.give(text, made)
    }
    let node = namespace.record(of: name).node
    switch random.below(4) {
    case 0:
      namespace.remove(name)
      model.remove(text)
    case 1:
      let hasMoved = Array(other.utf8).withUnsafeBufferPointer { namespace.move(name, to: $0, in: .root) }
      #expect(hasMoved)
      guard text != other else { return }
      if model.visible[other] != nil { model.remove(other) }
      model.give(other, item)
      model.remove(text)
    case 2:
      guard text != other, let second = Self.name(other, namespace), let otherItem = model.visible[other] else {
        return
      }
      let hasExchanged = namespace.exchange(name, second)
      #expect(hasExchanged)
      model.remove(text)
      model.remove(other)
      model.give(text, otherItem)
      model.give(other, item)
    default:
      var attributes = namespace.attributes(of: node)
      let mode = UInt32(random.below(0o1000))
      attributes.mode = 0o100000 | mode
      namespace.setAttributes(attributes, of: node)
      for (key, value) in model.local where value.number == item.number { model.local[key]?.mode = mode }
      for (key, value) in model.base where value.number == item.number { model.base[key]?.mode = mode }
    }
  }
}
