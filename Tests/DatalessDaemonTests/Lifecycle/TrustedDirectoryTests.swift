import DatalessControl
import Glibc
import SystemPackage
import Testing

@testable import DatalessDaemon

@Suite("Directories that others may have prepared")
struct TrustedDirectoryTests {
  private let scratch = ScratchDirectory()
  /// Anybody but this user and root.
  private let stranger = UInt32(54_321)

  private func reason<Value>(_ body: () throws(UntrustedPath) -> Value) -> UntrustedPath.Reason? {
    do throws(UntrustedPath) {
      _ = try body()
      return nil
    } catch {
      return error.reason
    }
  }

  private func directory() throws -> TrustedDirectory { try TrustedDirectory.open(scratch.bytes) }

  @Test func whatOthersCanWriteToIsRefused() {
    let open = scratch.directory("open")
    chmod("\(scratch.path)/open", 0o775)
    #expect(reason { () throws(UntrustedPath) in try TrustedDirectory.open(open) } == .permissions(0o40775))
    let below = scratch.directory("open/below")
    #expect(reason { () throws(UntrustedPath) in try TrustedDirectory.open(below) } == .permissions(0o40775))
    #expect(reason { () throws(UntrustedPath) in try TrustedDirectory.open(below, ancestors: .any) } == nil)
    // Sticky, as /tmp is: nobody can put another thing in the place of what is ours.
    chmod("\(scratch.path)/open", 0o1777)
    #expect(reason { () throws(UntrustedPath) in try TrustedDirectory.open(below) } == nil)
    #expect(
      reason { () throws(UntrustedPath) in try TrustedDirectory.open(below, others: .nothing) } == .permissions(0o40755)
    )
  }

  @Test(.enabled(if: geteuid() == 0, "gives files to another user"))
  func whatBelongsToAnotherUserIsRefused() throws {
    let foreign = scratch.directory("foreign")
    let below = scratch.directory("foreign/below")
    chown("\(scratch.path)/foreign", stranger, stranger)
    #expect(reason { () throws(UntrustedPath) in try TrustedDirectory.open(foreign) } == .owner(stranger))
    #expect(reason { () throws(UntrustedPath) in try TrustedDirectory.open(below) } == .owner(stranger))
    #expect(reason { () throws(UntrustedPath) in try TrustedDirectory.open(foreign, owner: stranger) } == nil)
    let directory = try directory()
    #expect(reason { () throws(UntrustedPath) in try directory.directory(Array("foreign".utf8)) } == .owner(stranger))
    scratch.file("file")
    chown("\(scratch.path)/file", stranger, stranger)
    #expect(reason { () throws(UntrustedPath) in try directory.read("file") } == .owner(stranger))
    // A link that another user made is not followed; root's and our own are.
    symlink(scratch.path, "\(scratch.path)/link")
    #expect(reason { () throws(UntrustedPath) in try TrustedDirectory.open(scratch.bytes("link")) } == nil)
    lchown("\(scratch.path)/link", stranger, stranger)
    #expect(reason { () throws(UntrustedPath) in try TrustedDirectory.open(scratch.bytes("link")) } == .link)
    #expect(OwnPath.resolve(scratch.bytes("link")) == scratch.bytes("link"))
    lchown("\(scratch.path)/link", 0, 0)
    #expect(OwnPath.resolve(scratch.bytes("link")) == scratch.bytes)
  }

  /// What another user has prepared is looked at without what that user would have root do.
  @Test(.enabled(if: geteuid() == 0, "gives files to another user"))
  func anotherUsersLinksAreNotFollowed() throws {
    let logs = scratch.directory("logs")
    scratch.file("logs/log", "content")
    symlink("log", "\(scratch.path)/logs/link")
    mkfifo("\(scratch.path)/logs/pipe", 0o600)
    for name in ["", "/log", "/link", "/pipe"] { lchown("\(scratch.path)/logs\(name)", stranger, stranger) }
    symlink(scratch.path + "/logs", "\(scratch.path)/way")
    func open(_ path: [UInt8]) throws(UntrustedPath) -> TrustedDirectory {
      try TrustedDirectory.open(path, owner: stranger, ancestors: .any)
    }
    #expect(try open(scratch.bytes("way")).read("log") == Array("content".utf8), "root made the link")
    lchown("\(scratch.path)/way", stranger, stranger)
    #expect(reason { () throws(UntrustedPath) in try open(scratch.bytes("way")) } == .link)
    let directory = try open(logs)
    #expect(reason { () throws(UntrustedPath) in try directory.read("link") } == .link)
    #expect(reason { () throws(UntrustedPath) in try directory.read("pipe") } == .notRegular)
    #expect(reason { () throws(UntrustedPath) in try directory.directory(Array("log".utf8)) } == .notDirectory)
  }

  @Test(.enabled(if: geteuid() == 0, "mounting needs root"))
  func nothingIsMountedForALookAtAnotherUsersPath() throws {
    let path = scratch.directory("auto")
    let mount = try #require(Automount(at: scratch.path + "/auto"))
    defer { mount.end() }
    let below = path + Array("/host/share".utf8)
    #expect(
      reason { () throws(UntrustedPath) in try TrustedDirectory.open(below, owner: stranger, ancestors: .any) }
        == .automount
    )
    #expect(mount.requests == 0)
    // The file system is one that asks.
    #expect(access(scratch.path + "/auto/host", F_OK) != 0)
    #expect(mount.requests == 1)
  }

  @Test func onlyRegularFilesAreOpenedAndNothingIsWaitedFor() throws {
    mkfifo("\(scratch.path)/pipe", 0o600)
    symlink("\(scratch.path)/file", "\(scratch.path)/link")
    scratch.file("file", "content")
    scratch.directory("directory")
    let directory = try directory()
    for flags in [O_RDONLY, O_RDWR, O_RDWR | O_CREAT] {
      #expect(reason { () throws(UntrustedPath) in try directory.file(Array("pipe".utf8), flags) } == .notRegular)
      #expect(reason { () throws(UntrustedPath) in try directory.file(Array("link".utf8), flags) } == .link)
    }
    #expect(reason { () throws(UntrustedPath) in try directory.read("directory") } == .notRegular)
    #expect(reason { () throws(UntrustedPath) in try directory.read("../x") } == .system(.init(rawValue: EXDEV)))
    #expect(try directory.read("file") == Array("content".utf8))
    #expect(reason { () throws(UntrustedPath) in try directory.read("file", limit: 6) } == .tooLarge)
    #expect(reason { () throws(UntrustedPath) in try directory.read("none") } == .system(.noSuchFileOrDirectory))
    #expect(
      reason { () throws(UntrustedPath) in try directory.directory(Array("link".utf8)) } == .link
        || reason { () throws(UntrustedPath) in try directory.directory(Array("link".utf8)) } == .notDirectory)
  }

  @Test func namesAreThoseOfTheDescriptorWhateverBecomesOfThePath() throws {
    let path = scratch.directory("a")
    scratch.file("a/file", "old")
    let directory = try TrustedDirectory.open(path)
    #expect(rename("\(scratch.path)/a", "\(scratch.path)/b") == 0)
    scratch.directory("a")
    scratch.file("a/file", "new")
    #expect(try directory.read("file") == Array("old".utf8))
    #expect(try directory.names() == [Array("file".utf8)])
    directory.removeFiles(except: [])
    #expect(scratch.exists("a/file") && !scratch.exists("b/file"))
    #expect(access(directory.path(of: "."), F_OK) == 0)
  }

  /// A clean-up unlinks a lock between open and flock: two daemons would each hold "the" lock, of two files.
  @Test func aLockWhoseNameIsAnothersOrNobodysIsNotTheLock() throws {
    let directory = try directory()
    let name = Array("lock".utf8)
    let lock = try directory.file(name, O_RDWR | O_CREAT)
    defer { close(lock) }
    #expect(directory.isStill(lock, name))
    directory.unlink(name)
    #expect(!directory.isStill(lock, name))
    let other = try directory.file(name, O_RDWR | O_CREAT)
    defer { close(other) }
    #expect(!directory.isStill(lock, name) && directory.isStill(other, name))
  }

  @Test func theKernelNamesTheDaemonThatHoldsTheLock() throws {
    let runtime = "\(scratch.path)/runtime"
    let held = try VolumeDirectory.claim(runtime: runtime, device: "0:77")
    let opened = VolumeRuntime(
      directory: try SessionPaths.openRuntime(runtime).directory(Array("0:77".utf8)))
    guard case .process(let process) = DaemonIdentity.of(opened) else {
      Issue.record("\(DaemonIdentity.of(opened))")
      return
    }
    #expect(process.pid == getpid())
    #expect(!process.hasEnded)
    #expect(process.userIDs == Array(repeating: geteuid(), count: 4))
    #expect(process.signal(0) == 0)
    held.remove()
  }

  @Test func aHandleOutlivesItsProcessAndSignalsNobodyElse() throws {
    var pid: pid_t = 0
    try #require(CStringArray.with([Array("true".utf8)]) { posix_spawnp(&pid, "true", nil, nil, $0, environ) } == 0)
    let process = try #require(ProcessHandle(pid: pid))
    #expect(process.waitForEnd(until: Deadline(milliseconds: 10_000)))
    var status: CInt = 0
    waitpid(pid, &status, 0)
    #expect(process.signal(SIGKILL) == ESRCH)
    #expect(process.userIDs == nil)
    #expect(ProcessHandle(pid: -1) == nil && ProcessHandle(pid: 0) == nil)
  }
}
