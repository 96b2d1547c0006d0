@testable import DatalessDaemon

import DatalessControl
import DatalessCore
import FuseKit
import Glibc
import Synchronization
import SystemPackage

/// The adapter of a volume, but that something may happen between its look at the attributes of the file `held` and the
/// answer that takes them to the kernel.
final class HeldAnswers: FuseOperations {
  private let adapter: FilesystemAdapter
  /// Done once, on the request's thread.
  let meanwhile = Mutex<(@Sendable (NodeID) -> Void)?>(nil)
  /// How many calls of `forget` there were, and how many of `open` have returned, answered or not.
  let forgotten = Monitor(0)
  let opened = Monitor(0)

  private static let name = Array("held".utf8)

  init(_ adapter: FilesystemAdapter) { self.adapter = adapter }

  func lookup(_ name: FuseName, in parent: FuseNode, context: RequestContext, reply: consuming EntryReply) {
    guard name.copy() == Self.name, case .found(let item) = adapter.engine.lookup(name.bytes, in: NodeID(parent)) else {
      return adapter.lookup(name, in: parent, context: context, reply: reply)
    }
    pass(item.node)
    _ = reply.entry(FuseEntry(item, delaying: []))
  }

  func readdirplus(
    _ node: FuseNode, handle: FuseHandle, cookie: Int64, context: RequestContext, reply: consuming DirectoryReply
  ) {
    guard meanwhile.withLock({ $0 != nil }) else {
      return adapter.readdirplus(node, handle: handle, cookie: cookie, context: context, reply: reply)
    }
    var buffer = reply.makeBuffer()
    if let held = fill(&buffer, node, cookie) { pass(held) }
    _ = reply.listing(buffer)
  }

  /// - Returns: The file, if it is in this part of the listing.
  private func fill(_ buffer: inout DirectoryBuffer, _ node: FuseNode, _ cookie: Int64) -> NodeID? {
    var held: NodeID?
    _ = adapter.engine.readDirectory(NodeID(node), from: UInt64(cookie), countsLookups: true) { entry in
      let next = Int64(bitPattern: entry.nextCookie)
      guard let child = entry.node else {
        return buffer.append(
          name: entry.name, inode: entry.attributes.inode, mode: entry.attributes.mode, nextCookie: next)
      }
      if Array(entry.name) == Self.name { held = child }
      let item = ItemSnapshot(node: child, attributes: entry.attributes, isDataless: false)
      return buffer.append(name: entry.name, entry: FuseEntry(item, delaying: []), nextCookie: next)
    }
    return held
  }

  private func pass(_ node: NodeID) { meanwhile.withLock { $0.take() }?(node) }

  // MARK: - As it is

  func initialized(_ features: NegotiatedFeatures) { adapter.initialized(features) }

  func forget(_ nodes: UnsafeBufferPointer<ForgottenNode>) {
    adapter.forget(nodes)
    forgotten.update { $0 += 1 }
  }

  func getattr(_ node: FuseNode, handle: FuseHandle?, context: RequestContext, reply: consuming AttributesReply) {
    adapter.getattr(node, handle: handle, context: context, reply: reply)
  }

  func open(_ node: FuseNode, flags: Int32, context: RequestContext, reply: consuming OpenReply) {
    adapter.open(node, flags: flags, context: context, reply: reply)
    opened.update { $0 += 1 }
  }

  func release(
    _ node: FuseNode, handle: FuseHandle, flags: Int32, context: RequestContext, reply: consuming EmptyReply
  ) {
    adapter.release(node, handle: handle, flags: flags, context: context, reply: reply)
  }

  func opendir(_ node: FuseNode, flags: Int32, context: RequestContext, reply: consuming OpenReply) {
    adapter.opendir(node, flags: flags, context: context, reply: reply)
  }

  func releasedir(
    _ node: FuseNode, handle: FuseHandle, flags: Int32, context: RequestContext, reply: consuming EmptyReply
  ) {
    adapter.releasedir(node, handle: handle, flags: flags, context: context, reply: reply)
  }
}

/// A volume that this process serves. Only children may touch it.
final class ServedVolume {
  let volume: Volume
  let operations: HeldAnswers
  let session: FuseSession
  let scratch = ScratchDirectory()
  var mountpoint: String { "\(scratch.path)/volume" }
  var engine: Engine { volume.engine }

  /// - Parameters:
  ///   - files: How many there are beside `held`.
  ///   - scenario: Default: nothing is simulated.
  init(files: Int = 0, scenario: String = "{}") throws {
    for directory in ["source", "volume"] { scratch.directory(directory) }
    scratch.file("source/held", String(repeating: "x", count: 10_000))
    for number in 0..<files { scratch.file("source/file-\(number)", "\(number)") }
    volume = try Volume(
      configuration: VolumeConfiguration(
        source: .directory(scratch.bytes("source")), mountpoint: scratch.bytes("volume"), scenario: scenario,
        log: scratch.bytes("log"), cacheDirectory: scratch.bytes("cache"), runtimeDirectory: "\(scratch.path)/runtime",
        session: "0123456789ab"))
    operations = HeldAnswers(volume.adapter)
    var options = FuseSessionOptions(source: [], subtype: "dataless-test")
    options.readOnly = true
    session = try FuseSession(
      operations: operations, options: options,
      onInterrupt: { [volume] token in
        let timer = volume.timer
        timer.schedule(at: timer.now) { volume.engine.interrupt(WaiterID(rawValue: token)) }
      })
    try session.mount(at: FilePath(mountpoint))
    volume.adapter.whenInitialized { [volume, session] in
      if let features = volume.adapter.negotiated { volume.kernel.attach(session.notifier, features) }
    }
    try session.startLoop(threads: 2)
    guard session.waitUntilReady(timeout: .seconds(10)) != nil else { throw ChildProcess.Failure.noPipe }
  }

  deinit {
    engine.end(FSError(.timedOut, "the test is over"))
    try? session.unmountLazily()
    session.beginExit()
    _ = session.joinLoop(timeout: .seconds(10))
    session.closeDevice()
    _ = volume.log.close(timeout: .seconds(1))
  }

  /// As a command materializes it.
  @discardableResult
  static func materialize(_ node: NodeID, _ volume: Volume) -> Bool {
    let done = Monitor<Bool?>(nil)
    let caller = Caller(process: .unknown, threadID: 0, pid: 0, isMainThread: false, uid: 0, gid: 0)
    let admission = volume.engine.materialize(
      node, TriggerRequest(trigger: .command, caller: caller), waiter: volume.adapter.makeWaiter()
    ) { result in
      if case .ready = result { done.set(true) } else { done.set(false) }
    }
    switch admission {
    case .ready: return true
    case .failed: return false
    case .parked: return done.wait { $0.map { .done($0) } ?? .wait(until: nil) }
    }
  }

  static func evict(_ node: NodeID, _ volume: Volume) -> Bool {
    let done = Monitor<Bool?>(nil)
    volume.engine.evict(node, by: "test") { result in
      if case .evicted = result { done.set(true) } else { done.set(false) }
    }
    return done.wait { $0.map { .done($0) } ?? .wait(until: nil) }
  }
}
