import DatalessCore
@testable import DatalessStores
import Glibc
import SystemPackage
import Testing

@Suite struct TreeRemovalTests {
  private let scratch = Scratch("removal")

  private func remove(_ name: String) throws {
    let directory = open(scratch.path, O_RDONLY | O_DIRECTORY)
    defer { close(directory) }
    try TreeRemoval.remove(Array(name.utf8), in: directory)
  }

  @Test func symbolicLinksAreUnlinkedNotFollowed() throws {
    scratch.makeDirectory("outside")
    scratch.write("outside/precious", "x")
    scratch.makeDirectory("tree")
    scratch.makeSymlink("tree/directory", to: "../outside")
    scratch.makeSymlink("tree/file", to: "../outside/precious")
    scratch.makeDirectory("tree/d")
    scratch.makeSymlink("tree/d/up", to: "../../outside")
    try remove("tree")
    #expect(!scratch.exists("tree"))
    #expect(scratch.exists("outside/precious"))
    scratch.makeSymlink("link", to: "outside")
    try remove("link")
    #expect(!scratch.exists("link"))
    #expect(scratch.exists("outside/precious"))
  }

  @Test func deepAndWideTrees() throws {
    scratch.makeDirectory("tree")
    var directory = open(scratch.full("tree"), O_RDONLY | O_DIRECTORY)
    let name = String(repeating: "d", count: 100)
    for _ in 0..<300 {
      #expect(mkdirat(directory, name, 0o755) == 0)
      for index in 0..<3 {
        close(openat(directory, "f\(index)", O_CREAT | O_WRONLY, 0o644))
        #expect(mkdirat(directory, "e\(index)", 0o755) == 0)
      }
      let next = openat(directory, name, O_RDONLY | O_DIRECTORY)
      close(directory)
      directory = next
    }
    close(directory)
    try remove("tree")
    #expect(!scratch.exists("tree"))
  }

  @Test func twentyThousandFilesInOneDirectory() throws {
    scratch.makeDirectory("tree")
    scratch.write("tree/f", "x")
    for index in 0..<20_000 { #expect(link(scratch.full("tree/f"), scratch.full("tree/l\(index)")) == 0) }
    try remove("tree")
    #expect(!scratch.exists("tree"))
  }

  @Test func unreadableDirectories() throws {
    scratch.makeDirectory("tree")
    scratch.makeDirectory("tree/d")
    scratch.write("tree/d/f", "x")
    chmod(scratch.full("tree/d"), 0)
    chmod(scratch.full("tree"), 0o500)
    try remove("tree")
    #expect(!scratch.exists("tree"))
  }

  @Test func missingTreeIsNoError() throws {
    try remove("none")
  }

  @Test func twoRemoversShareATree() throws {
    scratch.makeDirectory("tree")
    for outer in 0..<20 {
      scratch.makeDirectory("tree/\(outer)")
      for inner in 0..<20 {
        scratch.makeDirectory("tree/\(outer)/\(inner)")
        scratch.write("tree/\(outer)/\(inner)/f", "x")
      }
    }
    let path = scratch.path
    let threads = (0..<2).map { _ in
      OneShot {
        let directory = open(path, O_RDONLY | O_DIRECTORY)
        defer { close(directory) }
        _ = try? TreeRemoval.remove(Array("tree".utf8), in: directory)
      }
    }
    threads.forEach { $0.join() }
    try remove("tree")
    #expect(!scratch.exists("tree"))
  }

  @Test(.enabled(if: isRoot, "mounting needs root"))
  func otherFileSystemsAreNotEntered() {
    withPrivateMounts {
      let scratch = Scratch("removal-mount")
      scratch.makeDirectory("tree")
      scratch.makeDirectory("tree/d")
      #expect(mount("tmpfs", scratch.full("tree/d"), "tmpfs", 0, "size=1m") == 0)
      scratch.write("tree/d/precious", "x")
      let directory = open(scratch.path, O_RDONLY | O_DIRECTORY)
      defer { close(directory) }
      #expect(throws: Errno.self) { try TreeRemoval.remove(Array("tree".utf8), in: directory) }
      #expect(scratch.exists("tree/d/precious"))
      umount2(scratch.full("tree/d"), CInt(MNT_DETACH))
    }
  }

  /// A file system may list names that it cannot find, of which some come again and again, or ever more of them.
  @Test(.enabled(if: isRoot, "mounting needs root"), .timeLimit(.minutes(2)), arguments: [3, 5_000, nil])
  func namesThatAreListedAndNotFoundHaveAnEnd(names: Int?) {
    withPrivateMounts {
      let scratch = Scratch("removal-phantom")
      guard let system = PhantomFileSystem(scratch.path, names: names) else {
        Issue.record("cannot mount")
        return
      }
      let directory = open(scratch.path, O_RDONLY | O_DIRECTORY)
      #expect(throws: names == 3 ? Errno.directoryNotEmpty : Errno.ioError) {
        try TreeRemoval.remove(Array("d".utf8), in: directory, missesMax: 10_000)
      }
      close(directory)
      system.end()
    }
  }
}
