import Glibc
import Testing

@testable import DatalessStacks

/// What is kept between captures is never taken for what is there now.
@Suite struct KnownCallersTests {
  @Test func aTableHoldsForItsTextAlone() throws {
    let known = KnownCallers()
    let first = try #require(known.mappings(of: getpid(), volumes: []))
    let page = try #require(mmap(nil, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
    let address = UInt64(UInt(bitPattern: page))
    let second = try #require(known.mappings(of: getpid(), volumes: []))
    #expect(second.isReadable(address, count: 1 << 16))
    munmap(page, 1 << 16)
    let third = try #require(known.mappings(of: getpid(), volumes: []))
    #expect(!third.isReadable(address, count: 1 << 16))
    // The same text with other volumes is another table: what lies on them is left out.
    let file = try #require(third.mappings.first { $0.isFile })
    let fourth = try #require(known.mappings(of: getpid(), volumes: [file.device]))
    #expect(fourth.mapping(at: file.start) == nil && fourth.isOnVolume(file.start))
    #expect(first.mapping(at: file.start) != nil)
  }

  @Test func filesAreThoseOfTheMappings() throws {
    let known = KnownCallers()
    let table = try #require(known.mappings(of: getpid(), volumes: []))
    var opened = 0
    func files(_ table: MappingTable, isFinal: Bool) -> OpenedFiles {
      known.files(of: getpid(), table) {
        opened += 1
        return (OpenedFiles(files: [], descriptors: []), isFinal)
      }
    }
    // What can change although the mappings do not is opened again.
    _ = files(table, isFinal: false)
    let kept = files(table, isFinal: true)
    #expect(files(table, isFinal: true) === kept && opened == 2)
    #expect(files(MappingTable(mappings: [], onVolumes: []), isFinal: true) !== kept)
    #expect(files(table, isFinal: true) === kept && opened == 3)
  }

  @Test func openedFilesCloseWithTheLastOneWhoNeedsThem() throws {
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    defer { close(ends[0]) }
    do {
      let files = OpenedFiles(files: [], descriptors: [ends[1]])
      #expect(fcntl(ends[1], F_GETFD) >= 0)
      _ = files.descriptors
    }
    var byte: UInt8 = 0
    #expect(read(ends[0], &byte, 1) == 0, "nobody has the other end any more")
  }

  /// The kernel's files are of the thread that they were opened of, and not of the next one with its number.
  @Test func aThreadThatHasGoneIsSoughtAnew() throws {
    let gone = try BlockedProgram(options: ["-O0"])
    let thread = ThreadFiles(processID: gone.processID, threadID: gone.processID)
    let before = try thread.look().get()
    #expect(try thread.lookAgain().get() == before)
    kill(gone.processID, SIGKILL)
    waitpid(gone.processID, nil, 0)
    #expect(thread.lookAgain() == .failure(.threadRan))
    #expect(thread.look() == .failure(.threadRan))
  }

  /// It is read once for each change.
  @Test(.enabled(if: geteuid() == 0 && access("/dev/fuse", R_OK | W_OK) == 0, "mounts are root's"))
  func aMountIsSeenWhenItHasComeAndGone() throws {
    let folder = "/tmp/dataless-mount-\(UInt64.random(in: 0 ... .max))"
    try #require(mkdir(folder, 0o700) == 0)
    defer { rmdir(folder) }
    let watch = MountWatch()
    let before = try #require(watch.devices())
    #expect(watch.devices() == before)
    // Nobody serves it, and nobody looks into it.
    let device = open("/dev/fuse", O_RDWR | O_CLOEXEC)
    try #require(device >= 0)
    defer { close(device) }
    let options = "fd=\(device),rootmode=40000,user_id=0,group_id=0"
    try #require(mount("nobody", folder, "fuse.nobody", 0, options) == 0)
    let seen = watch.devices()
    #expect(seen == FuseMounts.devices(seenBy: getpid()))
    #expect(seen?.count == before.count + 1)
    #expect(umount2(folder, CInt(MNT_DETACH)) == 0)
    #expect(watch.devices() == FuseMounts.devices(seenBy: getpid()))
    #expect(FuseMounts.areOurs(seenBy: getpid()))
  }
}
