@testable import DatalessCore
import Synchronization
import SystemPackage
import TestSupport
import Testing

/// Random changes of names beside a tree that says the same plainly, on a volume whose store has a tree of its own and
/// stays as it is.
@Suite struct WritableTreeTests {
  private struct Item {
    var kind: ItemKind
    var children: [String: Int] = [:]
    var links: Int
    /// Of a directory.
    var parent: Int?
  }

  private struct Model {
    var items: [Int: Item] = [0: Item(kind: .directory, links: 2, parent: 0)]
    private var last = 0

    mutating func add(_ kind: ItemKind, links: Int? = nil, parent: Int?) -> Int {
      last += 1
      items[last] = Item(kind: kind, links: links ?? (kind == .directory ? 2 : 1), parent: parent)
      return last
    }

    func isDirectory(_ item: Int) -> Bool { items[item]?.kind == .directory }

    /// Whether a directory is, or lies in, another one.
    func isIn(_ outer: Int, _ inner: Int) -> Bool {
      var item = inner
      while item != outer {
        guard let parent = items[item]?.parent, parent != item else { return false }
        item = parent
      }
      return true
    }

    mutating func make(_ kind: ItemKind, _ name: String, in parent: Int) -> (errno: String?, item: Int) {
      guard name.utf8.count <= 255 else { return ("ENAMETOOLONG", 0) }
      guard items[parent]!.children[name] == nil else { return ("EEXIST", 0) }
      let item = add(kind, parent: kind == .directory ? parent : nil)
      items[parent]!.children[name] = item
      if kind == .directory { items[parent]!.links += 1 }
      return (nil, item)
    }

    mutating func link(_ item: Int, _ name: String, in parent: Int) -> String? {
      guard name.utf8.count <= 255 else { return "ENAMETOOLONG" }
      guard !isDirectory(item) else { return "EPERM" }
      guard items[parent]!.children[name] == nil else { return "EEXIST" }
      items[parent]!.children[name] = item
      items[item]!.links += 1
      return nil
    }

    private mutating func drop(_ item: Int, from parent: Int) {
      if isDirectory(item) {
        items[item]!.links = 0
        items[item]!.parent = nil
        items[parent]!.links -= 1
      } else {
        items[item]!.links -= 1
      }
    }

    mutating func remove(_ name: String, in parent: Int, isDirectory: Bool) -> String? {
      guard name.utf8.count <= 255 else { return "ENAMETOOLONG" }
      guard let item = items[parent]!.children[name] else { return "ENOENT" }
      guard self.isDirectory(item) == isDirectory else { return isDirectory ? "ENOTDIR" : "EISDIR" }
      guard items[item]!.children.isEmpty else { return "ENOTEMPTY" }
      items[parent]!.children[name] = nil
      drop(item, from: parent)
      return nil
    }

    mutating func rename(
      _ name: String, in parent: Int, to newName: String, in newParent: Int, _ options: RenameOptions
    ) -> String? {
      guard name.utf8.count <= 255, newName.utf8.count <= 255 else { return "ENAMETOOLONG" }
      guard let item = items[parent]!.children[name] else { return "ENOENT" }
      let target = items[newParent]!.children[newName]
      if isDirectory(item), isIn(item, newParent) { return "EINVAL" }
      if options == .exchange {
        guard let target else { return "ENOENT" }
        guard target != item else { return nil }
        if isDirectory(target), isIn(target, parent) { return "EINVAL" }
        items[parent]!.children[name] = target
        items[newParent]!.children[newName] = item
        move(item, from: parent, to: newParent)
        move(target, from: newParent, to: parent)
        return nil
      }
      if let target {
        if options == .noReplace { return "EEXIST" }
        if target == item { return nil }
        switch (isDirectory(item), isDirectory(target)) {
        case (true, false): return "ENOTDIR"
        case (false, true): return "EISDIR"
        default: break
        }
        if !items[target]!.children.isEmpty { return "ENOTEMPTY" }
        drop(target, from: newParent)
      }
      items[parent]!.children[name] = nil
      items[newParent]!.children[newName] = item
      move(item, from: parent, to: newParent)
      return nil
    }

