import Glibc
import Testing

@testable import DatalessDaemon

@Suite struct TrustedAttributesTests {
  private static let names = Array("user.a\0trusted.b\0security.selinux\0trusted.\0user.trusted.c\0".utf8)
  private static let hidden = Array("user.a\0security.selinux\0user.trusted.c\0".utf8)

  @Test(.enabled(if: getuid() == 0, "only root sees them"))
  func rootSeesThemAndAThreadThatGaveUpItsPrivilegesDoesNot() {
    let isInitial = TrustedAttributes.mayList((LaneThread.currentThreadID ?? 0))
    #expect(
      TrustedAttributes.visible(Self.names, to: (LaneThread.currentThreadID ?? 0))
        == (isInitial ? Self.names : Self.hidden))
    let seen = UnprivilegedThread.value(uid: 12345, gid: 12345) {
      TrustedAttributes.visible(Self.names, to: (LaneThread.currentThreadID ?? 0))
    }
    #expect(seen == nil || seen == Self.hidden)
  }

  @Test func aCallerThatCannotBeLookedAtSeesNone() {
    #expect(TrustedAttributes.visible(Self.names, to: 0) == Self.hidden)
    #expect(TrustedAttributes.visible(Self.names, to: .max) == Self.hidden)
    #expect(TrustedAttributes.visible(Array("user.a\0".utf8), to: 0) == Array("user.a\0".utf8))
    #expect(TrustedAttributes.visible([], to: 0) == [])
  }

  /// As a container has it: all capabilities, in a user namespace of its own.
  @Test(.enabled(if: getuid() == 0, "makes a user namespace"))
  func rootOfANamespaceOfItsOwnSeesNone() throws {
    // The shell becomes `sleep`, whose input the test holds: it lives until the test is through.
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    ends.forEach { _ = fcntl($0, F_SETFD, FD_CLOEXEC) }
    defer { ends.forEach { close($0) } }
    let child = startInOwnNamespace(ends[0])
    try #require(child > 0)
    defer {
      kill(child, SIGKILL)
      var status: Int32 = 0
      waitpid(child, &status, 0)
    }
    // It has not left our namespace before; afterwards it has one that is not the initial one.
    while ProcReader.inode(child, "ns/user") == ProcReader.inode((LaneThread.currentThreadID ?? 0), "ns/user") {
      var status: Int32 = 0
      guard waitpid(child, &status, WNOHANG) == 0 else { return }
      sched_yield()
    }
    #expect(!TrustedAttributes.mayList(child))
  }

  /// `unshare -Ur cat`, or -1.
  private func startInOwnNamespace(_ input: Int32) -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawn_file_actions_adddup2(&actions, input, 0)
    defer { posix_spawn_file_actions_destroy(&actions) }
    var arguments: [UnsafeMutablePointer<CChar>?] = ["unshare", "-Ur", "cat"].map { (word: String) in strdup(word) }
    arguments.append(nil)
    defer { arguments.forEach { free($0) } }
    var child = pid_t()
    return posix_spawnp(&child, "unshare", &actions, nil, &arguments, environ) == 0 ? child : -1
  }
}
