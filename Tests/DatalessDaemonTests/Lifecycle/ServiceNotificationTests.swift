import Glibc
import Testing

@testable import DatalessDaemon

@Suite("What a service manager is told")
struct ServiceNotificationTests {
  /// A manager's end of $NOTIFY_SOCKET.
  private struct Manager: ~Copyable {
    let descriptor: CInt

    init(_ name: [UInt8]) {
      descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
      let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
      let status = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
      }
      #expect(status == 0)
    }

    deinit { close(descriptor) }

    /// What has arrived; a datagram is there as soon as it was sent.
    func message() -> String? {
      var buffer = [UInt8](repeating: 0, count: 4096)
      let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
      return count < 0 ? nil : String(decoding: buffer.prefix(count), as: UTF8.self)
    }
  }

  @Test func aSocketInTheFileSystemIsTold() {
    let scratch = ScratchDirectory()
    let path = "\(scratch.path)/notify"
    let manager = Manager(Array(path.utf8))
    ServiceNotification.send("READY=1\n", to: path)
    #expect(manager.message() == "READY=1\n")
    #expect(manager.message() == nil)
  }

  @Test func anAbstractSocketIsTold() {
    let name = "dataless-test-\(getpid())"
    let manager = Manager([0] + Array(name.utf8))
    ServiceNotification.send("STOPPING=1\n", to: "@" + name)
    #expect(manager.message() == "STOPPING=1\n")
  }

  @Test(arguments: ["", "relative", "/nonexistent/notify", "/dev/null", "/" + String(repeating: "x", count: 200)])
  func whereNobodyListensNothingHappens(socket: String) {
    ServiceNotification.send("READY=1\n", to: socket)
    ServiceNotification.send("READY=1\n", to: nil)
  }

  @Test func aManagerThatDoesNotReadHoldsNothingUp() {
    let scratch = ScratchDirectory()
    let path = "\(scratch.path)/notify"
    let manager = Manager(Array(path.utf8))
    // More than its queue takes (net.unix.max_dgram_qlen).
    for _ in 0..<10_000 { ServiceNotification.send("STATUS=busy\n", to: path) }
    #expect(manager.message() == "STATUS=busy\n")
  }
}
