import DatalessCore

/// What the catalog keeps of an item beside its place and its content's id: what nobody searches for.
struct ItemRecord: Equatable {
  /// What it was in the store when it was seen last; nil for what was made on the volume, and for directories that are
  /// here only because something in them is.
  var version: StoreVersion?
  /// Its metadata on the volume, where that is not the store's.
  var attributes: ItemAttributes?
  /// The store's metadata of that version, where others are kept.
  var listed: ItemAttributes?
  /// Whether its content is what a program wrote.
  var isDirty = false
  /// When its content was written, see `Epochs`. Means nothing without content.
  var epoch: Int64 = 0
  /// Where a symbolic link that was made on the volume leads.
  var target: [UInt8] = []
  /// When its content was used last, as `KeptUses.File` has it; 0 if that is not known.
  var use: UInt32 = 0

  /// Whether nothing is kept but the place.
  var isEmpty: Bool { attributes == nil && !isDirty && target.isEmpty }

  /// What a program wrote is gone: size and times are the store's again.
  mutating func forgetWriting() {
    guard var kept = attributes, let listed else { return }
    (kept.size, kept.blocks) = (listed.size, listed.blocks)
    (kept.modificationTime, kept.changeTime) = (listed.modificationTime, listed.changeTime)
    attributes = kept
  }

  private static let format: UInt8 = 2
  /// It does not say when an item was used.
  private static let firstFormat: UInt8 = 1
  /// PATH_MAX.
  static let targetMax = 4096
  static let tokenMax = 64 << 10

  /// - Parameter home: As `Catalog.home`.
  func encoded(home: UInt64) -> [UInt8] {
    var writer = ByteWriter(home: home)
    writer.put(Self.format)
    writer.put(isDirty)
    writer.put(epoch)
    writer.put(target)
    writer.put(version != nil)
    if let version { writer.put(version) }
    writer.put(attributes != nil)
    if let attributes { writer.put(attributes) }
    writer.put(listed != nil)
    if let listed { writer.put(listed) }
    writer.put(use)
    return writer.bytes
  }

  init() {}

  /// - Parameter home: As `Catalog.home`.
  init(decoding bytes: [UInt8], home: UInt64) throws(Damage) {
    var reader = ByteReader(bytes, home: home)
    let format = try reader.take(UInt8.self)
    guard Self.firstFormat...Self.format ~= format else { throw Damage("its record is of another format") }
    isDirty = try reader.takeFlag()
    epoch = try reader.take()
    target = try reader.takeBytes(limit: Self.targetMax)
    guard !target.contains(0) else { throw Damage("a NUL is in a link's target") }
    if try reader.takeFlag() { version = try reader.takeVersion() }
    if try reader.takeFlag() { attributes = try reader.takeAttributes() }
    if try reader.takeFlag() { listed = try reader.takeAttributes() }
    if format > Self.firstFormat { use = try reader.take() }
    guard reader.isAtEnd else { throw Damage("its record has more than it should") }
  }
}

extension ByteWriter {
  mutating func put(_ time: Timestamp) {
    put(time.seconds)
    put(time.nanoseconds)
  }

  mutating func put(_ version: StoreVersion) {
    put(version.kind.rawValue)
    putDevice(version.device)
    put(version.inode)
    put(version.birth)
    put(version.size)
    put(version.modificationTime)
    put(version.changeTime)
    put(version.token.bytes)
  }

  mutating func put(_ attributes: ItemAttributes) {
    putDevice(attributes.device)
    put(attributes.inode)
    put(attributes.mode)
    put(attributes.linkCount)
    put(attributes.uid)
    put(attributes.gid)
    put(attributes.specialDevice)
    put(attributes.size)
    put(attributes.blocks)
    put(attributes.accessTime)
    put(attributes.modificationTime)
    put(attributes.changeTime)
    put(attributes.birth)
  }
}

extension ByteReader {
  mutating func takeTime() throws(Damage) -> Timestamp {
    let seconds: Int64 = try take()
    let nanoseconds: UInt32 = try take()
    guard nanoseconds < 1_000_000_000 else { throw Damage("a second has no \(nanoseconds) nanoseconds") }
    return Timestamp(seconds: seconds, nanoseconds: nanoseconds)
  }

  /// 0 or more bytes, or blocks.
  private mutating func takeSize() throws(Damage) -> Int64 {
    let size: Int64 = try take()
    guard size >= 0 else { throw Damage("a size is \(size)") }
    return size
  }

  mutating func takeVersion() throws(Damage) -> StoreVersion {
    guard let kind = ItemKind(rawValue: try take()) else { throw Damage("its kind is unknown") }
    // All that a version has comes from attributes; those that do not matter are 0.
    var listed = ItemAttributes.none
    listed.mode = UInt32(kind.rawValue) << 12
    listed.device = try takeDevice()
    listed.inode = try take()
    listed.birth = try take()
    listed.size = try takeSize()
    listed.modificationTime = try takeTime()
    listed.changeTime = try takeTime()
    return StoreVersion(listed, token: VersionToken(try takeBytes(limit: ItemRecord.tokenMax)))
  }

  mutating func takeAttributes() throws(Damage) -> ItemAttributes {
    var attributes = ItemAttributes.none
    attributes.device = try takeDevice()
    attributes.inode = try take()
    attributes.mode = try take()
    guard attributes.mode <= 0xffff, ItemKind(rawValue: UInt8(attributes.mode >> 12)) != nil else {
      throw Damage("its kind is unknown")
    }
    attributes.linkCount = try take()
    attributes.uid = try take()
    attributes.gid = try take()
    attributes.specialDevice = try take()
    attributes.size = try takeSize()
    attributes.blocks = try takeSize()
    attributes.accessTime = try takeTime()
    attributes.modificationTime = try takeTime()
    attributes.changeTime = try takeTime()
    attributes.birth = try take()
    return attributes
  }
}

extension ItemAttributes {
  /// All zero: to be filled.
  static let none = ItemAttributes(
    device: 0, inode: 0, mode: 0, linkCount: 0, uid: 0, gid: 0, specialDevice: 0, size: 0, blocks: 0,
    accessTime: Timestamp(seconds: 0, nanoseconds: 0), modificationTime: Timestamp(seconds: 0, nanoseconds: 0),
    changeTime: Timestamp(seconds: 0, nanoseconds: 0))
}
