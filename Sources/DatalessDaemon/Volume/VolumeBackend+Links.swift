import DatalessControl
import DatalessCore
import SystemPackage

/// Symbolic links on the way to what a request names: they are followed as the kernel follows them for a call by path,
/// as long as they lead to something on this volume.
///
/// Clients take what lies on a volume as text, so that none waits for one that hangs: only the daemon knows where a
/// link is. The last component is left alone, whatever it is: what a request names is the item itself.
extension VolumeBackend {
  /// LIMIT: links on the way, as for path_resolution(7).
  private static let linksMax = 40

  /// The paths without links on the way. What cannot be found stays as it is, so that it is said with the others.
  ///
  /// - Parameter lists: Whether dataless directories on the way are listed for it.
  /// - Throws: ELOOP (40 links on the way), EXDEV (a link leads to something that is not on this volume).
  func followed(_ paths: [[UInt8]], lists: Bool) async throws -> [[UInt8]] {
    var followed: [[UInt8]] = []
    for path in paths { followed.append(try await follow(path, lists: lists)) }
    return followed
  }

  private func follow(_ path: [UInt8], lists: Bool) async throws -> [UInt8] {
    var (done, links): ([[UInt8]], Int) = ([], 0)
    var pending = Array(PathBytes.components(path).reversed())
    while let component = pending.popLast() {
      guard !PathBytes.isDotDot(component) else {
        guard done.popLast() != nil else { throw leadsOut(path, by: path) }
        continue
      }
      done.append(component)
      guard !pending.isEmpty else { break }
      let here = Self.joined(done)
      guard let node = try await find(here, lists: lists) else { return Self.joined(done + pending.reversed()) }
      guard engine.describe(node)?.attributes.kind == .symlink else { continue }
      links += 1
      guard links <= Self.linksMax else {
        throw FSError(
          .tooManySymbolicLinkLevels, "'\(TerminalText.escaped(path))' leads through more than \(Self.linksMax) links")
      }
      var target = try await self.target(of: node)
      done.removeLast()
      if target.first == PathBytes.slash {
        target = PathBytes.absolute(PathBytes.components(target))
        guard PathBytes.isPrefix(volume.configuration.mountpoint, of: target) else { throw leadsOut(path, by: here) }
        target = PathBytes.relative(target, to: volume.configuration.mountpoint)
        done = []
      }
      pending += PathBytes.components(target).reversed()
    }
    return Self.joined(done)
  }

  private static func joined(_ components: [[UInt8]]) -> [UInt8] { Array(PathBytes.absolute(components).dropFirst()) }

  private func leadsOut(_ path: [UInt8], by link: [UInt8]) -> FSError {
    FSError(
      .improperLink,
      "'\(TerminalText.escaped(path))' leads out of this volume, by the symbolic link '\(TerminalText.escaped(link))'. "
        + "Name what it leads to")
  }

  /// - Returns: nil for what is not there, or not known.
  private func find(_ path: [UInt8], lists: Bool) async throws -> NodeID? {
    while true {
      switch engine.resolve(path) {
      case .found(let node): return node
      case .absent: return nil
      case .insideDataless(let directory, _, _):
        guard lists else { return nil }
        let transfer = MaterializeTransfer(engine: engine, makeWaiter: { [volume] in volume.adapter.makeWaiter() })
        do {
          try await transfer.list(directory)
        } catch is FSError {
          return nil
        }
      }
    }
  }

  private func target(of link: NodeID) async throws -> [UInt8] {
    let result = await withCheckedContinuation { continuation in
      engine.readLink(link, threadID: 0, waiter: volume.adapter.makeWaiter()) { continuation.resume(returning: $0) }
    }
    return try result.get()
  }
}
