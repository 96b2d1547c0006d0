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

  /// Where some paths lead.
  struct Followed {
    /// Without links on the way. What cannot be found stays as it is, so that it is said with the others.
    var paths: [[UInt8]] = []
    /// Those that lead nowhere on this volume.
    var failures: [(path: [UInt8], error: FSError)] = []

    /// For requests that are about all of them or nothing.
    func all() throws -> [[UInt8]] {
      if let first = failures.first { throw first.error }
      return paths
    }
  }

  /// - Parameter lists: Whether dataless directories on the way are listed for it.
  /// - Returns: As failures ELOOP (more than 40 links), EXDEV (a link leads to something that is not on this volume, or
  ///   below the mountpoint of another file system), ENOTDIR, ENOENT (`..` behind what is no directory), and why a link
  ///   cannot be read.
  func followed(_ paths: [[UInt8]], lists: Bool) async throws -> Followed {
    var followed = Followed()
    for path in paths {
      do {
        followed.paths.append(try await follow(path, lists: lists))
      } catch let error as FSError {
        followed.failures.append((path, error))
      }
    }
    return followed
  }

  private func follow(_ path: [UInt8], lists: Bool) async throws -> [UInt8] {
    var (done, links): ([[UInt8]], Int) = ([], 0)
    var pending = Array(PathBytes.components(path).reversed())
    while let component = pending.popLast() {
      guard !PathBytes.isDotDot(component) else {
        if done.popLast() == nil { (done, pending) = ([], try above(pending, path)) }
        continue
      }
      done.append(component)
      guard !pending.isEmpty else { break }
      let here = Self.joined(done)
      let item = try await find(here, lists: lists).flatMap { engine.describe($0) }
      guard let item, item.attributes.kind == .symlink else {
        if pending.contains(where: PathBytes.isDotDot), item?.attributes.kind != .directory {
          let errno: Errno = item == nil ? .noSuchFileOrDirectory : .notDirectory
          let words = item == nil ? "is not there" : "is no directory"
          throw FSError(errno, "'\(TerminalText.escaped(here))', on the way, \(words)")
        }
        if item == nil { return Self.joined(done + pending.reversed()) }
        continue
      }
      links += 1
      guard links <= Self.linksMax else {
        throw FSError(
          .tooManySymbolicLinkLevels, "'\(TerminalText.escaped(path))' leads through more than \(Self.linksMax) links")
      }
      let target = try await self.target(of: item.node)
      done.removeLast()
      pending += PathBytes.components(target).reversed()
      if target.first == PathBytes.slash { (done, pending) = ([], try below(pending, path)) }
    }
    let found = Self.joined(done)
    if links > 0 { try checkIsShown(found, path) }
    return found
  }

  private static func joined(_ components: [[UInt8]]) -> [UInt8] { Array(PathBytes.absolute(components).dropFirst()) }

  /// What a link leads to that goes on above the root: from the directory of the mountpoint.
  private func above(_ pending: [[UInt8]], _ path: [UInt8]) throws -> [[UInt8]] {
    let way = PathBytes.components(volume.configuration.mountpoint).dropLast().reversed()
    return try below(pending + way, path)
  }

  /// The rest of an absolute way, in the order in which it is taken from the end, that begins with the mountpoint: by
  /// its text alone, as nothing outside of the volume is looked at here.
  private func below(_ pending: [[UInt8]], _ path: [UInt8]) throws -> [[UInt8]] {
    let mountpoint = PathBytes.components(volume.configuration.mountpoint)
    var (way, rest): ([[UInt8]], [[UInt8]]) = ([], pending)
    while way != mountpoint, let component = rest.popLast() {
      if PathBytes.isDotDot(component) { _ = way.popLast() } else { way.append(component) }
    }
    guard way == mountpoint else {
      throw FSError(
        .improperLink,
        "'\(TerminalText.escaped(path))' leads out of this volume, by a symbolic link on the way. Name what it leads to"
      )
    }
    return rest
  }

  /// Callers see something else where another file system is mounted: what lies under it is not what they mean.
  private func checkIsShown(_ found: [UInt8], _ path: [UInt8]) throws {
    let target = PathBytes.join(volume.configuration.mountpoint, found)
    guard let place = volume.mounts.places.first(where: { $0 != target && PathBytes.isPrefix($0, of: target) }) else {
      return
    }
    throw FSError(
      .improperLink,
      "'\(TerminalText.escaped(path))' leads to another file system, which is mounted at '\(TerminalText.escaped(place))'"
    )
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

extension TransferResult {
  /// With what was not asked for, since it leads nowhere.
  func adding(_ failures: [(path: [UInt8], error: FSError)]) -> TransferResult {
    var result = self
    result.failures += failures.map {
      PathFailure(path: $0.path, errno: $0.error.errno.name, message: $0.error.message)
    }
    result.failureCount = result.failureCount.plus(Int64(failures.count))
    return result
  }
}
