import DatalessCore
import Glibc
import Synchronization
import SystemPackage

/// What programs change, by path.
extension KeptVolume {
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

  /// Removes trees. - Parameter empties: Whether they are given back, too.
  @discardableResult
  func remove(_ paths: String..., empties: Bool = true) -> String? {
    let answer = Mutex<RemovalAnswer?>(nil)
    defer { if empties { run() } }
    var caller = Self.caller
    caller.uid = 0
    while true {
      engine.remove(paths.map { bytes($0) }, by: Remover(caller)) { given in answer.withLock { $0 = given } }
      while answer.withLock({ $0 == nil }), lane.runOne() {}
      switch answer.withLock({ given in
        defer { given = nil }
        return given
      }) {
      case .removed: return nil
      case .refused(_, let error): return error.errno.name
      case .needsListing(let directory): if let errno = bring(directory) { return errno }
      case nil: return "no answer"
      }
    }
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

  /// Opens a file for writing.
  private func open(_ node: NodeID) -> (handle: UInt64?, errno: String?) {
    while true {
      switch engine.openForWriting(node, openFlags: O_RDWR, io: .direct, clearsSetID: false, by: Self.caller) {
      case .opened(let given, _), .passthrough(_, let given, _): return (given, nil)
      case .needsMaterialization: if let errno = bring(node, .open) { return (nil, errno) }
      case .needsDurability(let number): wait(for: number)
      case .isBeingEvicted: return (nil, "evicting")
      case .failed(let error): return (nil, error.errno.name)
      }
    }
  }

  /// Opens a file, and leaves it open. - Returns: The errno's name if it failed.
  func hold(_ path: String) -> String? {
    let node = node(path)
    return bring(node, .read) ?? open(node).errno
  }

  /// fallocate(2).
  @discardableResult
  func allocate(_ kind: AllocationKind, _ range: Range<Int64>, of path: String) -> String? {
    let node = node(path)
    let opened = open(node)
    guard let handle = opened.handle else { return opened.errno }
    defer {
      engine.release(node, handle: handle)
      run()
    }
    while true {
      switch engine.allocate(kind, range, of: node, handle: handle, by: Self.caller) {
      case .done: return nil
      case .needsMaterialization: if let errno = bring(node, .write) { return errno }
      case .needsDurability(let number): wait(for: number)
      // There is no quota.
      case .needsRoom: return "room"
      case .failed(let error): return error.errno.name
      }
    }
  }

  /// Makes a file, or opens one, and writes to it.
  ///
  /// - Parameters:
  ///   - syncs: Whether it is flushed.
  ///   - closes: Whether it is closed again.
  ///   - clearsSetID: As `WriteAccess`.
  @discardableResult
  func write(
    _ text: String, to path: String, at offset: Int64 = 0, syncs: Bool = false, closes: Bool = true,
    clearsSetID: Bool = false
  ) -> String? {
    let (parent, name) = split(path)
    if find(path).node == nil {
      let answer = name.withUnsafeBufferPointer {
        engine.create($0, in: parent, mode: 0o644, umask: 0o022, openFlags: O_RDWR, by: Self.caller)
      }
      guard case .made(let item, let handle) = answer else { return "not made" }
      engine.release(item.node, handle: handle)
    }
    let node = node(path)
    let opened = open(node)
    guard let handle = opened.handle else { return opened.errno }
    defer {
      if closes { engine.release(node, handle: handle) }
      run()
    }
    while true {
      let answer = bytes(text).withUnsafeBytes {
        engine.write($0, to: node, WriteAccess(handle: handle, offset: offset, clearsSetID: clearsSetID))
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
}
