@testable import DatalessControl
import DatalessCore
import Glibc
import Testing

@testable import DatalessDaemon

@Suite("What stands against a mount, and the remedy")
struct PreflightTests {
  private let scratch = ScratchDirectory()

  /// A machine on which mounting works, for any user.
  private var fuse: FuseAvailability {
    var fuse = FuseAvailability()
    fuse.userID = 0
    fuse.device = "/dev/null"
    fuse.deviceNumber = (1, 3)
    fuse.processStatus = "/dev/null"
    return fuse
  }

  init() {
    scratch.directory("source")
    scratch.directory("mount")
    scratch.directory("cache")
    scratch.directory("logs")
  }

  private func request(
    source: String = "source", mountpoint: String = "mount", log: String = "logs/log", logIsDefault: Bool = false,
    cache: String = "cache", runtime: String = "/run/dataless"
  ) -> PreflightRequest {
    PreflightRequest(
      source: .directory(scratch.bytes(source)), mountpoint: scratch.bytes(mountpoint), log: scratch.bytes(log),
      logIsDefault: logIsDefault, cacheDirectory: scratch.bytes(cache), runtimeDirectory: runtime, allowOther: false,
      longestWait: 0)
  }

  private func answer(
    _ request: PreflightRequest, mounts: MountTable? = nil, progress: @escaping ([UInt8]) -> Void = { _ in }
  ) throws -> PreflightAnswer {
    let mounts = try mounts ?? MountTable.current()
    return MountPreflight(request, mounts: mounts, fuse: fuse, progress: progress).answer()
  }

  /// The message of the failure; nil when there is none.
  private func failure(_ request: PreflightRequest, mounts: MountTable? = nil) throws -> String? {
    guard case .failed(let message, let exitCode) = try answer(request, mounts: mounts) else { return nil }
    #expect(exitCode == 1)
    #expect(message.hasPrefix("cannot mount: "))
    #expect(!message.contains("\n"))
    return message
  }

  /// A command of `run` whose helpers are other users' would materialize nothing, and hold every expectation.
  @Test(arguments: [(true, true), (true, false), (false, true)])
  func whomTheMountpointOfARunKeepsOutIsSaid(isTemporary: Bool, allowOther: Bool) throws {
    var asked = request()
    asked.isTemporary = isTemporary
    asked.allowOther = allowOther
    guard case .passed(let result) = try answer(asked) else {
      Issue.record("refused")
      return
    }
    let said = result.warnings.filter { $0.contains("--allow-other") }
    #expect(said.count == (isTemporary && allowOther ? 1 : 0))
    let place = String(decoding: CPath.parent(result.mountpoint), as: UTF8.self)
    #expect(said.allSatisfy { $0.contains("lies in '\(place)' (mode 0700") })
  }

  @Test func aGoodRequestGivesAbsolutePathsWithoutLinks() throws {
    symlink("\(scratch.path)/source", "\(scratch.path)/link")
    guard case .passed(let result) = try answer(request(source: "link")) else {
      Issue.record("refused")
      return
    }
    #expect(result.source == .directory(scratch.bytes("source")))
    #expect(result.mountpoint == scratch.bytes("mount"))
    #expect(result.excludedDirectories == [])
  }

  @Test func sourceMustBeAnExistingDirectory() throws {
    scratch.file("file")
    #expect(try failure(request(source: "none"))?.contains("does not exist (ENOENT)") == true)
    #expect(try failure(request(source: "file"))?.contains("is not a directory (ENOTDIR)") == true)
  }

  @Test(.enabled(if: geteuid() != 0, "root reads everything"))
  func sourceMustBeReadable() throws {
    chmod("\(scratch.path)/source", 0)
    #expect(try failure(request())?.contains("(EACCES)") == true)
  }

  @Test func mountpointMustBeAnEmptyDirectory() throws {
    scratch.file("file")
    scratch.directory("full")
    scratch.file("full/x")
    #expect(try failure(request(mountpoint: "none"))?.contains("mkdir") == true)
    #expect(try failure(request(mountpoint: "file"))?.contains("(ENOTDIR)") == true)
    #expect(try failure(request(mountpoint: "full"))?.contains("is not empty (ENOTEMPTY)") == true)
  }

