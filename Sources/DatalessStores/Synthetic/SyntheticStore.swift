public import DatalessCore
internal import Glibc
internal import SystemPackage

/// A backing store whose names, metadata and bytes are computed: any number of files, no disk, no memory per file.
///
/// Everything follows from the specification. Owner is the calling user, modes are 0755 and 0644, times lie between
/// 2015 and 2024. Sizes are spread evenly over the doublings between the smallest and the largest, as sizes of real
/// files are. Contents are random bytes, incompressible; no two files of 8 bytes or more, and no two blocks, are the
/// same.
public final class SyntheticStore: BackingStore {
  public let specification: SyntheticSpecification
  public var sourceName: String { specification.description }

  /// Nothing is waited for: names and bytes are computed.
  public var isFastLocal: Bool { true }
  public var root: ItemAttributes { attributes(of: .directory(level: 0, position: 0)) }

  private let tree: SyntheticTree
  private let hash: SyntheticHash
  private let sizes: SyntheticSizes
  private let uid: UInt32
  private let gid: UInt32

  public init(_ specification: SyntheticSpecification) {
    self.specification = specification
    tree = SyntheticTree(files: specification.files, depth: specification.depth)
    hash = SyntheticHash(seed: specification.seed)
    sizes = SyntheticSizes(specification.sizes)
    uid = geteuid()
    gid = getegid()
  }

  /// A full file system of as many bytes and inodes as the tree has on average.
  public func statistics() -> FileSystemStatistics {
    let average = UInt64(sizes.range.lowerBound) / 2 + UInt64(sizes.range.upperBound) / 2
    let items = UInt64(tree.files + tree.directories + 1)
    return FileSystemStatistics(
      blockSize: 4096, fragmentSize: 4096, blocks: UInt64(tree.files) * (average / 4096 + 1), freeBlocks: 0,
      availableBlocks: 0, files: items, freeFiles: 0, nameMax: 255)
  }

  public func list(
    _ directory: StoreBinding, into sink: (ListingBatch) throws(FSError) -> Void
  ) throws(FSError) {
    guard case .directory(let level, let position) = try node(of: directory) else {
      throw FSError(.notDirectory, "'\(directory.displayPath)' is not a directory")
    }
    let directories = tree.subdirectories(level: level, position: position)
    let files = level == tree.depth ? tree.files(ofLeaf: position) : 0..<0
    var batch = ListingBatch()
    batch.reserve(directories.count + files.count)
    for (ordinal, child) in directories.enumerated() {
      let node = SyntheticTree.Node.directory(level: level + 1, position: child)
      batch.append(attributes(of: node)) { name in
        SyntheticNames.appendDirectory(hash, inode: tree.inode(of: node), ordinal: ordinal, to: &name)
      }
      try Self.handOver(&batch, sink)
    }
    for (ordinal, index) in files.enumerated() {
      let node = SyntheticTree.Node.file(index)
      batch.append(attributes(of: node)) { name in
        SyntheticNames.appendFile(hash, inode: tree.inode(of: node), ordinal: ordinal, to: &name)
      }
      try Self.handOver(&batch, sink)
    }
    if !batch.isEmpty { try sink(batch) }
  }

  public func open(_ file: StoreBinding) throws(FSError) -> any StoreContent {
    let node = try node(of: file)
    guard case .file = node, StoreVersion(attributes(of: node)).isSame(as: file.version) else {
      throw FSError(.staleNFSFileHandle, "'\(file.displayPath)' is no file of \(sourceName)")
    }
    return SyntheticContent(key: hash.number(.content, file.version.inode), size: file.version.size)
  }

  public func readLink(_ link: StoreBinding) throws(FSError) -> [UInt8] {
    throw FSError(.invalidArgument, "'\(link.displayPath)' is not a symbolic link")
  }

  public func extendedAttribute(_ name: [UInt8], of item: StoreBinding) throws(FSError) -> [UInt8] {
    throw FSError(.noData, "synthetic items have no extended attributes")
  }

  public func extendedAttributeNames(of item: StoreBinding) throws(FSError) -> [[UInt8]] { [] }

  private static func handOver(
    _ batch: inout ListingBatch, _ sink: (ListingBatch) throws(FSError) -> Void
  ) throws(FSError) {
    guard batch.isFull else { return }
    try sink(batch)
    batch.removeAll()
  }

  /// The item a number belongs to. Names need not be parsed: number, name and place follow from each other.
  private func node(of item: StoreBinding) throws(FSError) -> SyntheticTree.Node {
    guard item.version.device == 0, let node = tree.node(of: item.version.inode) else {
      throw FSError(.staleNFSFileHandle, "'\(item.displayPath)' is no item of \(sourceName)")
    }
    return node
  }

  private func attributes(of node: SyntheticTree.Node) -> ItemAttributes {
    let inode = tree.inode(of: node)
    // 2015-01-01 and ten years, in seconds.
    let time = Timestamp(
      seconds: 1_420_070_400 + Int64(hash.index(.seconds, inode, below: 315_360_000)),
      nanoseconds: UInt32(hash.index(.nanoseconds, inode, below: 1_000_000_000)))
    var attributes = ItemAttributes(
      device: 0, inode: inode, mode: 0o100644, linkCount: 1, uid: uid, gid: gid, specialDevice: 0, size: 0, blocks: 0,
      accessTime: time, modificationTime: time, changeTime: time)
    switch node {
    case .directory(let level, let position):
      attributes.mode = 0o040755
      attributes.linkCount = 2 + UInt32(tree.subdirectories(level: level, position: position).count)
      attributes.size = 4096
      attributes.blocks = 8
    case .file:
      attributes.size = sizes.size(hash, inode: inode)
      attributes.blocks = (attributes.size + 4095) / 4096 * 8
    }
    return attributes
  }
}
