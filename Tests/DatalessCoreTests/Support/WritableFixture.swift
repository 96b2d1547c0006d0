@testable import DatalessCore
import Synchronization
import SystemPackage

/// What an operation was answered with: a node, `ok`, or the name of an errno.
enum Done: Equatable, CustomStringConvertible {
  case made(NodeID)
  case ok
  case failed(String)

  var node: NodeID? { if case .made(let node) = self { node } else { nil } }
  var errno: String? { if case .failed(let errno) = self { errno } else { nil } }

  var description: String {
    switch self {
    case .made(let node): "made \(node.rawValue)"
    case .ok: "ok"
    case .failed(let errno): errno
    }
  }
}

/// A clock whose every look is a second later.
final class TestClock: Sendable {
  private let seconds = Atomic<Int64>(2_000_000_000)
  var now: Timestamp {
    Timestamp(seconds: seconds.add(1, ordering: .relaxed).newValue, nanoseconds: 5)
  }
}

/// Changes of a writable volume, as the adapter makes them: what is dataless is materialized first.
extension EngineFixture {
  static func writable(
    _ files: [String: Int], links: [(String, to: String)] = [], writing: EngineConfiguration.Writing = .scratch,
    profile: Profile = .macos, journal: (any JournalSink)? = nil, holders: (any HolderProbe)? = nil,
    _ edit: (inout EngineConfiguration) -> Void = { _ in }
  ) -> EngineFixture {
    var configuration = EngineConfiguration()
    configuration.writing = writing
    configuration.simulation.profile = profile
    let clock = TestClock()
    configuration.timeOfDay = { clock.now }
    if let journal { configuration.journal = journal }
    edit(&configuration)
    return EngineFixture(ScriptedStore(files, links: links), configuration, holders: holders)
  }

  static let maker: Caller = {
    var caller = EngineFixture.caller()
    caller.uid = 1000
    caller.gid = 1001
    return caller
  }()

  private func bytes<Answer>(_ text: String, _ body: (UnsafeBufferPointer<UInt8>) -> Answer) -> Answer {
    Array(text.utf8).withUnsafeBufferPointer(body)
  }

  /// Materializes. - Returns: The errno's name if that failed.
  @discardableResult
  func bring(_ node: NodeID, _ trigger: Trigger) -> String? {
    let answer = self.trigger(node, TriggerRequest(trigger: trigger, caller: Self.maker))
    lane.runAll()
    timer.advance(milliseconds: 0) { [lane] in lane.runAll() }
    for _ in 0..<1_000 where answer.count == 0 {
      timer.advance(milliseconds: 1) { [lane] in lane.runAll() }
      lane.runAll()
    }
    return answer.errno
  }

  private func settle(_ call: () -> MakeAnswer) -> Done {
    defer { lane.runAll() }
    while true {
      switch call() {
      case .made(let item): return .made(item.node)
      case .failed(let errno): return .failed(errno.name)
      case .needsListing(let node): if let errno = bring(node, .lookup) { return .failed(errno) }
      case .needsMaterialization(let node): if let errno = bring(node, .link) { return .failed(errno) }
      }
    }
  }

  private func settle(_ call: () -> ChangeAnswer) -> Done {
    defer { lane.runAll() }
    while true {
      switch call() {
      case .done: return .ok
      case .failed(let errno): return .failed(errno.name)
      case .needsListing(let node), .needsEmptiness(let node):
        if let errno = bring(node, .lookup) { return .failed(errno) }
      }
    }
  }

  func makeDirectory(_ name: String, in parent: NodeID = .root, mode: UInt32 = 0o755) -> Done {
    settle { bytes(name) { engine.makeDirectory($0, in: parent, mode: mode, umask: 0o022, by: Self.maker) } }
  }

  func makeLink(_ name: String, in parent: NodeID = .root, to target: String) -> Done {
    settle {
      bytes(name) { name in
        bytes(target) { engine.makeSymbolicLink(name, in: parent, to: $0, by: Self.maker) }
      }
    }
  }

  func link(_ node: NodeID, as name: String, in parent: NodeID = .root) -> Done {
    settle { bytes(name) { engine.link(node, as: $0, in: parent, by: Self.maker) } }
  }

  func unlink(_ name: String, in parent: NodeID = .root) -> Done {
    settle { bytes(name) { engine.unlink($0, in: parent, by: Self.maker) } }
  }

  func removeDirectory(_ name: String, in parent: NodeID = .root) -> Done {
    settle { bytes(name) { engine.removeDirectory($0, in: parent, by: Self.maker) } }
  }

  func rename(
    _ name: String, in parent: NodeID = .root, to newName: String, into newParent: NodeID = .root,
    _ options: RenameOptions = []
  ) -> Done {
    settle {
      bytes(name) { name in
        bytes(newName) {
          engine.rename(name, in: parent, to: $0, in: newParent, options: options, by: Self.maker)
        }
      }
    }
  }

  /// - Returns: The handle, too, if it is made.
  func create(
    _ name: String, in parent: NodeID = .root, mode: UInt32 = 0o644, flags: Int32 = 2
  ) -> (done: Done, handle: UInt64) {
    var handle: UInt64 = 0
    let done = settle { () -> MakeAnswer in
      let answer = bytes(name) {
        engine.create($0, in: parent, mode: mode, umask: 0o022, openFlags: flags, by: Self.maker)
      }
      switch answer {
      case .made(let item, let given):
        handle = given
        return .made(item)
      case .needsListing(let node): return .needsListing(node)
      case .failed(let errno): return .failed(errno)
      }
    }
    return (done, handle)
  }

