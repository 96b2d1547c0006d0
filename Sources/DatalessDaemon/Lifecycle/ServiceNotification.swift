// Names of sockets are those of whichever module has their header first in a build of the whole: either may.
import CDatalessLinux
import Glibc

/// What a service manager is told of a volume in the foreground: sd_notify(3)'s protocol, datagrams to $NOTIFY_SOCKET.
///
/// Nobody waits for an answer, and that nobody listens is no error: the volume works without.
enum ServiceNotification {
  /// The volume answers.
  static func ready(_ volume: ReadyVolume) {
    send("READY=1\nSTATUS=serves \(volume.mountpoint.isEmpty ? "a volume" : printable(volume.mountpoint))\n")
  }

  /// The volume has begun to end.
  static func stopping() { send("STOPPING=1\n") }

  /// - Parameter socket: An absolute path, or `@` and a name in the abstract namespace. Default: the environment's.
  static func send(_ text: String, to socket: String? = getenv("NOTIFY_SOCKET").map { String(cString: $0) }) {
    guard let socket, let first = socket.utf8.first, first == UInt8(ascii: "/") || first == UInt8(ascii: "@") else {
      return
    }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    var name = Array(socket.utf8)
    guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
    if first == UInt8(ascii: "@") { name[0] = 0 }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
    let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    let bytes = Array(text.utf8)
    _ = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        // A manager that does not read must not hold the volume up.
        sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT), $0, length)
      }
    }
  }

  /// Lines end an entry of the protocol.
  private static func printable(_ path: [UInt8]) -> String {
    String(decoding: path.map { $0 < 0x20 ? UInt8(ascii: "?") : $0 }, as: UTF8.self)
  }
}
