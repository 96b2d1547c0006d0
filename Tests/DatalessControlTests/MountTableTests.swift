import DatalessControl
import Testing

@Suite struct MountTableTests {
  private static let root = "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw"
  private static func dataless(_ id: Int, _ parent: Int, _ device: String, _ at: String, user: Int = 0) -> String {
    "\(id) \(parent) \(device) / \(at) ro,nosuid,nodev - fuse.dataless /src ro,user_id=\(user),group_id=0"
  }
  private static func table(_ lines: String...) -> MountTable {
    MountTable(parsing: bytes(lines.joined(separator: "\n") + "\n"))
  }

  @Test func parsesAllFields() throws {
    let line =
      "36 22 0:53 /sub /mnt/a ro,nosuid shared:7 master:2 - fuse.dataless /my\\040src rw,user_id=1000,group_id=5"
    let entry = try #require(Self.table(Self.root, line).entries.last)
    #expect(entry.mountID == 36)
    #expect(entry.parentID == 22)
    #expect(entry.device == "0:53")
    #expect(entry.root == bytes("/sub"))
    #expect(entry.mountPoint == bytes("/mnt/a"))
    #expect(entry.options == "ro,nosuid")
    #expect(entry.fileSystemType == "fuse.dataless")
    #expect(entry.source == bytes("/my src"))
    #expect(entry.superOptions == "rw,user_id=1000,group_id=5")
    #expect(entry.isDataless)
    #expect(entry.userID == 1000)
  }

  @Test func undoesOctalEscapesAndKeepsBytes() throws {
    let line = bytes("36 22 0:53 / /") + [0xff] + bytes("a\\040b\\011c\\012d\\134e\\043f rw - fuse.dataless x rw\n")
    let entry = try #require(MountTable(parsing: line).entries.first)
    #expect(entry.mountPoint == bytes("/") + [0xff] + bytes("a b\tc\nd\\e#f"))
  }

  @Test func escapesAtTheEndAndUnfinishedOnes() throws {
    let entry = try #require(Self.table("1 0 0:1 / /x\\04 rw - ext4 a\\134 rw").entries.first)
    #expect(entry.mountPoint == bytes("/x\\04"))
    #expect(entry.source == bytes("a\\"))
  }

  @Test(arguments: ["", "22", "22 1 8:1 / / rw", "x 1 8:1 / / rw - ext4 s rw", "22 1 8:1 / / rw shared:1 ext4 s rw"])
  func leavesOutWhatIsNoMount(line: String) {
    #expect(Self.table(line).entries.isEmpty)
  }

  @Test func findsTheMountOfAPath() {
    let table = Self.table(Self.root, Self.dataless(36, 22, "0:53", "/mnt/a"), Self.dataless(37, 22, "0:54", "/mnt/ab"))
    #expect(table.datalessMount(containing: bytes("/mnt/a/x/y"))?.device == "0:53")
    #expect(table.datalessMount(containing: bytes("/mnt/ab"))?.device == "0:54")
    #expect(table.datalessMount(containing: bytes("/mnt")) == nil)
    #expect(table.datalessMount(containing: bytes("/mnt/abc")) == nil)
    #expect(table.datalessMount(at: bytes("/mnt/a"))?.device == "0:53")
    #expect(table.datalessMount(at: bytes("/mnt/a/x")) == nil)
  }

  @Test func nestedAndStackedMounts() {
    let table = Self.table(
      Self.root, Self.dataless(36, 22, "0:53", "/a"), "38 36 0:60 / /a/b rw - tmpfs t rw",
      Self.dataless(39, 38, "0:61", "/a/b/c"), Self.dataless(40, 36, "0:62", "/a"))
    // 40 was mounted over the whole of 36, so that what lies on 36 cannot be reached any more.
    #expect(table.datalessMount(containing: bytes("/a/b/c/d"))?.device == "0:62")
    let without = MountTable(entries: Array(table.entries.dropLast()))
    #expect(without.mount(containing: bytes("/a/b"))?.device == "0:60")
    #expect(without.datalessMount(containing: bytes("/a/b/c/d"))?.device == "0:61")
  }

  @Test func aMountHiddenByALaterOneAboveItIsNotFound() {
    let table = Self.table(Self.root, Self.dataless(36, 22, "0:53", "/a/b"), "41 22 0:70 / /a rw - tmpfs t rw")
    #expect(table.datalessMount(containing: bytes("/a/b/c")) == nil)
    #expect(table.mount(containing: bytes("/a/b/c"))?.device == "0:70")
  }

  @Test func worksInAChrootWithoutARootMount() {
    let table = Self.table(Self.dataless(36, 22, "0:53", "/a"))
    #expect(table.datalessMount(containing: bytes("/a/b"))?.device == "0:53")
    #expect(table.mount(containing: bytes("/b")) == nil)
  }

  @Test func readsTheKernelsOwnTable() throws {
    #expect(try MountTable.current().mount(containing: bytes("/proc"))?.fileSystemType == "proc")
  }
}
