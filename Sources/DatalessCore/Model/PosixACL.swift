/// A POSIX access control list as its extended attributes carry it (version 2, little-endian): what follows from it for
/// modes and for new items is the volume's business, all else the kernel's.
struct PosixACL: Equatable {
  static let accessName = Array("system.posix_acl_access".utf8)
  static let defaultName = Array("system.posix_acl_default".utf8)

  struct Entry: Equatable {
    enum Tag: UInt16 {
      case userObject = 1
      case user = 2
      case groupObject = 4
      case group = 8
      case mask = 16
      case other = 32
    }

    var tag: Tag
    /// Read 4, write 2, execute 1.
    var permissions: UInt16
    /// Of `user` and `group`; else 2^32 - 1.
    var id: UInt32
  }

  private(set) var entries: [Entry]

  /// LIMIT: entries; the attribute's value has at most 64 KiB.
  private static let entriesMax = 8191

  /// - Parameter bytes: The value of the attribute; believed in nothing.
  init?(_ bytes: [UInt8]) {
    func number(_ offset: Int, _ count: Int) -> UInt32 {
      (0..<count).reduce(0) { $0 | UInt32(bytes[offset + $1]) << UInt32(8 * $1) }
    }
    guard bytes.count >= 4, (bytes.count - 4) % 8 == 0, (bytes.count - 4) / 8 <= Self.entriesMax, number(0, 4) == 2
    else {
      return nil
    }
    entries = []
    for offset in stride(from: 4, to: bytes.count, by: 8) {
      guard let tag = Entry.Tag(rawValue: UInt16(number(offset, 2))), number(offset + 2, 2) <= 7 else { return nil }
      entries.append(Entry(tag: tag, permissions: UInt16(number(offset + 2, 2)), id: number(offset + 4, 4)))
    }
    // One of each that every file has; a mask where there are more.
    func count(_ tag: Entry.Tag) -> Int { entries.count { $0.tag == tag } }
    let hasMore = count(.user) + count(.group) > 0
    guard count(.userObject) == 1, count(.groupObject) == 1, count(.other) == 1, count(.mask) <= 1,
      !hasMore || count(.mask) == 1
    else { return nil }
  }

  /// An ACL with which the mode gives the group nothing: of one that could not be read it may be the mask.
  static let closed = PosixACL(entries: [
    Entry(tag: .userObject, permissions: 7, id: .max), Entry(tag: .groupObject, permissions: 0, id: .max),
    Entry(tag: .mask, permissions: 7, id: .max), Entry(tag: .other, permissions: 0, id: .max),
  ])

  private init(entries: [Entry]) { self.entries = entries }

  var bytes: [UInt8] {
    var bytes: [UInt8] = [2, 0, 0, 0]
    func add(_ number: UInt32, _ count: Int) {
      for place in 0..<count { bytes.append(UInt8(truncatingIfNeeded: number >> UInt32(8 * place))) }
    }
    for entry in entries {
      add(UInt32(entry.tag.rawValue), 2)
      add(UInt32(entry.permissions), 2)
      add(entry.id, 4)
    }
    return bytes
  }

  /// Whether a mode says all of it.
  var isMode: Bool { entries.count == 3 }

  private func permissions(_ tag: Entry.Tag) -> UInt32? {
    entries.first { $0.tag == tag }.map { UInt32($0.permissions) }
  }

  private mutating func set(_ tag: Entry.Tag, _ permissions: UInt32) {
    for index in entries.indices where entries[index].tag == tag {
      entries[index].permissions = UInt16(permissions & 7)
    }
  }

  private var groupTag: Entry.Tag { permissions(.mask) == nil ? .groupObject : .mask }

  /// The permissions that a mode shows of it: nine bits.
  var mode: UInt32 {
    (permissions(.userObject) ?? 0) << 6 | (permissions(groupTag) ?? 0) << 3 | (permissions(.other) ?? 0)
  }

  /// As it is after chmod(2).
  func adjusted(to mode: UInt32) -> PosixACL {
    var adjusted = self
    adjusted.set(.userObject, mode >> 6)
    adjusted.set(groupTag, mode >> 3)
    adjusted.set(.other, mode)
    return adjusted
  }

  /// What a new item gets of its directory's default ACL, limited by the mode that its maker asked for.
  ///
  /// - Returns: Its ACL, and its nine bits.
  func inherited(mode: UInt32) -> PosixACL { adjusted(to: self.mode & mode) }
}
