import DatalessCore
import DatalessStores
import Glibc
import SystemPackage
import Testing

/// Other file systems inside SOURCE. Each test mounts in a namespace of its own.
@Suite(.enabled(if: isRoot, "mounting needs root"))
struct LocalStoreMountTests {
  private let scratch = Scratch("mounts")

  init() {
    scratch.makeDirectory("source")
    scratch.makeDirectory("source/own")
    scratch.write("source/own/f", "own")
    scratch.makeDirectory("source/other")
    scratch.makeDirectory("source/bound")
    scratch.write("source/file", "below")
    scratch.write("over", "over")
  }

  private static func mountAll(_ scratch: Scratch) {
    #expect(mount("tmpfs", scratch.full("source/other"), "tmpfs", 0, "size=1m") == 0)
    scratch.write("source/other/f", "other")
    #expect(mount(scratch.full("source/own"), scratch.full("source/bound"), nil, UInt(MS_BIND), nil) == 0)
    #expect(mount(scratch.full("over"), scratch.full("source/file"), nil, UInt(MS_BIND), nil) == 0)
  }

  @Test func otherMountsAreEmptyDirectories() {
    withPrivateMounts { [scratch] in
      Self.mountAll(scratch)
      do {
        let store = try LocalStore(source: FilePath(scratch.full("source")))
        let entries = try store.entries(store.rootItem)
        #expect(Set(entries.map { String(decoding: $0.name, as: UTF8.self) }) == ["own", "other", "bound"])
        #expect(Set(entries.map(\.attributes.inode)).count == 3)
        for name in ["other", "bound"] {
          let item = try #require(try store.item(name))
          #expect(item.attributes.kind == .directory)
          #expect(item.attributes.inode >> 63 == 1)
          #expect(try store.entries(item).isEmpty)
          #expect(try store.extendedAttributeNames(of: item).isEmpty)
          let error = thrown { () throws(FSError) in _ = try store.extendedAttribute(Array("user.x".utf8), of: item) }
          #expect(error?.errno == .noData)
        }
        #expect(store.otherFileSystems == 3)
        let own = try #require(try store.item("own/f"))
        #expect(try store.content(own) == Array("own".utf8))
      } catch {
        Issue.record(error)
      }
    }
  }

  @Test func crossedMountsAreFollowedWithNumbersOfTheirOwn() {
    withPrivateMounts { [scratch] in
      Self.mountAll(scratch)
      do {
        let store = try LocalStore(source: FilePath(scratch.full("source")), crossMounts: true)
        let other = try #require(try store.item("other/f"))
        #expect(other.attributes.inode >> 63 == 1)
        #expect(other.attributes.device != store.root.device)
        #expect(try store.content(other) == Array("other".utf8))
        let file = try #require(try store.item("file"))
        #expect(try store.content(file) == Array("over".utf8))
        let bound = try #require(try store.item("bound/f"))
        #expect(try store.content(bound) == Array("own".utf8))
        #expect(store.otherFileSystems == 0)
        let again = try LocalStore(source: FilePath(scratch.full("source")), crossMounts: true)
        #expect(try again.item("other/f")?.attributes.inode == other.attributes.inode)
      } catch {
        Issue.record(error)
      }
    }
  }

  /// The clone is private: what is mounted into SOURCE later is not seen through it.
  @Test func mountsMadeLaterAreNotSeen() {
    withPrivateMounts { [scratch] in
      do {
        let store = try LocalStore(source: FilePath(scratch.full("source")))
        let file = try #require(try store.item("own/f"))
        #expect(mount("tmpfs", scratch.full("source/own"), "tmpfs", 0, "size=1m") == 0)
        scratch.write("source/own/f", "foreign")
        #expect(try store.content(file) == Array("own".utf8))
      } catch {
        Issue.record(error)
      }
    }
  }
}
