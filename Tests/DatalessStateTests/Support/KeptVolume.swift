import DatalessCore
@testable import DatalessState
import DatalessStores
import Glibc
import Synchronization
import SystemPackage

/// A volume over a directory that is kept in another one, without a kernel: an engine, as the daemon puts it together,
/// and calls by path.
final class KeptVolume {
  let state: StateVolume
  let engine: Engine
  private let lane = ManualLane()
  private let timer = ManualTimer()
  private let waiters = Atomic<UInt64>(0)

  static let caller = Caller(
    process: ProcessID(rawValue: 1), threadID: 10, pid: 10, isMainThread: true, uid: 1000, gid: 1001)

  init(_ fixture: StateFixture, source: Scratch) throws(FSError) {
    let store = try LocalStore(source: FilePath(source.path))
    state = try StateVolume(
      try fixture.directory(), source: source.path, root: store.root, lane: lane, timer: timer)
    var configuration = EngineConfiguration()
    configuration.writing = .kept
    configuration.journal = state.journal
    configuration.savedState = state
    configuration.firstMadeNumber = state.nextMadeNumber
    configuration.timeOfDay = {
      var now = timespec()
      clock_gettime(CLOCK_REALTIME, &now)
      return Timestamp(seconds: Int64(now.tv_sec), nanoseconds: UInt32(now.tv_nsec))
    }
    engine = Engine(
      configuration: configuration, store: .blocking(store), content: state.content, timer: timer, blocking: lane,
      metadata: lane, kernel: NoKernel(), events: NoEvents(), signals: NoSignals(), processes: NoProcesses())
    try engine.restoreRoot()
  }

  /// As `unmount` does it.
  func unmount() throws(FSError) {
    engine.end(FSError(.timedOut, "the volume is being unmounted"))
    run()
    try state.close()
    run()
  }

  func run() { lane.runAll() }

  private func makeWaiter() -> WaiterID { WaiterID(rawValue: waiters.add(1, ordering: .relaxed).newValue) }

  // MARK: - Fetching

  /// Files and directories that were fetched, or listed, from SOURCE.
  var fetched: (files: Int64, directories: Int64) { (engine.totals.files, engine.totals.directories) }

  /// - Returns: The errno's name if it failed.
  @discardableResult
  func bring(_ node: NodeID, _ trigger: Trigger = .lookup) -> String? {
    let answer = Mutex<String?>("pending")
    let admission = engine.materialize(
      node, TriggerRequest(trigger: trigger, caller: Self.caller), waiter: makeWaiter()
    ) { result in
      if case .failed(let error) = result {
        answer.withLock { $0 = error.errno.name }
      } else {
        answer.withLock { $0 = nil }
      }
    }
    switch admission {
    case .ready: return nil
    case .failed(let error): return error.errno.name
    case .parked:
      run()
      return answer.withLock { $0 }
    }
  }

  /// nil for a path that does not exist; an errno's name if a directory on the way cannot be listed.
  func find(_ path: String) -> (node: NodeID?, errno: String?) {
    while true {
      switch engine.resolve(bytes(path)) {
      case .found(let node): return (node, nil)
      case .absent: return (nil, nil)
      case .insideDataless(let directory, _, _):
        if let errno = bring(directory) { return (nil, errno) }
      }
    }
  }

  func node(_ path: String) -> NodeID { find(path).node ?? NodeID(rawValue: 0) }

  private func split(_ path: String) -> (parent: NodeID, name: [UInt8]) {
    let parts = path.split(separator: "/")
    let parent = node(parts.dropLast().joined(separator: "/"))
    bring(parent)
    return (parent, bytes(String(parts.last ?? "")))
  }

  /// Does what is in the way, and calls again. - Returns: An errno's name, or nil.
  private func settle(_ call: () -> ChangeAnswer) -> String? {
    defer { run() }
    while true {
      switch call() {
      case .done: return nil
      case .failed(let errno): return errno.name
      case .needsListing(let node), .needsEmptiness(let node): if let errno = bring(node) { return errno }
      }
    }
  }

  private func settle(_ call: () -> MakeAnswer) -> String? {
    defer { run() }
    while true {
      switch call() {
      case .made: return nil
      case .failed(let errno): return errno.name
      case .needsListing(let node): if let errno = bring(node) { return errno }
      case .needsMaterialization(let node): if let errno = bring(node, .link) { return errno }
      }
    }
  }