    /// Removes a name with all that is below it.
    mutating func removeTree(_ name: String, in parent: Int) -> String? {
      guard let item = items[parent]!.children.removeValue(forKey: name) else { return "ENOENT" }
      drop(item, from: parent)
      empty(item)
      return nil
    }

    private mutating func empty(_ directory: Int) {
      for child in items[directory]!.children.values {
        if isDirectory(child) {
          items[child]!.links = 0
          items[child]!.parent = nil
          empty(child)
        } else {
          items[child]!.links -= 1
        }
      }
      items[directory]!.children = [:]
    }

    private mutating func move(_ item: Int, from parent: Int, to newParent: Int) {
      guard isDirectory(item) else { return }
      items[item]!.parent = newParent
      items[parent]!.links -= 1
      items[newParent]!.links += 1
    }
  }

  /// The model and the volume, with what is what.
  private struct Pair {
    var model = Model()
    let fixture: EngineFixture
    var nodes: [Int: NodeID] = [:]
    /// Items of the store: their files are never opened.
    var stored: Set<Int> = []

    init(_ files: [String: Int]) {
      fixture = EngineFixture.writable(files)
      // As file systems count them; the root's was read before, so all is in a directory below.
      for path in fixture.store.items.withLock({ Array($0.keys) }) where !path.isEmpty {
        let children = fixture.store.item(path).children
        let directories = children.count { !fixture.store.item(path + "/" + $0).attributes.kind.isFile }
        fixture.store.edit(path) { $0.attributes.linkCount = $0.attributes.kind.isFile ? 1 : UInt32(2 + directories) }
      }
      nodes[0] = fixture.node("r")
      take(0)
      model.items[0]!.links = Int(fixture.attributes(nodes[0]!)!.linkCount)
    }

    private mutating func take(_ directory: Int) {
      for (name, node) in fixture.entries(of: nodes[directory]!) {
        let attributes = fixture.attributes(node)!
        let isDirectory = attributes.kind == .directory
        let item = model.add(attributes.kind, links: Int(attributes.linkCount), parent: isDirectory ? directory : nil)
        model.items[directory]!.children[name] = item
        nodes[item] = node
        stored.insert(item)
        if isDirectory { take(item) }
      }
    }

    /// A directory that has a name.
    func directory(_ random: inout TestRandom) -> Int {
      random.element(of: model.items.filter { $0.value.kind == .directory && $0.value.parent != nil }.keys.sorted())
    }

    mutating func step(_ random: inout TestRandom) -> (expected: String?, found: String?, what: String) {
      let names = ["a", "b", "c", "d", "e", String(repeating: "x", count: 256), String(repeating: "y", count: 255)]
      let (parent, newParent) = (directory(&random), directory(&random))
      let (name, newName) = (random.element(of: names), random.element(of: names))
      let (place, newPlace) = (nodes[parent]!, nodes[newParent]!)
      switch random.below(13) {
      case 12: return removeTree(name, in: parent, &random)
      case 0, 1: return make(.file, name, in: parent) { $0.makeFile(name, in: place) }
      case 2, 3: return make(.directory, name, in: parent) { $0.makeDirectory(name, in: place) }
      case 4: return make(.symlink, name, in: parent) { $0.makeLink(name, in: place, to: "somewhere") }
      case 5:
        // What the store has is materialized by it.
        let items = model.items.filter { $0.value.links > 0 && !stored.contains($0.key) }.keys.sorted()
        guard !items.isEmpty else { return (nil, nil, "nothing to link") }
        let item = random.element(of: items)
        let done = fixture.link(nodes[item]!, as: name, in: place)
        return (model.link(item, name, in: parent), done.errno, "link \(item) \(parent)/\(name)")
      case 6, 7:
        let done = fixture.unlink(name, in: place)
        return (model.remove(name, in: parent, isDirectory: false), done.errno, "unlink \(parent)/\(name)")
      case 8:
        let done = fixture.removeDirectory(name, in: place)
        return (model.remove(name, in: parent, isDirectory: true), done.errno, "rmdir \(parent)/\(name)")
      default:
        let options = random.element(of: [RenameOptions(), [], .noReplace, .exchange])
        let done = fixture.rename(name, in: place, to: newName, into: newPlace, options)
        let expected = model.rename(name, in: parent, to: newName, in: newParent, options)
        return (expected, done.errno, "rename \(options.rawValue) \(parent)/\(name) \(newParent)/\(newName)")
      }
    }

