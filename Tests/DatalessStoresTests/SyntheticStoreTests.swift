import DatalessCore
@testable import DatalessStores
import Glibc
import SystemPackage
import Testing

@Suite struct SyntheticStoreTests {
  private func store(_ text: String) throws -> SyntheticStore {
    SyntheticStore(try SyntheticSpecification(parsing: "synthetic:\(text)"))
  }

  /// All items below the root, directories first listed last.
  private func walk(_ store: SyntheticStore) throws -> [FoundItem] {
    var items: [FoundItem] = []
    var pending = [store.rootItem]
    while let directory = pending.popLast() {
      for entry in try store.entries(directory) {
        let item = store.child(entry, of: directory)
        items.append(item)
        if entry.attributes.kind == .directory { pending.append(item) }
      }
    }
    return items
  }

  @Test(arguments: [(1, 0), (1, 16), (99, 1), (100, 2), (101, 2), (1000, 2), (12_345, 3), (5000, 0), (20_000, 16)])
  func hasExactlyTheFilesAskedFor(files: Int, depth: Int) throws {
    let store = try store("files=\(files),depth=\(depth)")
    let items = try walk(store)
    #expect(items.count { $0.attributes.kind == .file } == files)
    #expect(Set(items.map(\.attributes.inode)).count == items.count)
    #expect(Set(items.map(\.key)).count == items.count)
    #expect(!items.contains { $0.attributes.inode == store.root.inode })
    for item in items where item.attributes.kind == .file {
      #expect(item.key.count { $0 == UInt8(ascii: "/") } == depth)
      #expect(store.specification.sizes.contains(item.attributes.size))
    }
    for item in items where item.attributes.kind == .directory {
      let entries = try store.entries(item)
      let directories = entries.count { $0.attributes.kind == .directory }
      #expect(item.attributes.linkCount == UInt32(2 + directories))
      #expect(!entries.isEmpty)
    }
  }

  @Test func attributes() throws {
    let store = try store("files=10,depth=1")
    #expect(store.root.mode == 0o040755)
    for item in try walk(store) {
      #expect(item.attributes.uid == geteuid() && item.attributes.gid == getegid())
      #expect(item.attributes.mode == (item.attributes.kind == .file ? 0o100644 : 0o040755))
      #expect((1_420_070_400..<1_735_430_400).contains(item.attributes.modificationTime.seconds))
      #expect(item.attributes.modificationTime.nanoseconds < 1_000_000_000)
    }
  }

  /// These values were computed once; a change of any is a change of every tree that somebody's test was built on.
  @Test func sameForEver() throws {
    let store = try store("files=1000,depth=2,size=4k..1m,seed=42")
    let files = try walk(store).filter { $0.attributes.kind == .file }
    let items = files.sorted { $0.attributes.inode < $1.attributes.inode }
    let first = try #require(items.first)
    let last = try #require(items.last)
    #expect(String(decoding: first.key, as: UTF8.self) == SyntheticGolden.firstPath)
    #expect(first.attributes.size == SyntheticGolden.firstSize)
    #expect(first.attributes.modificationTime == SyntheticGolden.firstTime)
    #expect(String(decoding: last.key, as: UTF8.self) == SyntheticGolden.lastPath)
    let content = try store.open(first)
    let bytes = try content.bytes(0..<16)
    #expect(bytes == SyntheticGolden.firstBytes)
  }

  @Test func sameForTheSameSeedAndDifferentForAnother() throws {
    let (one, two, other) = (try store("seed=5"), try store("seed=5"), try store("seed=6"))
    let (items, same, different) = (try walk(one), try walk(two), try walk(other))
    #expect(items == same)
    #expect(items.map(\.key) != different.map(\.key))
    let file = try #require(items.first { $0.attributes.kind == .file })
    let counterpart = try #require(different.first { $0.attributes.inode == file.attributes.inode })
    #expect(try one.content(file) == two.content(file))
    #expect(try one.content(file).prefix(4096) != other.content(counterpart).prefix(4096))
  }

  @Test func everyBlockOfEveryFileDiffers() throws {
    let store = try store("files=200,depth=1,size=32k")
    var blocks: Set<[UInt8]> = []
    var count = 0
    for item in try walk(store) where item.attributes.kind == .file {
      let bytes = try store.content(item)
      for start in stride(from: 0, to: bytes.count, by: 4096) {
        blocks.insert(Array(bytes[start..<start + 4096]))
        count += 1
      }
    }
    #expect(count == 1600)
    #expect(blocks.count == count)
  }

