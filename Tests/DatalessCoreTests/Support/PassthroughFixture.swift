@testable import DatalessCore
import Synchronization
import SystemPackage
import Testing

/// A writable volume as the kernel serves it with passthrough: what it is told of one file is held against its rules.
final class PassthroughFixture {
  enum Kind: Equatable { case cached, direct, passing }

  struct Open {
    let handle: UInt64
    let kind: Kind
    let writes: Bool
    /// What a passthrough open reads and writes.
    let content: ContentID
  }

  let fixture: EngineFixture
  private(set) var opens: [NodeID: [Open]] = [:]
  /// What the kernel refuses with EIO, and it was answered.
  private(set) var refused: [String] = []

  init(
    _ files: [String: Int], writing: EngineConfiguration.Writing = .scratch, journal: RecordingJournal? = nil,
    holders: (any HolderProbe)? = nil, _ edit: (inout EngineConfiguration) -> Void = { _ in }
  ) {
    fixture = .writable(files, writing: writing, journal: journal, holders: holders) { configuration in
      configuration.passthrough = true
      configuration.cachedMax = 50
      edit(&configuration)
    }
    fixture.content.ownFiles.store(true, ordering: .relaxed)
  }

  /// A file that is here.
  func resident(_ name: String) -> NodeID {
    let node = fixture.node(name)
    fixture.bring(node, .read)
    return node
  }

  /// - Parameter flags: O_RDWR by default.
  /// - Returns: nil: it failed, with `errno`.
  @discardableResult
  func open(_ node: NodeID, flags: Int32 = 2, hasBacking: Bool = true) -> (open: Open?, errno: String?) {
    let writes = OpenFlags.writes(flags)
    defer { fixture.lane.runAll() }
    if writes || flags & OpenFlags.truncate != 0 {
      while true {
        switch fixture.engine.openForWriting(
          node, openFlags: flags, io: .direct, clearsSetID: false, by: EngineFixture.maker)
        {
        case .opened(let handle, let isDirect): return note(node, handle, isDirect ? .direct : .cached, writes)
        case .passthrough(let content, let handle, let isToBeEmptied):
          let settled = settle(node, handle, content, writes, hasBacking)
          guard isToBeEmptied, let open = settled.open else { return settled }
          return empty(node, open)
        case .needsMaterialization: fixture.bring(node, .openTruncate)
        case .isBeingEvicted: fixture.lane.runAll()
        case .needsDurability: return (nil, "durability")
        case .failed(let error): return (nil, error.errno.name)
        }
      }
    }
    switch fixture.engine.open(node, process: .unknown, openFlags: flags) {
    case .resident(let handle): return note(node, handle, .cached, writes)
    case .dataless(let handle): return note(node, handle, .direct, writes)
    case .passthrough(let content, let handle): return settle(node, handle, content, writes, hasBacking)
    case .needsMaterialization: return (nil, "materialize")
    case .isBeingEvicted: return (nil, "evicting")
    case .failed(let errno): return (nil, errno.name)
    }
  }

  private func settle(
    _ node: NodeID, _ handle: UInt64, _ content: ContentID, _ writes: Bool, _ hasBacking: Bool
  ) -> (open: Open?, errno: String?) {
    var hasBacking = hasBacking
    while true {
      if hasBacking {
        guard fixture.engine.confirmPassthrough(handle) else {
          return note(node, OpenHandle.asCached(handle), .cached, writes)
        }
        return note(node, handle, .passing, writes, content)
      }
      switch fixture.engine.refusePassthrough(handle) {
      case .cached: return note(node, OpenHandle.asCached(handle), .cached, writes)
      case .shared: hasBacking = true
      case .failed:
        fixture.engine.release(node, handle: handle)
        return (nil, "no backing")
      }
    }
  }

  /// As O_TRUNC of an open whose kind is settled.
  private func empty(_ node: NodeID, _ open: Open) -> (open: Open?, errno: String?) {
    switch fixture.engine.empty(node, openedBy: open.handle, clearsSetID: false, by: EngineFixture.maker) {
    case nil: return (open, nil)
    case .failed(let error)?:
      close(node, open)
      return (nil, error.errno.name)
    case let obstacle?:
      close(node, open)
      return (nil, "\(obstacle)")
    }
  }

  private func note(
    _ node: NodeID, _ handle: UInt64, _ kind: Kind, _ writes: Bool, _ content: ContentID = .none
  ) -> (open: Open?, errno: String?) {
    for other in opens[node] ?? [] {
      let isPassing = (kind == .passing, other.kind == .passing)
      if isPassing.0 != isPassing.1 { refused.append("\(kind) beside \(other.kind)") }
      if kind == .passing, other.content != content { refused.append("another backing") }
    }
    let open = Open(handle: handle, kind: kind, writes: writes, content: content)
    opens[node, default: []].append(open)
    return (open, nil)
  }

  func close(_ node: NodeID, _ open: Open) {
    opens[node]?.removeAll { $0.handle == open.handle }
    fixture.close(node, open.handle)
  }

  func closeAll() { for (node, opens) in opens { for open in opens { close(node, open) } } }

  func advance(milliseconds: Int64) {
    fixture.timer.advance(milliseconds: milliseconds) { [fixture] in fixture.lane.runAll() }
    fixture.lane.runAll()
  }

  func content(_ node: NodeID) -> ContentID {
    fixture.engine.state.withLock { state in
      state.namespace.index(of: node).map { state.namespace[$0].content } ?? .none
    }
  }

  func bytes(_ node: NodeID) -> [UInt8] {
    let content = content(node)
    return fixture.content.state.withLock { $0.content[content.rawValue] } ?? []
  }

  var unsettled: Int { fixture.engine.state.withLock { $0.passed.nodes.count } }
  func isDirty(_ node: NodeID) -> Bool { fixture.engine.describe(node)?.isDirty ?? false }
}