    /// Removes a tree; what was in it goes now or later, and nothing can be done in it in between.
    private mutating func removeTree(
      _ name: String, in parent: Int, _ random: inout TestRandom
    ) -> (expected: String?, found: String?, what: String) {
      let path = fixture.engine.describe(nodes[parent]!).map { String(decoding: $0.path, as: UTF8.self) } ?? ""
      let before = model.items.filter { $0.value.kind == .directory && $0.value.parent != nil }.keys
      let removal = fixture.detach(path + "/" + name)
      let found: String? = if case .refused(_, let errno) = removal { errno } else { nil }
      let expected = name.utf8.count > 255 ? "ENOENT" : model.removeTree(name, in: parent)
      if let gone = before.sorted().last(where: { model.items[$0]?.parent == nil }), let node = nodes[gone] {
        for _ in 0..<2 {
          let made = fixture.engine.state.withLock { $0.namespace.index(of: node) } != nil ? "ENOENT" : "ESTALE"
          #expect(fixture.makeFileNow("late", in: node) == made)
          _ = fixture.lane.runOne()
        }
      }
      if random.oneIn(2) { fixture.lane.runAll() }
      return (expected, found, "remove tree \(parent)/\(name)")
    }

    private mutating func make(
      _ kind: ItemKind, _ name: String, in parent: Int, _ call: (EngineFixture) -> Done
    ) -> (expected: String?, found: String?, what: String) {
      let done = call(fixture)
      let (errno, item) = model.make(kind, name, in: parent)
      if let node = done.node { nodes[item] = node }
      // A name that is there is the kernel's to open.
      let found = kind == .file && done.errno == "ESTALE" ? "EEXIST" : done.errno
      return (errno, found, "make \(kind) \(parent)/\(name)")
    }

    /// What each directory is told of changes below it, beside a look at all of them.
    private func checkChanges(_ context: String) {
      fixture.engine.state.withLock { state in
        var changed: [NodeIndex: Bool] = [:]
        func isChanged(_ node: NodeIndex) -> Bool {
          if let known = changed[node] { return known }
          guard state.namespace[node].kind == .directory else { return state.namespace[node].isDirty }
          var found = false
          var name = state.namespace[node].firstChild
          while name != .end {
            let record = state.namespace.record(of: name)
            found =
              found || (record.isPresent && (record.isLocal || isChanged(record.node)))
              || record.standing == .removed
            name = record.nextSibling
          }
          changed[node] = found
          return found
        }
        for (item, known) in model.items where known.kind == .directory && known.parent != nil {
          guard let node = state.namespace.index(of: nodes[item]!) else { continue }
          #expect(state.namespace.isChanged(node) == isChanged(node), "directory \(item), \(context)")
        }
      }
    }

