import Glibc
import SystemPackage

extension TrustedDirectory {
  /// What others may do in the directory itself.
  public enum Others: Sendable {
    /// Nothing, not even enter it: mode 0700 or less.
    case nothing
    /// Look into it, but change nothing.
    case look
  }

  /// What is asked of the directories above.
  public enum Ancestors: Sendable {
    /// Each belongs to root or the owner, and nobody else may change names in it; a sticky one (`/tmp`) will do,
    /// because what is found in it belongs to root or the owner, too.
    case trusted
    /// They may be anybody's: then the directory itself decides. For places that the user named.
    case any
  }

  /// Walks to a directory, one name after the other, and opens it.
  ///
  /// A symbolic link on the way is followed only if root or the owner made it. With an owner that is not the caller,
  /// only root's are, and no file system is entered that a user serves or where a name alone has something mounted.
  ///
  /// - Parameters:
  ///   - path: Absolute.
  ///   - owner: Whose it has to be. Default: the caller.
  ///   - others: Default: they may look.
  ///   - ancestors: Default: trusted.
  ///   - followsLast: Whether the last name may be such a link, too. Default: yes.
  ///   - creating: Makes what is missing: the directory itself with mode 0700, those above with 0755. Default: no.
  public static func open(
    _ path: [UInt8], owner: UInt32? = nil, others: Others = .look, ancestors: Ancestors = .trusted,
    followsLast: Bool = true, creating: Bool = false
  ) throws(UntrustedPath) -> TrustedDirectory {
    let root = try DirectoryStep.root()
    let owner = owner ?? geteuid()
    let isForeign = owner != geteuid()
    // Whoever the root directory belongs to decides about everything: in a user namespace root's number is another.
    let trusted: Set<UInt32> = [0, root.facts.owner, owner]
    // Another user's link would have root look wherever that user likes.
    let linkMakers = isForeign ? trusted.subtracting([owner]) : trusted
    var here = root
    var pending = Array(PathBytes.components(path).reversed())
    var links = 0
    while let name = pending.popLast() {
      if ancestors == .trusted { try here.checkAncestor(trusted) }
      let next = try here.child(name, creating: creating ? (pending.isEmpty ? 0o700 : 0o755) : nil)
      if next.facts.isLink {
        links += 1
        guard linkMakers.contains(next.facts.owner), links <= linksMax, followsLast || !pending.isEmpty else {
          throw UntrustedPath(next.path, .link)
        }
        let target = try next.target()
        pending += PathBytes.components(target).reversed()
        if target.first == PathBytes.slash { here = root }
        continue
      }
      guard next.facts.isDirectory else { throw UntrustedPath(next.path, .notDirectory) }
      if isForeign, next.facts.mount != here.facts.mount || next.facts.mount == nil {
        try next.checkServedBySystem()
      }
      here = next
    }
    return try TrustedDirectory(here, owner: owner, others: others)
  }

  private static let linksMax = 40
}

extension DirectoryStep {
  fileprivate func child(_ name: [UInt8], creating mode: mode_t?) throws(UntrustedPath) -> DirectoryStep {
    do throws(UntrustedPath) {
      return try child(name)
    } catch {
      guard let mode, error.reason == .system(.noSuchFileOrDirectory) else { throw error }
      try make(name, mode: mode)
      return try child(name)
    }
  }

  fileprivate func checkAncestor(_ trusted: Set<UInt32>) throws(UntrustedPath) {
    guard trusted.contains(facts.owner) else { throw UntrustedPath(path, .owner(facts.owner)) }
    guard !facts.isOpenToAll else { throw UntrustedPath(path, .permissions(facts.mode)) }
  }

  /// A FUSE mount can be any user's, and may leave every question without an answer. Below an autofs mount, a look at a
  /// name has something mounted, such as another machine's disk.
  fileprivate func checkServedBySystem() throws(UntrustedPath) {
    let mounts = (try? MountTable.ownBytes()).map { MountTable(parsing: $0) }
    let mount = mounts?.entries.first { UInt64($0.mountID) == facts.mount }
    guard let type = mount?.fileSystemType else { throw UntrustedPath(path, .servedByUser("unknown")) }
    guard !type.hasPrefix("fuse") else { throw UntrustedPath(path, .servedByUser(type)) }
    guard mount?.isAutomount != true else { throw UntrustedPath(path, .automount) }
  }
}