  /// Makes a file and closes it.
  func makeFile(_ name: String, in parent: NodeID = .root) -> Done {
    let (done, handle) = create(name, in: parent)
    if let node = done.node { close(node, handle) }
    return done
  }

  func close(_ node: NodeID, _ handle: UInt64) {
    engine.release(node, handle: handle)
    lane.runAll()
  }

  /// The kernel gives all its lookups back.
  func forget(_ node: NodeID) {
    engine.forget([(node: node, count: UInt64(1_000_000))])
    lane.runAll()
  }

  // MARK: - Content

  /// - Returns: The handle, or the errno.
  func openForWriting(_ node: NodeID, flags: Int32 = 2) -> (handle: UInt64, errno: String?) {
    defer { lane.runAll() }
    while true {
      switch engine.openForWriting(node, openFlags: flags, io: .direct, clearsSetID: false, by: Self.maker) {
      case .opened(let handle, _): return (handle, nil)
      case .passthrough(_, let given, let isToBeEmptied):
        let handle = engine.confirmPassthrough(given) ? given : OpenHandle.asCached(given)
        guard isToBeEmptied else { return (handle, nil) }
        let obstacle = engine.empty(node, openedBy: handle, clearsSetID: false, by: Self.maker)
        guard case .failed(let error)? = obstacle else { return (handle, nil) }
        engine.release(node, handle: handle)
        return (0, error.errno.name)
      case .needsMaterialization: if let errno = bring(node, .openTruncate) { return (0, errno) }
      case .isBeingEvicted: return (0, "evicting")
      case .needsDurability: return (0, "durability")
      case .failed(let error): return (0, error.errno.name)
      }
    }
  }

  /// Waits until there is room, for at most a minute. - Returns: Why there will be none.
  private func waitForRoom(_ bytes: Int64) -> String? {
    let answer = Answer()
    engine.waitForRoom(bytes, threadID: 0, waiter: makeWaiter()) { answer.set($0.map { .failed($0) } ?? .ready) }
    lane.runAll()
    var looks = 0
    while answer.count == 0, looks < 600 {
      timer.advance(milliseconds: 100) { [lane] in lane.runAll() }
      looks += 1
    }
    return answer.isReady ? nil : answer.errno ?? "no answer"
  }

  private func settle(_ node: NodeID, _ trigger: Trigger, _ call: () -> WriteAnswer) -> (count: Int, errno: String?) {
    defer { lane.runAll() }
    while true {
      switch call() {
      case .needsRoom(let bytes): if let errno = waitForRoom(bytes) { return (0, errno) }
      case .done(let count): return (count, nil)
      case .needsMaterialization: if let errno = bring(node, trigger) { return (0, errno) }
      case .needsDurability: return (0, "durability")
      case .failed(let error): return (0, error.errno.name)
      }
    }
  }

  @discardableResult
  func write(_ bytes: [UInt8], to node: NodeID, _ handle: UInt64, at offset: Int) -> (count: Int, errno: String?) {
    settle(node, .write) {
      bytes.withUnsafeBytes {
        engine.write($0, to: node, WriteAccess(handle: handle, offset: Int64(offset)))
      }
    }
  }

  func allocate(
    _ kind: AllocationKind, _ range: Range<Int64>, of node: NodeID, _ handle: UInt64
  ) -> (count: Int, errno: String?) {
    settle(node, .write) { engine.allocate(kind, range, of: node, handle: handle, by: Self.maker) }
  }

  /// - Returns: The errno; nil if it is done.
  @discardableResult
  func set(_ change: AttributeChange, of node: NodeID) -> String? {
    defer { lane.runAll() }
    while true {
      switch engine.setAttributes(change, of: node, by: Self.maker) {
      case .needsRoom(let bytes): if let errno = waitForRoom(bytes) { return errno }
      case .changed: return nil
      case .needsMaterialization: if let errno = bring(node, .truncate) { return errno }
      case .needsDurability: return "durability"
      case .failed(let error): return error.errno.name
      }
    }
  }

  @discardableResult
  func truncate(_ node: NodeID, to size: Int64) -> String? {
    var change = AttributeChange()
    change.size = size
    return set(change, of: node)
  }

  func attributes(_ node: NodeID) -> ItemAttributes? { engine.attributes(of: node)?.attributes }

  /// All names below a directory that is listed, with what they lead to.
  func entries(of node: NodeID) -> [String: NodeID] {
    if engine.isDataless(node) { bring(node, .readdir) }
    var found: [String: NodeID] = [:]
    _ = engine.readDirectory(node, from: 2) { entry in
      found[String(decoding: entry.name, as: UTF8.self)] = entry.node
      return true
    }
    return found
  }

  func evict(_ node: NodeID) -> String? {
    let answer = Mutex<String?>("pending")
    engine.evict(node, by: "command") { result in
      if case .refused(let error) = result {
        answer.withLock { $0 = error.errno.name }
      } else {
        answer.withLock { $0 = nil }
      }
    }
    lane.runAll()
    timer.advance(milliseconds: 300) { [lane] in lane.runAll() }
    return answer.withLock { $0 }
  }
}