  /// As of a line of fstab with `x-systemd.automount`.
  @Test(.enabled(if: geteuid() == 0, "mounting needs root"))
  func anAutomountPointIsMountedOverAndNotLookedInto() throws {
    let mount = try #require(Automount(at: scratch.path + "/mount"))
    defer { mount.end() }
    #expect(try failure(request()) == nil)
    #expect(mount.requests == 0)
    var mounts = try MountTable.current()
    let place = try #require(mounts.mount(containing: scratch.bytes("mount")))
    #expect(place.isAutomount)
    // What it was for is there already.
    mounts.entries.append(
      MountEntry(
        mountID: 1_000_001, parentID: place.mountID, device: "0:9998", root: [UInt8(ascii: "/")],
        mountPoint: place.mountPoint, options: "rw", fileSystemType: "ext4", source: [], superOptions: "rw"))
    #expect(try failure(request(), mounts: mounts)?.contains("is already a mount point (ext4) (EBUSY)") == true)
  }

  @Test(arguments: ["source", "source/below", "link/below", "source/../source/below"])
  func mountpointMustNotLieInSource(_ mountpoint: String) throws {
    scratch.directory("source/below")
    symlink("\(scratch.path)/source", "\(scratch.path)/link")
    #expect(try failure(request(mountpoint: mountpoint))?.contains("lies inside SOURCE") == true)
  }

  @Test func sourceMustNotLieInMountpoint() throws {
    scratch.directory("mount/source")
    #expect(try failure(request(source: "mount/source"))?.contains("lies inside MOUNTPOINT") == true)
  }

  @Test func aNameThatOnlyBeginsAlikeIsNotInside() throws {
    scratch.directory("source2")
    #expect(try failure(request(mountpoint: "source2")) == nil)
  }

  @Test func aBindMountOfAPartOfSourceIsRecognised() throws {
    scratch.directory("bound")
    scratch.directory("bound/mount")
    var mounts = try MountTable.current()
    let below = try #require(mounts.mount(containing: scratch.bytes))
    let root = PathBytes.join(below.root, PathBytes.relative(scratch.bytes("source/part"), to: below.mountPoint))
    mounts.entries.append(
      MountEntry(
        mountID: 1_000_000, parentID: below.mountID, device: below.device, root: root,
        mountPoint: scratch.bytes("bound"), options: "rw", fileSystemType: below.fileSystemType, source: below.source,
        superOptions: "rw"))
    #expect(try failure(request(mountpoint: "bound/mount"), mounts: mounts)?.contains("lies inside SOURCE") == true)
  }

  @Test func logAndCacheMustNotLieBelowTheMountpoint() throws {
    #expect(try failure(request(log: "mount/log"))?.contains("--log") == true)
    #expect(try failure(request(cache: "mount/deep/cache"))?.contains("--cache-dir") == true)
  }

  @Test func anExplicitLogMustNotLieInSource() throws {
    #expect(try failure(request(log: "source/log"))?.contains("never written to") == true)
  }

  @Test func ourOwnDirectoriesInSourceAreLeftOutOfIt() throws {
    scratch.directory("source/logs")
    let request = request(log: "source/logs/log", logIsDefault: true, cache: "source/cache")
    guard case .passed(let result) = try answer(request) else {
      Issue.record("refused")
      return
    }
    #expect(result.excludedDirectories == [scratch.bytes("source/logs"), scratch.bytes("source/cache")])
  }

  @Test func theLogMustBeAFileInAnExistingDirectory() throws {
    #expect(try failure(request(log: "logs"))?.contains("(EISDIR)") == true)
    #expect(try failure(request(log: "none/log"))?.contains("(ENOENT)") == true)
  }

  @Test func theSocketPathMustFitIntoItsAddress() throws {
    let runtime = "/" + String(repeating: "r", count: 90)
    #expect(try failure(request(runtime: runtime))?.contains("(ENAMETOOLONG)") == true)
  }

