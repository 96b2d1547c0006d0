import DatalessControl
import Synchronization
import SystemPackage
import Testing

@Suite struct PathResolverTests {
  private static let mounts = MountTable(
    parsing: bytes(
      """
      22 1 8:1 / / rw - ext4 /dev/sda1 rw
      36 22 0:53 / /mnt/v ro - fuse.dataless /src ro,user_id=0
      37 22 0:54 / /mnt/w ro - fuse.dataless /src ro,user_id=0
      38 22 0:53 /a/b /mnt/part ro - fuse.dataless /src ro,user_id=0

      """))

  /// A resolver over symbolic links that also says which paths it asked about.
  private static func resolver(_ links: [String: String], asked: AskedPaths = AskedPaths()) -> PathResolver {
    PathResolver(
      mounts: mounts, workingDirectory: { () throws(ControlError) in bytes("/home/user") },
      readLink: { path in
        let text = String(decoding: path, as: UTF8.self)
        asked.add(text)
        return links[text].map { bytes($0) }
      })
  }

  final class AskedPaths: Sendable {
    private let paths = Mutex<[String]>([])
    func add(_ path: String) { paths.withLock { $0.append(path) } }
    var all: [String] { paths.withLock { $0 } }
  }

  @Test(arguments: [("/mnt/part", "a/b"), ("/mnt/part/c", "a/b/c"), ("/mnt/v/c", "c"), ("/mnt/v", "")])
  func aBindMountOfAPartIsThatPart(path: String, relative: String) throws {
    #expect(try Self.resolver([:]).locate(bytes(path))?.relative == bytes(relative))
  }

  @Test(arguments: [
    ("a", "/home/user/a"), ("./a//b/.", "/home/user/a/b"), ("../x", "/home/x"), ("/..//../x/", "/x"), ("/", "/"),
    ("..", "/home"),
  ])
  func makesPathsAbsolute(path: String, expected: String) throws {
    #expect(try Self.resolver([:]).resolve(bytes(path)) == bytes(expected))
  }

  @Test func followsLinksOutsideOfVolumes() throws {
    let links = ["/home/user/link": "../../mnt/v", "/mnt": "/mnt2", "/x": "mnt/v/sub"]
    #expect(try Self.resolver(links).resolve(bytes("/x/a")) == bytes("/mnt2/v/sub/a"))
    #expect(try Self.resolver(["/home/user/link": "../../mnt/v"]).resolve(bytes("link/a")) == bytes("/mnt/v/a"))
  }

  /// As of a process substitution. What has a path is that path.
  @Test func aDescriptorWithoutAPathIsItself() throws {
    let links = [
      "/dev/fd": "/proc/self/fd", "/proc/self": "42", "/proc/42/fd/63": "pipe:[4711]",
      "/proc/42/fd/0": "/home/user/log", "/home/user/fd": "pipe:[4711]",
    ]
    let resolver = Self.resolver(links)
    #expect(try resolver.resolve(bytes("/dev/fd/63")) == bytes("/proc/42/fd/63"))
    #expect(try resolver.resolve(bytes("/dev/fd/0")) == bytes("/home/user/log"))
    #expect(try resolver.resolve(bytes("fd")) == bytes("/home/user/pipe:[4711]"))
  }

  @Test func goesUpFromTheTargetOfALink() throws {
    #expect(try Self.resolver(["/home/user/link": "/a/b"]).resolve(bytes("link/../c")) == bytes("/a/c"))
  }

  /// `dataless remove link` means the link, as rm does; a neighbour may have made it.
  @Test func whatIsToBeRemovedIsTheNameAndNotWhatItLeadsTo() throws {
    let resolver = Self.resolver(["/home/user/link": "/mnt/v/photos", "/home/user/way": "/mnt/v"])
    #expect(try resolver.locate(bytes("link"), named: true) == nil)
    #expect(try resolver.locate(bytes("link/"), named: true) == nil)
    #expect(try resolver.locate(bytes("link"))?.relative == bytes("photos"))
    #expect(try resolver.locate(bytes("way/photos"), named: true)?.relative == bytes("photos"))
    #expect(try resolver.locate(bytes("/mnt/v/../w/x"), named: true)?.relative == bytes("x"))
    let error = #expect(throws: ControlError.self) {
      try resolver.locate(bytes("/mnt/v/sub/link/../x"), named: true)
    }
    #expect(error?.errno == .invalidArgument)
  }

  @Test func neverAsksAtOrBelowAVolume() throws {
    let asked = AskedPaths()
    let resolver = Self.resolver(["/mnt/v/inside": "/etc"], asked: asked)
    let location = try #require(try resolver.locate(bytes("/mnt/v/inside/./x/y")))
    #expect(location.relative == bytes("inside/x/y"))
    #expect(location.mount.device == "0:53")
    #expect(asked.all == ["/mnt"])
  }

  /// `mnt/v/link/../x` is what lies beside the link's target: only the kernel, or the daemon, could say what that is.
  @Test func dotDotBehindAnItemIsRefused() throws {
    for path in ["/mnt/v/link/../x", "/mnt/v/a/b/../../x", "/mnt/v/a/.."] {
      let error = #expect(throws: ControlError.self) { try Self.resolver([:]).locate(bytes(path)) }
      #expect(error?.errno == .invalidArgument)
    }
    #expect(try Self.resolver([:]).resolve(bytes("/mnt/v/a/../x")) == bytes("/mnt/v/x"), "no item is meant")
    // No name of the working directory is a link.
    let inside = PathResolver(
      mounts: Self.mounts, workingDirectory: { () throws(ControlError) in bytes("/mnt/v/a/b") }, readLink: { _ in nil })
    #expect(try inside.locate(bytes("../x"))?.relative == bytes("a/x"))
    #expect(try inside.locate(bytes("../../x"), named: true)?.relative == bytes("x"))
    #expect(throws: ControlError.self) { try inside.locate(bytes("c/../x")) }
  }

  @Test func leavesAVolumeThroughDotDot() throws {
    let asked = AskedPaths()
    let resolver = Self.resolver([:], asked: asked)
    #expect(try resolver.locate(bytes("/mnt/v/../w"))?.mount.device == "0:54")
    #expect(try resolver.locate(bytes("/mnt/v/../x")) == nil)
    #expect(!asked.all.contains("/mnt/v") && !asked.all.contains("/mnt/w"))
  }

  @Test func theRootOfAVolumeHasAnEmptyPath() throws {
    #expect(try Self.resolver([:]).locate(bytes("/mnt/v/"))?.relative == [])
  }

  @Test func namesThatAreNotUTF8() throws {
    let location = try Self.resolver([:]).locate(bytes("/mnt/v/") + [0xff, 0xfe])
    #expect(location?.relative == [0xff, 0xfe])
  }

  @Test func circlesOfLinksEnd() {
    #expect {
      try Self.resolver(["/a": "/b", "/b": "/a"]).resolve(bytes("/a"))
    } throws: {
      ($0 as? ControlError)?.errno == .tooManySymbolicLinkLevels
    }
  }
}