  @Test func anyOffsetGivesTheSameBytes() throws {
    let store = try store("files=1,depth=0,size=10000..10007")
    let item = try #require(try walk(store).first)
    let whole = try store.content(item)
    #expect(whole.count == Int(item.attributes.size))
    let content = try store.open(item)
    defer { content.close() }
    for start in Array(0..<20) + Array(whole.count - 20..<whole.count) {
      for length in [1, 2, 7, 8, 9, 15, 16, 17, 100, 20_000] {
        let range = Int64(start)..<Int64(start + length)
        #expect(try content.bytes(range) == Array(whole[start..<min(start + length, whole.count)]))
      }
    }
    #expect(try content.bytes(item.attributes.size..<item.attributes.size + 1).isEmpty)
    #expect(try content.nextData(from: 0) == 0..<item.attributes.size)
    #expect(content.descriptor == nil)
  }

  @Test func hugeFilesAndTreesCostNothing() throws {
    let store = try store("files=100000000,depth=4,size=8t")
    var directory = store.rootItem
    for _ in 0..<4 { directory = store.child(try #require(try store.entries(directory).last), of: directory) }
    let entries = try store.entries(directory)
    #expect((50...100).contains(entries.count))
    let content = try store.open(store.child(try #require(entries.last), of: directory))
    #expect(try content.bytes((8 << 40) - 3..<(8 << 40)).count == 3)
  }

  @Test func largeDirectoryComesInBatches() throws {
    let store = try store("files=10000,depth=0")
    var batches: [Int] = []
    try store.list(store.rootItem) { (batch) throws(FSError) in batches.append(batch.count) }
    #expect(batches == [4096, 4096, 1808])
  }

  @Test func wrongItemsAreRefused() throws {
    let store = try store("files=10,depth=1")
    let file = try #require(try walk(store).first { $0.attributes.kind == .file })
    var other = file
    other.attributes.size += 1
    #expect(thrown { () throws(FSError) in _ = try store.open(other) }?.errno == .staleNFSFileHandle)
    other = file
    other.attributes.inode += 1000
    #expect(thrown { () throws(FSError) in _ = try store.open(other) }?.errno == .staleNFSFileHandle)
    #expect(thrown { () throws(FSError) in _ = try store.open(store.rootItem) }?.errno == .staleNFSFileHandle)
    #expect(thrown { () throws(FSError) in _ = try store.entries(file) }?.errno == .notDirectory)
    #expect(thrown { () throws(FSError) in _ = try store.readLink(file) }?.errno == .invalidArgument)
    #expect(try store.extendedAttributeNames(of: file).isEmpty)
    #expect(thrown { () throws(FSError) in _ = try store.extendedAttribute([65], of: file) }?.errno == .noData)
  }

  @Test func treeNumbersAreInvertible() {
    for (files, depth) in [(1, 0), (12_345, 3), (1_000_000, 5), (100_000_000, 16)] {
      let tree = SyntheticTree(files: files, depth: depth)
      for level in 0...depth {
        for position in Set([0, tree.widths[level] / 2, tree.widths[level] - 1]) {
          let node = SyntheticTree.Node.directory(level: level, position: position)
          #expect(tree.node(of: tree.inode(of: node)) == node)
        }
      }
      #expect(tree.node(of: tree.inode(of: .file(files - 1))) == .file(files - 1))
      #expect(tree.node(of: tree.inode(of: .file(files))) == nil)
      #expect(tree.node(of: 0) == nil)
      #expect(tree.node(of: UInt64(tree.directories) + 2) == nil)
    }
  }

  private static let ranges: [ClosedRange<Int64>] = [
    0...0, 0...1, 1...1, 1...8, 5...5, 4096...4097, 4096...65536, 3...1000, 0...(8 << 40),
  ]

  @Test(arguments: ranges)
  func sizesStayInRangeAndReachBothEnds(range: ClosedRange<Int64>) {
    let sizes = SyntheticSizes(range)
    let hash = SyntheticHash(seed: 3)
    let found = (0..<5000).map { sizes.size(hash, inode: UInt64($0)) }
    #expect(found.allSatisfy { range.contains($0) })
    if range.count <= 8 { #expect(Set(found).count == range.count) }
  }
}
