import CDatalessLinux
import DatalessCore
import DatalessStores
import Glibc
import SystemPackage
import Testing

@Suite struct LocalStoreContentTests {
  private let scratch = Scratch("content")

  @Test func readsAtAnyOffset() throws {
    let bytes = scratch.write("f", (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7 >> 3) })
    let store = try LocalStore(source: scratch.filePath)
    let item = try #require(try store.item("f"))
    #expect(try store.content(item) == bytes)
    let content = try store.open(item)
    defer { content.close() }
    #expect(try content.bytes(99_990..<100_100) == Array(bytes[99_990...]))
    #expect(try content.bytes(100_000..<100_001).isEmpty)
    #expect(try content.nextData(from: 0) == 0..<100_000)
    #expect(try content.nextData(from: 100_000) == nil)
    #expect(content.descriptor != nil)
  }

  /// A file server holds a write lease: open(2) with O_NONBLOCK is refused until the lease is given back.
  @Test func leaseOfAnotherIsWaitedFor() throws {
    scratch.write("f", "leased")
    let store = try LocalStore(source: scratch.filePath)
    let item = try #require(try store.item("f"))
    // The kernel asks for the lease by SIGIO, which would end this process.
    signal(SIGIO, SIG_IGN)
    let holder = open(scratch.full("f"), O_RDWR)
    guard fcntl(holder, CLINUX_F_SETLEASE, F_WRLCK) == 0 else {
      close(holder)
      return
    }
    let giver = OneShot {
      while fcntl(holder, CLINUX_F_GETLEASE) == F_WRLCK { sched_yield() }
      _ = fcntl(holder, CLINUX_F_SETLEASE, F_UNLCK)
      close(holder)
    }
    #expect(try store.content(item) == Array("leased".utf8))
    giver.join()
  }

  /// ext4 gives the number of a removed file to the next one at once.
  @Test func aFileThatGotTheInodeNumberOfARemovedOneIsAnother() throws {
    var marks: Set<[UInt64]> = []
    let store = try LocalStore(source: scratch.filePath)
    var numbers: Set<UInt64> = []
    for round in 0..<5 {
      scratch.write("f\(round)", "same size")
      scratch.setTimes("f\(round)", access: 1000, modification: 1000)
      let item = try #require(try store.item("f\(round)"))
      let content = try store.open(item)
      let generation = content.generation
      content.close()
      #expect(store.generation(of: item) == generation)
      let isNew = numbers.insert(item.attributes.inode).inserted
      if !isNew, item.attributes.birth != 0 || generation != 0 {
        #expect(marks.contains([item.attributes.birth, UInt64(generation)]) == false)
      }
      marks.insert([item.attributes.birth, UInt64(generation)])
      scratch.remove("f\(round)")
      #expect(store.generation(of: item) == 0)
      scratch.write("g\(round)", "same size")
      if let next = try store.item("g\(round)"), next.attributes.inode == item.attributes.inode,
        next.attributes.birth != 0,
        next.attributes.birth != item.attributes.birth
      {
        let mistaken = FoundItem(key: next.key, attributes: item.attributes)
        let error = thrown { () throws(FSError) in _ = try store.extendedAttributeNames(of: mistaken) }
        #expect(error?.errno == .staleNFSFileHandle)
      }
      scratch.remove("g\(round)")
    }
  }

  @Test func emptyFile() throws {
    scratch.write("f", "")
    let store = try LocalStore(source: scratch.filePath)
    let item = try #require(try store.item("f"))
    #expect(try store.content(item).isEmpty)
  }

  /// Data at 0, beyond 4 GiB, and a hole at the end.
  @Test func sparseFileOverFourGibibytes() throws {
    let size: Int64 = 5 << 30
    let far: Int64 = (4 << 30) + (1 << 20)
    let file = open(scratch.full("f"), O_RDWR | O_CREAT, 0o644)
    #expect(ftruncate(file, off_t(size)) == 0)
    #expect(pwrite(file, "first", 5, 0) == 5)
    #expect(pwrite(file, "far", 3, off_t(far)) == 3)
    close(file)
    let store = try LocalStore(source: scratch.filePath)
    let item = try #require(try store.item("f"))
    #expect(item.attributes.size == size)
    let content = try store.open(item)
    defer { content.close() }
    var ranges: [Range<Int64>] = []
    var position: Int64 = 0
    while let range = try content.nextData(from: position) {
      ranges.append(range)
      position = range.upperBound
    }
    #expect(ranges.first?.lowerBound == 0)
    #expect(ranges.contains { $0.contains(far) })
    #expect(ranges.reduce(0) { $0 + $1.count } < 1 << 20)
    #expect(try content.bytes(far..<far + 3) == Array("far".utf8))
    #expect(try content.bytes(size - 4..<size) == [0, 0, 0, 0])
    try content.verify()
  }
}