  private func wait(for number: ChangeNumber) {
    engine.whenDurable(number) { _ in }
    run()
  }

  // MARK: - Changes

  @discardableResult
  func makeDirectory(_ path: String) -> String? {
    let (parent, name) = split(path)
    return settle {
      name.withUnsafeBufferPointer {
        engine.makeDirectory($0, in: parent, mode: 0o755, umask: 0o022, by: Self.caller)
      }
    }
  }

  @discardableResult
  func makeLink(_ path: String, to target: String) -> String? {
    let (parent, name) = split(path)
    let target = bytes(target)
    return settle {
      name.withUnsafeBufferPointer { name in
        target.withUnsafeBufferPointer {
          engine.makeSymbolicLink(name, in: parent, to: $0, by: Self.caller)
        }
      }
    }
  }

  @discardableResult
  func link(_ path: String, to newPath: String) -> String? {
    let node = node(path)
    let (parent, name) = split(newPath)
    return settle { name.withUnsafeBufferPointer { engine.link(node, as: $0, in: parent, by: Self.caller) } }
  }

  @discardableResult
  func unlink(_ path: String) -> String? {
    let (parent, name) = split(path)
    return settle { name.withUnsafeBufferPointer { engine.unlink($0, in: parent, by: Self.caller) } }
  }

  @discardableResult
  func removeDirectory(_ path: String) -> String? {
    let (parent, name) = split(path)
    return settle { name.withUnsafeBufferPointer { engine.removeDirectory($0, in: parent, by: Self.caller) } }
  }

  @discardableResult
  func rename(_ path: String, to newPath: String, _ options: RenameOptions = []) -> String? {
    let (parent, name) = split(path)
    let (newParent, newName) = split(newPath)
    return settle {
      name.withUnsafeBufferPointer { name in
        newName.withUnsafeBufferPointer {
          engine.rename(name, in: parent, to: $0, in: newParent, options: options, by: Self.caller)
        }
      }
    }
  }

  /// Makes a file, or opens one, and writes to it. - Parameter syncs: Whether it is flushed.
  @discardableResult
  func write(_ text: String, to path: String, at offset: Int64 = 0, syncs: Bool = false) -> String? {
    let (parent, name) = split(path)
    if find(path).node == nil {
      let answer = name.withUnsafeBufferPointer {
        engine.create($0, in: parent, mode: 0o644, umask: 0o022, openFlags: O_RDWR, by: Self.caller)
      }
      guard case .made(let item, let handle) = answer else { return "not made" }
      engine.release(item.node, handle: handle)
    }
    let node = node(path)
    var handle: UInt64?
    while handle == nil {
      switch engine.openForWriting(node, openFlags: O_RDWR, io: .direct, clearsSetID: false, by: Self.caller) {
      case .opened(let given, _): handle = given
      case .needsMaterialization: if let errno = bring(node, .open) { return errno }
      case .needsDurability(let number): wait(for: number)
      case .isBeingEvicted: return "evicting"
      case .failed(let error): return error.errno.name
      }
    }
    guard let handle else { return "not open" }
    defer {
      engine.release(node, handle: handle)
      run()
    }
    while true {
      let answer = bytes(text).withUnsafeBytes {
        engine.write($0, to: node, WriteAccess(handle: handle, offset: offset))
      }
      switch answer {
      case .done:
        if syncs {
          engine.synchronize(node) { _ in }
          run()
        }
        return nil
      case .needsMaterialization: if let errno = bring(node, .write) { return errno }
      case .needsDurability(let number): wait(for: number)
      // There is no quota.
      case .needsRoom: return "room"
      case .failed(let error): return error.errno.name
      }
    }
  }

  @discardableResult
  func change(_ path: String, _ set: (inout AttributeChange) -> Void) -> String? {
    let node = node(path)
    var change = AttributeChange()
    set(&change)
    defer { run() }
    while true {
      switch engine.setAttributes(change, of: node, by: Self.caller) {
      case .changed: return nil
      case .needsMaterialization: if let errno = bring(node, .truncate) { return errno }
      case .needsDurability(let number): wait(for: number)
      // There is no quota.
      case .needsRoom: return "room"
      case .failed(let error): return error.errno.name
      }
    }
  }