  @Test func anotherFileSystemAtTheMountpointIsNamed() throws {
    let mounts = try mounts(type: "tmpfs", at: "mount", device: "0:999999")
    #expect(try failure(request(), mounts: mounts)?.contains("already is a mount point (tmpfs)") == false)
    #expect(try failure(request(), mounts: mounts)?.contains("(tmpfs) (EBUSY)") == true)
  }

  @Test func theMountOfADeadDaemonIsReportedAsSuch() throws {
    // Nothing is really mounted there, so the directory answers; only the lock can tell of death.
    let runtime = try #require(SessionPaths.runtimeDirectoryCandidates(owner: geteuid()).last)
    let device = "0:\(getpid())"
    let directory = try VolumeDirectory.claim(runtime: runtime, device: device)
    defer { directory.remove() }
    let mounts = try mounts(type: MountEntry.datalessType, at: "mount", device: device)
    #expect(try failure(request(), mounts: mounts)?.contains("already is a dataless volume") == true)
    // The lock of a dead daemon can be had.
    let entry = try #require(mounts.datalessEntries.last)
    #expect(VolumeLiveness.of(entry, runtimeDirectories: [runtime]) == .alive)
    #expect(VolumeLiveness.of(entry, runtimeDirectories: ["\(scratch.path)/none"]) == .unknown)
    scratch.file("lock")
    #expect(VolumeLiveness.ofLock(Array("lock".utf8), in: try TrustedDirectory.open(scratch.bytes)) == .dead)
  }

  /// Device numbers are given again: the record of a volume that is gone must not claim another's mount.
  @Test func aVolumeOfAnotherTypeIsKnownByItsOwnRecordAlone() throws {
    let runtime = try #require(SessionPaths.runtimeDirectoryCandidates(owner: geteuid()).first)
    let device = "0:\(getpid())"
    let directory = try VolumeDirectory.claim(runtime: runtime, device: device)
    defer { directory.remove() }
    try directory.write(
      SessionRecord(
        pid: 1, session: "0123456789ab", mountpoint: scratch.bytes("mount"), source: Array("s".utf8), log: [],
        cache: [],
        started: "", subtype: "other"))
    func isRecorded(_ type: String, _ source: String, _ device: String) throws -> Bool {
      var entry = try #require(try mounts(type: type, at: "mount", device: device).entries.last)
      entry.source = Array(source.utf8)
      return VolumeLocator.isRecorded(entry)
    }
    #expect(try isRecorded("fuse.other", "s", device))
    #expect(try !isRecorded("fuse.other", "another", device))
    #expect(try !isRecorded("fuse.sshfs", "s", device))
    #expect(try !isRecorded("fuse.other", "s", "0:999997"))
  }

  @Test func aMountpointOnAVolumeIsRefused() throws {
    for (options, reason) in [("ro", "is read-only (EROFS)"), ("rw,nosuid", "would wait for another (EINVAL)")] {
      let mounts = try mounts(
        type: MountEntry.datalessType, at: "mount", device: "0:999998", options: options)
      let refusal = try failure(request(mountpoint: "mount/below"), mounts: mounts)
      #expect(refusal?.contains(reason) == true, "\(refusal ?? "none")")
    }
  }

  @Test func everyPathIsAnnouncedBeforeItIsTouched() throws {
    var looked: [[UInt8]] = []
    _ = try answer(request()) { looked.append($0) }
    #expect(looked.first == scratch.bytes("source"))
    for path in ["mount", "logs/log", "cache"] { #expect(looked.contains(scratch.bytes(path))) }
  }

  private func mounts(
    type: String, at name: String, device: String, options: String = "rw"
  ) throws -> MountTable {
    var mounts = try MountTable.current()
    let below = try #require(mounts.mount(containing: scratch.bytes))
    mounts.entries.append(
      MountEntry(
        mountID: 1_000_001, parentID: below.mountID, device: device, root: [UInt8(ascii: "/")],
        mountPoint: scratch.bytes(name), options: options, fileSystemType: type, source: Array("s".utf8),
        superOptions: "rw,user_id=\(geteuid())"))
    return mounts
  }
}
