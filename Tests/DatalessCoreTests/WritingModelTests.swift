@testable import DatalessCore
import Synchronization
import SystemPackage
import TestSupport
import Testing

/// Names and contents together, beside a model: everything that a program may do, while files are evicted, fetched in
/// parts, forgotten by the kernel and refreshed, and fetches fail.
@Suite struct WritingModelTests {
  private final class Item {
    let isDirectory: Bool
    /// Where the store has it, by all its names there.
    let keys: [String]
    var bytes: [UInt8] = []
    var children: [String: Item] = [:]
    var links: Int
    /// As the kernel knows it.
    var node: NodeID?
    var handles: [UInt64] = []

    init(isDirectory: Bool, keys: [String] = [], bytes: [UInt8] = [], links: Int = 1) {
      self.isDirectory = isDirectory
      self.keys = keys
      self.bytes = bytes
      self.links = links
    }

    func contains(_ other: Item) -> Bool { self === other || children.values.contains { $0.contains(other) } }
  }

  private struct Place {
    let directory: Item
    let path: String
    func path(of name: String) -> String { path.isEmpty ? name : path + "/" + name }
  }

  private final class Run {
    let fixture: EngineFixture
    let context: String
    var random: TestRandom
    let root = Item(isDirectory: true)
    /// Files without a name that are open.
    var unlinked: [Item] = []
    var faults: Set<String> = []
    var reads: [Answer] = []
    private let names = ["a", "b", "c", "x", "y", String(repeating: "n", count: 255)]

    init(seed: UInt64, _ hydration: Hydration, _ profile: Profile, hasOwnFiles: Bool) {
      random = TestRandom(seed: seed)
      context = "seed \(seed), \(hydration), \(profile.name), own files \(hasOwnFiles)"
      let files = [
        "d1/x": 20_000, "d1/a": 10, "d1/e/b": 9_000, "d2/c": 5, "d2/e/q": 70_000, "f": 300, "empty": 0, "d3/n/n/n": 7,
      ]
      let links = ["d2/y": "d1/x", "d3/v": "d1/a", "d3/w": "f"]
      fixture = EngineFixture.writable(files, links: links.sorted { $0.key < $1.key }.map { ($0.key, to: $0.value) }) {
        $0.simulation.hydration = hydration
        $0.simulation.profile = profile
        $0.simulation.latency = LatencyModel(.fixed(.milliseconds(2)))
      }
      fixture.content.ownFiles.store(hasOwnFiles, ordering: .relaxed)
      for (path, _) in files {
        let other = links.first { $0.value == path }?.key
        let item = Item(
          isDirectory: false, keys: [path, other].compactMap(\.self), bytes: fixture.store.bytes(path),
          links: other == nil ? 1 : 2)
        for name in item.keys { enter(item, name) }
      }
    }

    private func enter(_ item: Item, _ path: String) {
      var directory = root
      let parts = path.split(separator: "/").map(String.init)
      for part in parts.dropLast() {
        let next = directory.children[part] ?? Item(isDirectory: true)
        directory.children[part] = next
        directory = next
      }
      directory.children[parts.last ?? ""] = item
    }

    func places(_ from: Item, _ path: String = "") -> [Place] {
      [Place(directory: from, path: path)]
        + from.children.sorted { $0.key < $1.key }.filter(\.value.isDirectory).flatMap {
          places($0.value, path.isEmpty ? $0.key : path + "/" + $0.key)
        }
    }

    func node(_ item: Item, _ path: String) -> NodeID {
      if let node = item.node { return node }
      let node = path.isEmpty ? .root : fixture.lookUp(path)
      item.node = node
      #expect(node.rawValue != 0, "\(path) is gone, \(context)")
      return node
    }

    func isBroken(_ item: Item) -> Bool { item.keys.contains { faults.contains($0) } }

