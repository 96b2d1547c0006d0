import Glibc
import SystemPackage

/// Finds the volume a path argument means, without touching any volume.
///
/// Symbolic links are followed with readlink(2) only as long as the path lies outside every dataless mount; from a
/// mount point on, the rest is text. So a volume that hangs, or whose daemon is dead, cannot stop a command.
public struct PathResolver: Sendable {
  /// A path on a volume.
  public struct Location: Sendable, Equatable {
    /// Absolute, without symbolic links outside the volume.
    public var absolute: [UInt8]
    public var mount: MountEntry
    /// Below the volume's root, without a leading slash; empty for the root.
    public var relative: [UInt8]
  }

  public var mounts: MountTable
  private let readLink: @Sendable ([UInt8]) -> [UInt8]?
  private let workingDirectory: @Sendable () throws(ControlError) -> [UInt8]

  /// - Parameters:
  ///   - mounts: Where volumes are mounted.
  ///   - workingDirectory: What relative paths start from. Default: the process' own.
  ///   - readLink: The target of a symbolic link, nil for anything else. Default: readlink(2).
  public init(
    mounts: MountTable,
    workingDirectory: (@Sendable () throws(ControlError) -> [UInt8])? = nil,
    readLink: (@Sendable ([UInt8]) -> [UInt8]?)? = nil
  ) {
    self.mounts = mounts
    self.workingDirectory = workingDirectory ?? Self.currentDirectory
    self.readLink = readLink ?? Self.systemReadLink
  }

  /// The resolver for this process' mounts.
  public static func current() throws(ControlError) -> PathResolver { PathResolver(mounts: try .current()) }

  /// Makes a path absolute and follows symbolic links outside of volumes.
  ///
  /// A component that does not exist is kept as it is: the caller finds out when it uses the path.
  ///
  /// - Parameters:
  ///   - named: For what removes or drops something: the path means the item that has the name, as for rm(1). A link at
  ///     its end is not followed.
  ///   - isItem: Whether it may be an item of a volume: `..` behind a name on a volume, which may be a link there, is
  ///     refused then, unless the name is of the working directory. Default: `..` takes the name before it.
  /// - Throws: `ControlError.system` with ELOOP after 40 links, EINVAL for such a `..`, or getcwd's errno for a
  ///   relative path.
  public func resolve(
    _ path: [UInt8], named: Bool = false, isItem: Bool = false
  ) throws(ControlError) -> [UInt8] {
    let slash = PathBytes.slash
    // No name of it is a link.
    let here = path.first == slash ? [] : try workingDirectory()
    var pending = Array(PathBytes.components(PathBytes.join(here, path)).reversed())
    let real = PathBytes.components(here)
    var resolved: [[UInt8]] = []
    var links = 0
    while let component = pending.popLast() {
      if PathBytes.isDotDot(component) {
        let isReal = resolved.count <= real.count && resolved.elementsEqual(real.prefix(resolved.count))
        guard !isItem || isReal || !isBelowRoot(PathBytes.absolute(resolved)) else {
          throw ControlError.system(
            .invalidArgument,
            "cannot tell what \(TerminalText.escaped(path)) means: '..' may follow a link on the volume",
            remedy: "Give the path without '..'.")
        }
        _ = resolved.popLast()
        continue
      }
      resolved.append(component)
      let candidate = PathBytes.absolute(resolved)
      if named, pending.isEmpty { continue }
      guard !mounts.isText(candidate), let target = readLink(candidate), !Self.isNameless(resolved, target) else {
        continue
      }
      links += 1
      guard links <= 40 else {
        throw ControlError.system(.tooManySymbolicLinkLevels, "cannot resolve \(TerminalText.escaped(path))")
      }
      resolved.removeLast()
      if target.first == slash { resolved = [] }
      pending += PathBytes.components(target).reversed()
    }
    return PathBytes.absolute(resolved)
  }

  /// Whether a link is that of a descriptor without a path, such as `/proc/self/fd/63` to `pipe:[4711]`: what is open
  /// there has no other name than the link.
  private static func isNameless(_ link: [[UInt8]], _ target: [UInt8]) -> Bool {
    link.count >= 4 && link[0] == Array("proc".utf8) && link[link.count - 2] == Array("fd".utf8)
      && target.first != PathBytes.slash
  }

  private func isBelowRoot(_ path: [UInt8]) -> Bool {
    guard let mount = mounts.mount(containing: path), mounts.isText(path) else { return false }
    return mount.mountPoint != path
  }

  /// The place on a volume that a path argument means; nil when it is not on one.
  ///
  /// - Parameter named: As of `resolve`.
  /// - Throws: as `resolve`.
  public func locate(_ path: [UInt8], named: Bool = false) throws(ControlError) -> Location? {
    let absolute = try resolve(path, named: named, isItem: true)
    guard let mount = mounts.mount(containing: absolute), mount.isDataless || VolumeLocator.isRecorded(mount) else {
      return nil
    }
    // A bind mount may show a part of the volume only: mountinfo's root says which.
    let below = PathBytes.components(PathBytes.relative(absolute, to: mount.mountPoint))
    let relative = PathBytes.absolute(PathBytes.components(mount.root) + below)
    return Location(absolute: absolute, mount: mount, relative: Array(relative.dropFirst()))
  }

  private static let currentDirectory: @Sendable () throws(ControlError) -> [UInt8] = { () throws(ControlError) in
    guard let buffer = getcwd(nil, 0) else {
      throw ControlError.system(Errno(rawValue: errno), "cannot find the working directory")
    }
    defer { free(buffer) }
    return Array(UnsafeBufferPointer(start: buffer, count: strlen(buffer))).map { UInt8(bitPattern: $0) }
  }

  private static let systemReadLink: @Sendable ([UInt8]) -> [UInt8]? = { path in
    guard !path.contains(0) else { return nil }
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4096) { buffer in
      let count = (path + [0]).withUnsafeBytes { bytes in
        readlink(bytes.assumingMemoryBound(to: CChar.self).baseAddress!, buffer.baseAddress!, buffer.count)
      }
      return count < 0 ? nil : buffer[0..<count].map { UInt8(bitPattern: $0) }
    }
  }
}
