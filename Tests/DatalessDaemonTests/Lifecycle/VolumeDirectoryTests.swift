import DatalessControl
import Glibc
import Testing

@testable import DatalessDaemon

@Suite("Runtime directories, and what dead daemons leave")
struct VolumeDirectoryTests {
  private let scratch = ScratchDirectory()
  private var runtime: String { "\(scratch.path)/runtime" }

  private func record(cache: [UInt8]) -> SessionRecord {
    SessionRecord(
      pid: 1, session: "0123456789ab", mountpoint: [], source: [], log: [], cache: cache, started: "")
  }

  private func opened(_ device: String) throws -> TrustedDirectory {
    try SessionPaths.openRuntime(runtime).directory(Array(device.utf8))
  }

  private func liveness(_ device: String) throws -> VolumeLiveness {
    VolumeLiveness.ofLock(VolumeDirectory.lockName, in: try opened(device))
  }

  @Test func aVolumesDirectoryIsPrivateAndHeldByOneDaemon() throws {
    let directory = try VolumeDirectory.claim(runtime: runtime, device: "0:77")
    var status = stat()
    #expect(stat("\(runtime)/0:77", &status) == 0)
    #expect(status.st_mode & 0o777 == 0o700)
    #expect(try liveness("0:77") == .alive)
    #expect(throws: LifecycleError.self) { try VolumeDirectory.claim(runtime: runtime, device: "0:77") }
    try directory.write(record(cache: []))
    #expect(try SessionRecord.read(from: opened("0:77")).session == "0123456789ab")
    directory.remove()
    #expect(!scratch.exists("runtime/0:77"))
  }

  @Test func whatADeadDaemonLeftThereIsCleared() throws {
    scratch.directory("runtime")
    chmod(runtime, 0o700)
    scratch.directory("runtime/0:77")
    for name in ["lock", "control.sock", "session.json"] { scratch.file("runtime/0:77/\(name)") }
    let directory = try VolumeDirectory.claim(runtime: runtime, device: "0:77")
    #expect(scratch.exists("runtime/0:77/lock"))
    #expect(!scratch.exists("runtime/0:77/control.sock"))
    directory.remove()
  }

  @Test func aRuntimeDirectoryThatOthersCanEnterIsRefused() {
    scratch.directory("runtime")
    chmod(runtime, 0o755)
    #expect(throws: LifecycleError.self) { try VolumeDirectory.claim(runtime: runtime, device: "0:77") }
    symlink(scratch.path, "\(scratch.path)/link")
    #expect(throws: LifecycleError.self) {
      try VolumeDirectory.claim(runtime: "\(scratch.path)/link", device: "0:77")
    }
  }

  /// What is to be done about it helps.
  @Test(.enabled(if: geteuid() == 0 && SessionPaths.rootOwnsRun())) func theModeThatItNeedsIsSaid() throws {
    scratch.directory("runtime")
    chmod(runtime, 0o755)
    let refusal = #expect(throws: LifecycleError.self) { try VolumeDirectory.prepareRuntime(runtime) }
    #expect(refusal?.description.hasSuffix("chmod 0700 '\(runtime)'.") == true)
    chmod(runtime, 0o700)
    #expect(throws: Never.self) { try VolumeDirectory.prepareRuntime(runtime) }
  }

  @Test func leftoversOfTheDeadGoAndTheLivingStay() throws {
    let living = try VolumeDirectory.claim(runtime: runtime, device: "0:4000001")
    scratch.directory("runtime/0:4000002")
    scratch.file("runtime/0:4000002/lock")
    scratch.file("runtime/0:4000002/control.sock")
    let mountpoint = try TemporaryMountpoint.make(runtime: runtime, session: "aaaaaaaaaaaa")
    scratch.directory("runtime/mounts/bbbbbbbbbbbb")
    scratch.file("runtime/mounts/bbbbbbbbbbbb.lock")
    scratch.file("runtime/mounts/cccccccccccc.lock")
    StaleSessions.remove(runtime: runtime, caches: [])
    #expect(scratch.exists("runtime/0:4000001"))
    #expect(!scratch.exists("runtime/0:4000002"))
    #expect(scratch.exists("runtime/mounts/aaaaaaaaaaaa"))
    #expect(!scratch.exists("runtime/mounts/bbbbbbbbbbbb"))
    #expect(!scratch.exists("runtime/mounts/cccccccccccc.lock"))
    mountpoint.remove()
    #expect(!scratch.exists("runtime/mounts"))
    living.remove()
  }

  @Test func withoutLeftoversNothingHappens() {
    StaleSessions.remove(runtime: "\(scratch.path)/none", caches: [scratch.bytes("none")])
    #expect(!scratch.exists("none"))
  }
}