    /// - Returns: Whether it was done.
    private func isDone(_ errno: String?, _ item: Item, _ what: String) -> Bool {
      if errno == "EIO", isBroken(item) { return false }
      #expect(errno == nil, "\(what), \(context)")
      return errno == nil
    }

    private func drop(_ name: String, of directory: Item) {
      guard let item = directory.children.removeValue(forKey: name), !item.isDirectory else { return }
      item.links -= 1
      if item.links == 0, !item.handles.isEmpty { unlinked.append(item) }
    }

    /// A file with a name, or one that is open without.
    private func file() -> (item: Item, path: String)? {
      if !unlinked.isEmpty, random.oneIn(5) { return (random.element(of: unlinked), "") }
      var files: [(Item, String)] = []
      for place in places(root) {
        for (name, item) in place.directory.children.sorted(by: { $0.key < $1.key }) where !item.isDirectory {
          files.append((item, place.path(of: name)))
        }
      }
      return files.isEmpty ? nil : random.element(of: files)
    }

    func step() -> String {
      switch random.below(20) {
      case 0, 1, 2, 3, 4: changeContent()
      case 5, 6, 7, 8, 9, 10: changeNames()
      case 11: open()
      case 12: close()
      case 13: fault()
      case 14, 15: readPart()
      case 16: forget()
      case 17: evict()
      case 18: refresh()
      default: advance()
      }
    }

    private func advance() -> String {
      fixture.timer.advance(milliseconds: Int64(random.below(3))) { [lane = fixture.lane] in _ = lane.runOne() }
      return "advance"
    }

    private func refresh() -> String {
      #expect(fixture.refresh("").error == nil, "\(context)")
      return "refresh"
    }