    func check(_ context: String) {
      checkChanges(context)
      for (item, known) in model.items where known.kind == .directory && known.parent != nil {
        let found = fixture.entries(of: nodes[item]!)
        #expect(found == known.children.mapValues { nodes[$0]! }, "directory \(item), \(context)")
        #expect(fixture.attributes(nodes[item]!).map { Int($0.linkCount) } == known.links, "\(item), \(context)")
        for (name, child) in known.children {
          #expect(fixture.lookUpCounted(name, in: nodes[item]!) == nodes[child], "\(item)/\(name), \(context)")
          #expect(
            fixture.attributes(nodes[child]!).map { Int($0.linkCount) } == model.items[child]!.links, "\(context)")
          #expect(fixture.attributes(nodes[child]!)?.kind == model.items[child]!.kind, "\(context)")
        }
      }
    }
  }

  @Test(arguments: TestSeed.seeds) func everyChangeIsAsInATree(seed: UInt64) {
    var random = TestRandom(seed: seed)
    var pair = Pair(
      ["r/a": 3, "r/b/c": 4, "r/b/d": 5, "r/b/a/b": 6, "r/c/e": 7, "r/d/d/d/d": 8, "r/e": 0])
    for step in 0..<3_000 {
      let (expected, found, what) = pair.step(&random)
      guard expected == found else {
        Issue.record("\(what): \(found ?? "ok"), not \(expected ?? "ok"), step \(step), seed \(seed)")
        return
      }
      // What is dataless, or listed again, is as before.
      if random.oneIn(40), let directory = pair.nodes[pair.directory(&random)] { _ = pair.fixture.evict(directory) }
      if random.oneIn(200) { _ = pair.fixture.refresh("") }
      if step % 50 == 0 { pair.check("step \(step), seed \(seed)") }
    }
    pair.check("seed \(seed)")
    #expect(pair.fixture.store.opens.load(ordering: .relaxed) == 0, "names were changed, and content was fetched")
  }

  @Test func removingATreeOfTheStoreFetchesNothingAndIsRemembered() {
    let fixture = EngineFixture.writable(["d/a": 3, "d/b": 4, "d/e/f": 5, "g": 6])
    let d = fixture.node("d")
    #expect(fixture.removeDirectory("d") == .failed("ENOTEMPTY"))
    let e = fixture.entries(of: d)["e"]!
    #expect(fixture.unlink("f", in: e) == .ok)
    #expect(fixture.removeDirectory("e", in: d) == .ok)
    for name in ["a", "b"] { #expect(fixture.unlink(name, in: d) == .ok) }
    #expect(fixture.removeDirectory("d") == .ok)
    #expect(fixture.store.opens.load(ordering: .relaxed) == 0)
    #expect(fixture.entries(of: .root).keys.sorted() == ["g"])
    #expect(fixture.engine.changes.namesRemoved >= 1)
    #expect(fixture.refresh("").error == nil)
    #expect(fixture.entries(of: .root).keys.sorted() == ["g"])
    // The store has it still.
    #expect(fixture.store.bytes("d/e/f").count == 5)
  }

  /// `mv s/* .; rmdir s`: what was moved is fetched from where the store has it.
  @Test func whatWasMovedOutOfARemovedDirectoryIsStillFetched() {
    let fixture = EngineFixture.writable(["s/d/x": 10, "s/f": 20, "g": 1])
    let s = fixture.node("s")
    let d = fixture.node("s/d")
    #expect(fixture.rename("d", in: s, to: "d") == .ok)
    #expect(fixture.rename("f", in: s, to: "f") == .ok)
    #expect(fixture.removeDirectory("s") == .ok)
    fixture.forget(s)
    // Something that gives names back.
    _ = fixture.makeFile("z")
    _ = fixture.unlink("z")
    fixture.forget(d)
    fixture.lane.runAll()
    #expect(fixture.evict(fixture.node("d")) == nil)
    #expect(fixture.entries(of: fixture.node("d")).keys.sorted() == ["x"])
    #expect(fixture.content("d/x") == PatternBytes.bytes(0, 10))
    #expect(fixture.content("f") == PatternBytes.bytes(0, 20))
    #expect(fixture.refresh("").error == nil)
    #expect(fixture.entries(of: .root).keys.sorted() == ["d", "f", "g"])
  }

  @Test func aDirectoryThatIsDatalessIsListedBeforeItIsRemoved() {
    let fixture = EngineFixture.writable(["d/a": 3])
    fixture.list("")
    #expect(fixture.removeDirectory("d") == .failed("ENOTEMPTY"))
    #expect(fixture.rename("d", to: "x") == .ok)
    #expect(fixture.makeDirectory("d").node != nil)
    #expect(fixture.rename("d", to: "x") == .failed("ENOTEMPTY"))
    #expect(fixture.entries(of: fixture.node("x")).keys.sorted() == ["a"])
  }

  /// Places of items and names that are gone are used again, and nothing is kept of them.
  @Test func whatComesAndGoesLeavesNothing() {
    let fixture = EngineFixture.writable(["s/a": 3])
    let place = fixture.node("s")
    var ends: [(UInt32, UInt32)] = []
    for round in 0..<40 {
      let directory = fixture.makeDirectory("d", in: place).node!
      let one = fixture.makeFile("one", in: directory).node!
      let two = fixture.makeFile("two", in: directory).node!
      let link = fixture.makeLink("link", in: directory, to: "there").node!
      #expect(fixture.setAttribute("user.a", [1], of: one) == nil)
      let (handle, _) = fixture.openForWriting(two)
      fixture.write([1, 2], to: two, handle, at: 0)
      fixture.close(two, handle)
      #expect(fixture.rename("one", in: directory, to: "two", into: directory, .exchange) == .ok)
      #expect(fixture.rename("one", in: directory, to: "three\(round % 3)", into: directory) == .ok)
      #expect(fixture.rename("two", in: directory, to: "three\(round % 3)", into: directory) == .ok)
      #expect(fixture.link(one, as: "again", in: place) == .made(one))
      for (name, parent) in [("three\(round % 3)", directory), ("again", place), ("link", directory)] {
        #expect(fixture.unlink(name, in: parent) == .ok)
      }
      #expect(fixture.removeDirectory("d", in: place) == .ok)
      for node in [one, two, link, directory] { fixture.forget(node) }
      fixture.lane.runAll()
      fixture.engine.state.withLock { ends.append(($0.namespace.nodeEnd, $0.namespace.nameEnd)) }
      for node in [one, two, link, directory] { #expect(fixture.attributes(node) == nil, "round \(round)") }
    }
    #expect(ends[39].0 == ends[5].0 && ends[39].1 == ends[5].1, "\(ends)")
    #expect(fixture.content.items == 0 && fixture.engine.changes == VolumeChanges())
    #expect(fixture.engine.state.withLock { $0.extras.bytes } == 0)
    #expect(fixture.evict(place) == nil)
  }

  @Test func manyNamesAreRemovedWithoutALongLookAtTheDirectory() {
    let files = Dictionary(uniqueKeysWithValues: (0..<3_000).map { ("d/file\($0)", 1) })
    let fixture = EngineFixture.writable(files)
    let d = fixture.node("d")
    for name in fixture.entries(of: d).keys { #expect(fixture.unlink(name, in: d) == .ok) }
    #expect(fixture.makeFile("last", in: d).node != nil)
    #expect(fixture.removeDirectory("d") == .failed("ENOTEMPTY"))
    #expect(fixture.unlink("last", in: d) == .ok)
    #expect(fixture.removeDirectory("d") == .ok)
  }
}

extension ItemKind {
  fileprivate var isFile: Bool { self == .file }
}

extension EngineFixture {
  /// Makes a file, and runs nothing else. - Returns: The errno.
  fileprivate func makeFileNow(_ name: String, in parent: NodeID) -> String? {
    let answer = Array(name.utf8).withUnsafeBufferPointer {
      engine.create($0, in: parent, mode: 0o644, umask: 0, openFlags: 2, by: Self.maker)
    }
    if case .failed(let errno) = answer { return errno.name }
    return nil
  }

  /// Looks a name up, as the kernel does.
  func lookUpCounted(_ name: String, in parent: NodeID) -> NodeID? {
    let found = Array(name.utf8).withUnsafeBufferPointer { engine.lookup($0, in: parent) }
    if case .found(let item) = found { return item.node }
    return nil
  }
}
