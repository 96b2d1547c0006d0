@testable import DatalessCore
import Synchronization
import SystemPackage

/// What a removal was answered with.
enum Removal: Equatable, CustomStringConvertible {
  case removed(RemovedItems)
  case refused(String, String)
  case unanswered

  var found: RemovedItems? { if case .removed(let found) = self { found } else { nil } }

  var description: String {
    switch self {
    case .removed(let found): "removed \(found.items)"
    case .refused(let path, let errno): "\(path): \(errno)"
    case .unanswered: "no answer"
    }
  }
}

extension EngineFixture {
  static let root: Remover = {
    var caller = EngineFixture.maker
    (caller.uid, caller.gid) = (0, 0)
    return Remover(caller)
  }()

  static func remover(_ uid: UInt32, _ gid: UInt32, groups: Set<UInt32> = []) -> Remover {
    var caller = EngineFixture.maker
    (caller.uid, caller.gid) = (uid, gid)
    return Remover(caller, groups: groups)
  }

  /// Removes trees; directories on the way are listed. What they held is given back later, when the lane runs on.
  func detach(_ paths: String..., by remover: Remover = EngineFixture.root) -> Removal {
    detach(paths, by: remover)
  }

  func detach(_ paths: [String], by remover: Remover = EngineFixture.root) -> Removal {
    let answer = Mutex<RemovalAnswer?>(nil)
    while true {
      engine.remove(paths.map { Array($0.utf8) }, by: remover) { given in answer.withLock { $0 = given } }
      while answer.withLock({ $0 == nil }), lane.runOne() {}
      switch answer.withLock({ given in
        defer { given = nil }
        return given
      }) {
      case .removed(let found): return .removed(found)
      case .refused(let path, let error): return .refused(String(decoding: path, as: UTF8.self), error.errno.name)
      case .needsListing(let directory): if let errno = bring(directory, .command) { return .refused("", errno) }
      case nil: return .unanswered
      }
    }
  }

  /// Removes trees, and gives back what they held.
  func remove(_ paths: String..., by remover: Remover = EngineFixture.root) -> Removal {
    defer { lane.runAll() }
    return detach(paths, by: remover)
  }

  /// What is read through a handle; nil if that fails.
  func bytes(of node: NodeID, _ handle: UInt64) -> [UInt8]? {
    if case .bytes(let bytes) = read(node, handle) { bytes } else { nil }
  }

  /// The records of removals: path, and how many items went with it (0: no tree).
  var removals: [String] {
    events.all.compactMap { event in
      guard case .changed(let change) = event, case .removed(let removed) = change.change else { return nil }
      return "\(String(decoding: change.path, as: UTF8.self)) \(removed.tree?.items ?? 0)"
    }
  }
}