    private func open() -> String {
      guard let (item, path) = file() else { return "" }
      let (handle, errno) = fixture.openForWriting(node(item, path))
      if errno == nil { item.handles.append(handle) } else { #expect(errno == nil, "open \(path), \(context)") }
      return "open \(path)"
    }

    private func close() -> String {
      guard let (item, path) = file(), let handle = item.handles.popLast(), let node = item.node else { return "" }
      fixture.close(node, handle)
      if item.links == 0, item.handles.isEmpty {
        unlinked.removeAll { $0 === item }
        fixture.forget(node)
      }
      return "close \(path)"
    }

    private func fault() -> String {
      if let key = faults.popFirst() {
        fixture.store.edit(key) { $0.failure = nil }
        return "mend \(key)"
      }
      guard let (item, _) = file() else { return "" }
      for key in item.keys {
        faults.insert(key)
        fixture.store.edit(key) { $0.failure = FSError(.ioError, "no network") }
      }
      return "break \(item.keys)"
    }

    private func readPart() -> String {
      guard let (item, path) = file(), !item.bytes.isEmpty else { return "" }
      let offset = random.below(item.bytes.count)
      reads.append(
        fixture.trigger(
          node(item, path),
          TriggerRequest(trigger: .read, caller: EngineFixture.caller(), offset: Int64(offset), length: 100)))
      return "read \(path) from \(offset)"
    }

    private func forget() -> String {
      guard let (item, path) = file(), item.handles.isEmpty, item.links > 0, let node = item.node else { return "" }
      item.node = nil
      fixture.forget(node)
      return "forget \(path)"
    }

    private func evict() -> String {
      if random.oneIn(3) {
        let place = random.element(of: places(root))
        _ = fixture.evict(node(place.directory, place.path))
        return "evict \(place.path)"
      }
      guard let (item, path) = file() else { return "" }
      _ = fixture.evict(node(item, path))
      return "evict \(path)"
    }

    private func changeContent() -> String {
      guard let (item, path) = file() else { return "" }
      let node = node(item, path)
      if random.oneIn(3) {
        let size = random.oneIn(2) ? 0 : random.below(item.bytes.count + 500)
        let what = "truncate \(path) to \(size)"
        guard isDone(fixture.truncate(node, to: Int64(size)), item, what) else { return what }
        item.bytes = Array(item.bytes.prefix(size)) + [UInt8](repeating: 0, count: max(0, size - item.bytes.count))
        return what
      }
      guard let handle = item.handles.last else { return open() }
      let offset = random.below(item.bytes.count + 300)
      let bytes = (0..<1 + random.below(200)).map { _ in random.byte() }
      let what = "write \(path) at \(offset)"
      guard isDone(fixture.write(bytes, to: node, handle, at: offset).errno, item, what) else { return what }
      let missing = offset + bytes.count - item.bytes.count
      if missing > 0 { item.bytes += [UInt8](repeating: 0, count: missing) }
      item.bytes.replaceSubrange(offset..<offset + bytes.count, with: bytes)
      return what
    }

    private func changeNames() -> String {
      let place = random.element(of: places(root))
      let directory = place.directory
      let parent = node(directory, place.path)
      let name = random.oneIn(2) ? random.element(of: names) : directory.children.keys.sorted().first ?? "a"
      guard let item = directory.children[name] else { return make(name, in: place, parent) }
      let what = "\(place.path(of: name))"
      switch random.below(3) {
      case 0:
        if item.isDirectory {
          let errno = fixture.removeDirectory(name, in: parent).errno
          #expect(errno == (item.children.isEmpty ? nil : "ENOTEMPTY"), "rmdir \(what), \(context)")
          if errno == nil { directory.children[name] = nil }
          return "rmdir \(what)"
        }
        let node = node(item, place.path(of: name))
        #expect(fixture.unlink(name, in: parent) == .ok, "unlink \(what), \(context)")
        drop(name, of: directory)
        if item.links == 0, item.handles.isEmpty { fixture.forget(node) }
        return "unlink \(what)"
      case 1: return link(item, place.path(of: name))
      default: return rename(name, in: place)
      }
    }

    private func make(_ name: String, in place: Place, _ parent: NodeID) -> String {
      let item = Item(isDirectory: random.oneIn(3))
      if item.isDirectory {
        item.node = fixture.makeDirectory(name, in: parent).node
      } else {
        let (done, handle) = fixture.create(name, in: parent)
        item.node = done.node
        item.handles = [handle]
      }
      #expect(item.node != nil, "make \(place.path(of: name)), \(context)")
      place.directory.children[name] = item
      return "make \(place.path(of: name))"
    }

    private func link(_ item: Item, _ path: String) -> String {
      let place = random.element(of: places(root))
      let name = random.element(of: names)
      guard !item.isDirectory, place.directory.children[name] == nil else { return "" }
      let (node, parent) = (node(item, path), node(place.directory, place.path))
      let what = "link \(path) \(place.path(of: name))"
      if fixture.engine.isDataless(parent) { fixture.list(place.path) }
      let answer = Array(name.utf8).withUnsafeBufferPointer {
        fixture.engine.link(node, as: $0, in: parent, isComing: random.oneIn(2), by: EngineFixture.maker)
      }
      if case .needsMaterialization = answer {
        guard isDone(fixture.link(node, as: name, in: parent).errno, item, what) else { return what }
      } else if case .failed(let errno) = answer {
        Issue.record("\(what): \(errno.name), \(context)")
        return what
      }
      item.links += 1
      place.directory.children[name] = item
      return what
    }

    private func rename(_ name: String, in place: Place) -> String {
      let target = random.element(of: places(root))
      let newName = random.element(of: names)
      guard let item = place.directory.children[name] else { return "" }
      let what = "rename \(place.path(of: name)) \(target.path(of: newName))"
      let replaced = target.directory.children[newName]
      guard !item.contains(target.directory), replaced !== item else { return "" }
      if let replaced {
        guard replaced.isDirectory == item.isDirectory, replaced.children.isEmpty else { return "" }
        _ = node(replaced, target.path(of: newName))
      }
      let (parent, newParent) = (node(place.directory, place.path), node(target.directory, target.path))
      let done = fixture.rename(name, in: parent, to: newName, into: newParent)
      #expect(done == .ok, "\(what), \(context)")
      drop(newName, of: target.directory)
      place.directory.children[name] = nil
      target.directory.children[newName] = item
      if let replaced, !replaced.isDirectory, replaced.links == 0, replaced.handles.isEmpty, let node = replaced.node {
        fixture.forget(node)
      }
      return what
    }

    // MARK: - Comparing

    func check(_ what: String) {
      for item in unlinked { check(item, "", what) }
      for place in places(root) {
        let entries = fixture.entries(of: node(place.directory, place.path))
        let expected = place.directory.children.keys.sorted()
        #expect(entries.keys.sorted() == expected, "\(place.path) after \(what), \(context)")
        for (name, item) in place.directory.children where !item.isDirectory {
          check(item, place.path(of: name), what)
        }
      }
    }

    private func check(_ item: Item, _ path: String, _ what: String) {
      let node = node(item, path)
      let place = "\(path) after \(what), \(context)"
      let attributes = fixture.attributes(node)
      #expect(attributes.map { Int($0.linkCount) } == item.links, "\(place)")
      #expect(attributes?.size == Int64(item.bytes.count), "\(place)")
      let handle = fixture.open(node)
      let found = fixture.read(node, handle)
      if found == .failed("EIO"), isBroken(item) {} else { #expect(found == .bytes(item.bytes), "\(place)") }
      fixture.close(node, handle)
    }

    /// Everything goes, and nothing is left.
    func end() {
      for key in faults { fixture.store.edit(key) { $0.failure = nil } }
      faults = []
      check("the end")
      for item in unlinked { end(item) }
      for place in places(root).reversed() {
        let parent = node(place.directory, place.path)
        for (name, item) in place.directory.children.sorted(by: { $0.key < $1.key }) {
          if item.isDirectory {
            #expect(fixture.removeDirectory(name, in: parent) == .ok, "\(context)")
          } else {
            _ = node(item, place.path(of: name))
            #expect(fixture.unlink(name, in: parent) == .ok, "\(context)")
            item.links -= 1
            if item.links == 0 { end(item) }
          }
          place.directory.children[name] = nil
        }
      }
      fixture.timer.advance(milliseconds: 1_000) { [lane = fixture.lane] in lane.runAll() }
      fixture.lane.runAll()
      #expect(reads.allSatisfy { $0.count == 1 }, "a reader was not answered, \(context)")
      #expect(fixture.content.items == 0 && fixture.content.openWriters == 0, "content is left, \(context)")
      #expect(fixture.engine.changes.dirtyFiles == 0 && fixture.engine.changes.namesMade == 0, "\(context)")
      #expect(fixture.engine.attemptsInFlight().isEmpty, "\(context)")
      fixture.engine.state.withLock { state in
        #expect(state.contents.isIdle && state.extras.bytes == 0, "\(context)")
        #expect(state.openFiles.openNow == OpenModes(), "\(context)")
      }
    }

    private func end(_ item: Item) {
      guard let node = item.node else { return }
      for handle in item.handles { fixture.close(node, handle) }
      item.handles = []
      fixture.forget(node)
    }
  }

  @Test(arguments: TestSeed.seeds) func everythingIsAsInTheModel(seed: UInt64) {
    for (number, hydration) in [Hydration.full, .partial, .progressive].enumerated() {
      for hasOwnFiles in [false, true] {
        let profile: Profile = (number + (hasOwnFiles ? 1 : 0)) % 2 == 0 ? .macos : .windows
        let run = Run(seed: seed, hydration, profile, hasOwnFiles: hasOwnFiles)
        for step in 0..<600 {
          let what = run.step()
          if run.random.oneIn(12) { run.check("\(what) (step \(step))") }
        }
        run.end()
      }
    }
  }
}