  func setAttribute(_ name: String, to value: String?, of path: String) {
    let node = node(path)
    if let value {
      engine.setExtendedAttribute(
        bytes(name), to: bytes(value), how: .any, of: node, by: Self.caller, waiter: makeWaiter()
      ) { _ in }
    } else {
      engine.removeExtendedAttribute(bytes(name), of: node, by: Self.caller, waiter: makeWaiter()) { _ in }
    }
    run()
  }

  func evict(_ path: String) {
    engine.evict(node(path), by: "command") { _ in }
    run()
  }
}

// MARK: - Looking

extension KeptVolume {
  /// The content of a file, fetched if need be; an errno's name if that fails.
  func read(_ path: String) -> String {
    let node = node(path)
    if let errno = bring(node, .read) { return errno }
    guard
      case .resident(let content, let count) = engine.read(
        node, handle: 0, offset: 0, length: 1 << 20, isDirect: true, threadID: 10)
    else { return "not resident" }
    guard count > 0 else { return "" }
    var buffer = [UInt8](repeating: 0, count: count)
    let found = buffer.withUnsafeMutableBytes { bytes -> Int in
      (try? state.content.read(content, into: bytes, at: 0)) ?? -1
    }
    return found == count ? String(decoding: buffer, as: UTF8.self) : "short: \(found) of \(count)"
  }

  func names(_ path: String) -> [String] {
    let node = node(path)
    if let errno = bring(node, .readdir) { return [errno] }
    var found: [String] = []
    _ = engine.readDirectory(node, from: 2) { entry in
      found.append(String(decoding: entry.name, as: UTF8.self))
      return true
    }
    return found.sorted()
  }

  func attributes(_ path: String) -> ItemAttributes? { engine.attributes(of: node(path))?.attributes }

  private func ask(
    _ call: (@escaping @Sendable (Result<[UInt8], FSError>) -> Void) -> Void
  ) -> String {
    let answer = Mutex("pending")
    call { result in
      switch result {
      case .success(let bytes): answer.withLock { $0 = String(decoding: bytes, as: UTF8.self) }
      case .failure(let error): answer.withLock { $0 = error.errno.name }
      }
    }
    run()
    return answer.withLock { $0 }
  }

  func target(_ path: String) -> String {
    let node = node(path)
    return ask { engine.readLink(node, threadID: 10, waiter: makeWaiterForLooking(), completion: $0) }
  }

  func attribute(_ name: String, of path: String) -> String {
    let node = node(path)
    return ask {
      engine.extendedAttribute(bytes(name), of: node, threadID: 10, waiter: makeWaiterForLooking(), completion: $0)
    }
  }

  private func makeWaiterForLooking() -> WaiterID { WaiterID(rawValue: UInt64.random(in: 1 << 40..<1 << 62)) }

  /// All that callers see, a line for each name. Fetches everything.
  func tree(_ path: String = "") -> [String] {
    var lines: [String] = []
    for name in names(path) {
      let full = path.isEmpty ? name : "\(path)/\(name)"
      guard let found = attributes(full) else {
        lines.append("\(full): \(find(full).errno ?? "gone")")
        continue
      }
      var line =
        "\(full): \(String(found.mode, radix: 8)) \(found.uid):\(found.gid) ino \(found.inode) links \(found.linkCount)"
        + " mtime \(found.modificationTime.seconds).\(found.modificationTime.nanoseconds)"
      switch found.kind {
      case .file: line += " size \(found.size) '\(read(full))'"
      case .symlink: line += " -> \(target(full))"
      default: break
      }
      lines.append(line + " x '\(attribute("user.x", of: full))'")
      if found.kind == .directory { lines += tree(full) }
    }
    return lines
  }
}

private struct NoKernel: KernelCache {
  func invalidateAttributes(of node: NodeID) -> Bool { true }
  func expireNames() {}
  func invalidateContent(of node: NodeID, completion: @escaping @Sendable (_ isKnown: Bool) -> Void) {
    completion(true)
  }
  func invalidateDirectory(
    _ node: NodeID, names: @escaping @Sendable () -> [[UInt8]], completion: @escaping @Sendable () -> Void
  ) { completion() }
}

private struct NoEvents: EventSink { func record(_ event: Event) {} }
private struct NoSignals: SignalProbe { func hasPendingFatalSignal(threadID: Int32) -> Bool? { false } }
private struct NoProcesses: ProcessDirectory { func lineage(of process: ProcessID) -> [ProcessFacts] { [] } }
