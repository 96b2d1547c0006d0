import CDatalessLinux
import DatalessCore
import DatalessStores
import Glibc
import SystemPackage
import Testing

@Suite struct LocalStoreAttributesTests {
  private let scratch = Scratch("xattr")

  private func set(_ name: String, _ value: [UInt8], on file: String) -> Int {
    clinux_lsetxattr(scratch.full(file), name, value, value.count, 0)
  }

  @Test func fileAndDirectoryAttributes() throws {
    scratch.write("f", "x")
    scratch.makeDirectory("d")
    let large = [UInt8](repeating: 7, count: 2000)
    for file in ["f", "d"] {
      try #require(set("user.small", [1, 0, 2], on: file) == 0, "the scratch file system has extended attributes")
      #expect(set("user.large", large, on: file) == 0)
      #expect(set("user.empty", [], on: file) == 0)
    }
    let store = try LocalStore(source: scratch.filePath)
    for file in ["f", "d"] {
      let item = try #require(try store.item(file))
      let names = Set(try store.extendedAttributeNames(of: item).map { String(decoding: $0, as: UTF8.self) })
      #expect(names.isSuperset(of: ["user.small", "user.large", "user.empty"]))
      #expect(try store.extendedAttribute(Array("user.small".utf8), of: item) == [1, 0, 2])
      #expect(try store.extendedAttribute(Array("user.large".utf8), of: item) == large)
      #expect(try store.extendedAttribute(Array("user.empty".utf8), of: item).isEmpty)
      let error = thrown { () throws(FSError) in _ = try store.extendedAttribute(Array("user.none".utf8), of: item) }
      #expect(error?.errno == .noData)
    }
    let root = FoundItem(key: [], attributes: store.root)
    #expect(thrown { () throws(FSError) in _ = try store.extendedAttributeNames(of: root) } == nil)
  }

  @Test func accessControlList() throws {
    scratch.write("f", "x")
    // Version 2: owner rw-, user 1234 r--, group r--, mask r--, others ---.
    let none: [UInt8] = [0xff, 0xff, 0xff, 0xff]
    var list: [UInt8] = [2, 0, 0, 0]
    list += [0x01, 0, 6, 0] + none
    list += [0x02, 0, 4, 0, 0xd2, 0x04, 0, 0]
    list += [0x04, 0, 4, 0] + none
    list += [0x10, 0, 4, 0] + none
    list += [0x20, 0, 0, 0] + none
    guard set("system.posix_acl_access", list, on: "f") == 0 else { return }
    let store = try LocalStore(source: scratch.filePath)
    let item = try #require(try store.item("f"))
    #expect(try store.extendedAttribute(Array("system.posix_acl_access".utf8), of: item) == list)
    #expect(try store.extendedAttributeNames(of: item).contains(Array("system.posix_acl_access".utf8)))
  }

  /// trusted.* is the one namespace that symbolic links and special files may have; only root sees it.
  @Test(.enabled(if: isRoot, "trusted attributes and device nodes need root"))
  func linksAndSpecialFilesAreNeitherFollowedNorOpened() throws {
    scratch.write("target", "x")
    scratch.makeSymlink("l", to: "target")
    scratch.makeSymlink("dangling", to: "nowhere")
    #expect(mkfifo(scratch.full("p"), 0o644) == 0)
    #expect(mknod(scratch.full("c"), S_IFCHR | 0o600, 0x0103) == 0)
    #expect(mknod(scratch.full("s"), S_IFSOCK | 0o600, 0) == 0)
    #expect(set("trusted.mark", Array("target".utf8), on: "target") == 0)
    let names = ["l", "dangling", "p", "c", "s"]
    for name in names { #expect(set("trusted.mark", Array(name.utf8), on: name) == 0) }
    let store = try LocalStore(source: scratch.filePath)
    for name in names {
      let item = try #require(try store.item(name))
      #expect(try store.extendedAttribute(Array("trusted.mark".utf8), of: item) == Array(name.utf8))
      #expect(try store.extendedAttributeNames(of: item).contains(Array("trusted.mark".utf8)))
    }
    #expect(try store.item("c")?.attributes.specialDevice == 0x0103)
    #expect(try store.item("c")?.attributes.kind == .characterDevice)
    #expect(try store.item("s")?.attributes.kind == .socket)
  }

  @Test func readLinkGivesBytesOfAnyLength() throws {
    let targets = ["x", String(repeating: "a/", count: 2000) + "end", "with \u{1b} control", "/absolute"]
    for (index, target) in targets.enumerated() { scratch.makeSymlink("l\(index)", to: target) }
    let store = try LocalStore(source: scratch.filePath)
    for (index, target) in targets.enumerated() {
      let link = try #require(try store.item("l\(index)"))
      #expect(try store.readLink(link) == Array(target.utf8))
    }
  }

  @Test func readLinkChecksWhatItReads() throws {
    scratch.makeSymlink("l", to: "x")
    scratch.write("f", "x")
    let store = try LocalStore(source: scratch.filePath)
    let link = try #require(try store.item("l"))
    let file = try #require(try store.item("f"))
    #expect(thrown { () throws(FSError) in _ = try store.readLink(file) }?.errno == .invalidArgument)
    scratch.makeSymlink("m", to: "y")
    scratch.move("m", to: "l")
    #expect(thrown { () throws(FSError) in _ = try store.readLink(link) }?.errno == .staleNFSFileHandle)
    scratch.remove("l")
    #expect(thrown { () throws(FSError) in _ = try store.readLink(link) }?.errno == .noSuchFileOrDirectory)
    scratch.write("l", "now a file")
    #expect(thrown { () throws(FSError) in _ = try store.readLink(link) }?.errno == .staleNFSFileHandle)
  }
}
