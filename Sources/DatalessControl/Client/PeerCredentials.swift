import Glibc
public import NIOCore
import SystemPackage

/// `struct ucred` of unix(7), which glibc only declares for `_GNU_SOURCE`: who is at the other end, as the kernel
/// recorded it when that side connected or began to listen.
public struct PeerCredentials: Sendable {
  public var pid: Int32 = 0
  public var uid: UInt32 = 0
  public var gid: UInt32 = 0

  /// SO_PEERCRED of a connection; nil for a channel that is no socket.
  public static func of(_ channel: any Channel) -> EventLoopFuture<PeerCredentials>? {
    (channel as? any SocketOptionProvider)?.unsafeGetSocketOption(
      level: .socket, name: NIOBSDSocket.Option(rawValue: SO_PEERCRED))
  }

  /// SO_PEERGROUPS of a connection: the supplementary groups of the other end, as the kernel recorded them; nil for a
  /// channel that is no socket. - Throws: ERANGE for more than 1,024.
  ///
  /// LIMIT: of group 0 it is never said, as it cannot be told from none.
  public static func groups(of channel: any Channel) -> EventLoopFuture<Set<UInt32>>? {
    let groups: EventLoopFuture<InlineArray<1024, UInt32>>? = (channel as? any SocketOptionProvider)?
      .unsafeGetSocketOption(level: .socket, name: NIOBSDSocket.Option(rawValue: 59))
    return groups?.map { groups in
      var found: Set<UInt32> = []
      for index in groups.indices where groups[index] != 0 { found.insert(groups[index]) }
      return found
    }
  }

  /// Fails a connection whose other end belongs to a user who may not answer.
  static func check(_ channel: any Channel, allowed: Set<UInt32>) -> EventLoopFuture<Void> {
    guard let peer = of(channel) else { return channel.eventLoop.makeFailedFuture(Errno.notPermitted) }
    return peer.flatMapThrowing { peer in
      guard allowed.contains(peer.uid) else { throw ForeignServer(uid: peer.uid) }
    }
  }
}

/// The control socket is served by a user who is neither root nor the volume's own.
struct ForeignServer: Error {
  let uid: UInt32
}
