import DatalessControl
import Testing

@testable import DatalessDaemon

/// What is mounted on a volume, as the mount table has it.
@Suite struct MountsBelowTests {
  private static func places(_ lines: String) -> [String] {
    let table = MountTable(parsing: Array((lines + "\n").utf8))
    return MountsBelow.places(in: table, on: Array("/mnt/v".utf8)).map { String(decoding: $0, as: UTF8.self) }
  }

  private static let volume = "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n36 22 0:53 / /mnt/v ro - fuse.dataless /src ro"

  @Test func whatHasTheVolumeAsItsParent() {
    #expect(Self.places(Self.volume).isEmpty)
    #expect(Self.places(Self.volume + "\n40 36 0:60 / /mnt/v/a/b rw - tmpfs none rw") == ["/mnt/v/a/b"])
    // On a bind mount of a part; and of another volume.
    #expect(
      Self.places(
        Self.volume + """

          41 22 0:53 /part /mnt/part ro - fuse.dataless /src ro
          42 41 0:61 / /mnt/part/x rw - tmpfs none rw
          43 22 0:54 / /mnt/w ro - fuse.dataless /src ro
          44 43 0:62 / /mnt/w/y rw - tmpfs none rw
          """) == ["/mnt/part/x"])
  }

  /// The kernel would detach it as any other one.
  @Test func aPartOfTheVolumeOnTheVolume() {
    #expect(Self.places(Self.volume + "\n40 36 0:53 /a /mnt/v/b ro - fuse.dataless /src ro") == ["/mnt/v/b"])
  }

  @Test func noVolumeIsThere() {
    #expect(Self.places("22 1 8:1 / / rw - ext4 /dev/sda1 rw").isEmpty)
  }
}
