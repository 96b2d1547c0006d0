import CDatalessLinux
import DatalessCore
import DatalessStores
import Glibc
import SystemPackage
import Testing

@Suite struct LocalStoreSourceTests {
  private let scratch = Scratch("source")

  @Test func missing() {
    let error = thrown { () throws(FSError) in _ = try LocalStore(source: FilePath(scratch.full("none"))) }
    #expect(error?.errno == .noSuchFileOrDirectory)
    #expect(error?.message == "SOURCE '\(scratch.full("none"))' does not exist")
  }

  @Test func notADirectory() {
    scratch.write("f", "x")
    #expect(mkfifo(scratch.full("p"), 0o644) == 0)
    for name in ["f", "p"] {
      let error = thrown { () throws(FSError) in _ = try LocalStore(source: FilePath(scratch.full(name))) }
      #expect(error?.errno == .notDirectory)
      #expect(error?.message == "SOURCE '\(scratch.full(name))' is not a directory")
    }
  }

  @Test(.enabled(if: !isRoot, "root may read everything"))
  func unreadable() {
    scratch.makeDirectory("d")
    for mode: mode_t in [0o000, 0o300, 0o400] {
      chmod(scratch.full("d"), mode)
      let error = thrown { () throws(FSError) in _ = try LocalStore(source: FilePath(scratch.full("d"))) }
      #expect(error?.errno == .permissionDenied)
    }
    chmod(scratch.full("d"), 0o700)
  }

  @Test func symbolicLinkToADirectoryIsFollowedOnce() throws {
    scratch.makeDirectory("d")
    scratch.write("d/f", "x")
    scratch.makeSymlink("l", to: "d")
    let store = try LocalStore(source: FilePath(scratch.full("l")))
    #expect(try store.entries(store.rootItem).count == 1)
    #expect(store.sourceName == scratch.full("l"))
  }

  @Test func nameIsAbsolute() throws {
    scratch.makeDirectory("d")
    scratch.makeDirectory("e")
    scratch.makeDirectory("e/below")
    scratch.makeSymlink("d/l", to: "../e/below")
    // By text alone this would be d; the kernel says e.
    let store = try LocalStore(source: FilePath(scratch.full("d/l/..")))
    #expect(FilePath(store.sourceName).lastComponent?.string == "e")
    #expect(try store.entries(store.rootItem).map(\.name) == [Array("below".utf8)])
    #expect(try LocalStore(source: FilePath(scratch.full("d//."))).sourceName == scratch.full("d"))
    #expect(try LocalStore(source: ".").sourceName.hasPrefix("/"))
  }

  @Test func sourceStaysWhatItWasWhenItsNameMoves() throws {
    scratch.makeDirectory("d")
    scratch.write("d/f", "mine")
    let store = try LocalStore(source: FilePath(scratch.full("d")))
    scratch.move("d", to: "e")
    scratch.makeDirectory("d")
    scratch.write("d/f", "other")
    let file = try #require(try store.item("f"))
    #expect(try store.content(file) == Array("mine".utf8))
  }

  @Test(.enabled(if: isRoot, "only root is sure to get a clone of a mount"))
  func rootReadsThroughAReadOnlyClone() throws {
    let store = try LocalStore(source: scratch.filePath)
    #expect(store.protection == .readOnlyClone)
  }

  /// The way of ordinary users; root may go it, too.
  @Test func cloneMadeInAUserNamespaceIsReadOnly() throws {
    let tree = clinux_clone_mount_tree_as_user(scratch.path)
    // Containers and hardened systems may forbid user namespaces; then a plain descriptor is used.
    guard tree >= 0 else {
      #expect([EPERM, ENOSPC, EUSERS, EACCES, EINVAL].contains(CInt(-tree)))
      return
    }
    defer { close(CInt(tree)) }
    scratch.makeSymlink("l", to: "target")
    scratch.setTimes("l", access: 1000, modification: 2000)
    #expect(clinux_openat(CInt(tree), "new", O_CREAT | O_WRONLY, 0o644) == -Int(EROFS))
    var target = [CChar](repeating: 0, count: 100)
    #expect(clinux_readlinkat(CInt(tree), "l", &target, 100) == 6)
    #expect(scratch.status("l").st_atim.tv_sec == 1000)
    #expect(clinux_clone_mount_tree_as_user(scratch.full("none")) == -Int(ENOENT))
  }

  @Test func statisticsAreThoseOfStatvfs() throws {
    let store = try LocalStore(source: scratch.filePath)
    let found = try store.statistics()
    var expected = statvfs()
    #expect(statvfs(scratch.path, &expected) == 0)
    #expect(found.blocks == UInt64(expected.f_blocks))
    #expect(found.fragmentSize == UInt64(expected.f_frsize))
    #expect(found.nameMax == UInt64(expected.f_namemax))
    #expect(found.files == UInt64(expected.f_files))
  }

  /// Files, a directory and a symbolic link with an access time that any plain read would move under `relatime`.
  @Test func accessTimesDoNotMove() throws {
    scratch.makeDirectory("source")
    scratch.makeDirectory("source/d")
    scratch.write("source/d/f", "content")
    scratch.makeSymlink("source/d/l", to: "f")
    scratch.write("control", "content")
    let names = ["source/d/f", "source/d/l", "source/d", "source"]
    for name in names + ["control"] { scratch.setTimes(name, access: 1000, modification: 2000) }
    let control = open(scratch.full("control"), O_RDONLY)
    var byte: UInt8 = 0
    #expect(read(control, &byte, 1) == 1)
    close(control)
    // On a volume mounted noatime the test would prove nothing.
    guard scratch.status("control").st_atim.tv_sec != 1000 else { return }

    let store = try LocalStore(source: FilePath(scratch.full("source")))
    let file = try #require(try store.item("d/f"))
    #expect(try store.content(file) == Array("content".utf8))
    let link = try #require(try store.item("d/l"))
    if store.protection == .readOnlyClone { #expect(try store.readLink(link) == Array("f".utf8)) }
    _ = try store.extendedAttributeNames(of: file)
    for name in names { #expect(scratch.status(name).st_atim.tv_sec == 1000, "\(name)") }
    #expect(store.atimeUnprotectedOpens == 0)
  }
}
