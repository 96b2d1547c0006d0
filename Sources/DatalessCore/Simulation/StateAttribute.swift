/// The extended attribute by which programs can tell whether an item's content is local.
public struct StateAttribute: Sendable, Equatable {
  /// Starts with `user.`; at most 255 bytes.
  public var name: [UInt8]
  public var values: Values
  /// Whether listxattr(2) shows it; copying tools then carry it on.
  public var isListed: Bool

  public enum Values: Sendable, Equatable {
    /// A word for each state.
    case words(dataless: String, resident: String, partial: String)
    /// A MessagePack map of etag, fileid, pinstate, size and state.
    case openVFS
  }

  public init(name: [UInt8], values: Values, isListed: Bool) {
    self.name = name
    self.values = values
    self.isListed = isListed
  }

  /// What a caller can be told of an item.
  public enum State: Sendable {
    case dataless
    /// A fetch of it is under way; told only where there is a word for it.
    case materializing
    case partial
    case resident
  }

  /// The default, which the library `CDataless` asks for, too.
  public static let dataless = StateAttribute(
    name: Array("user.dataless.state".utf8),
    values: .words(dataless: "dataless", resident: "resident", partial: "partial"), isListed: false)

  /// As openVFS has it.
  ///
  /// Source: opencloud-eu/openvfs, src/openvfs/openvfconstants.h (names and numbers) and openvfs.cpp (MessagePack by
  /// nlohmann::json, whose maps are sorted; `size` is 0 when hydrated). What a volume has not stays empty or at its
  /// default: etag, and pinstate 3 (inherited). The file id is the inode number.
  public static let openVFS = StateAttribute(
    name: Array("user.openvfs.data".utf8), values: .openVFS, isListed: true)

  /// The attribute's value.
  ///
  /// - Parameters:
  ///   - size: st_size, in bytes.
  ///   - inode: st_ino.
  public func value(_ state: State, size: Int64, inode: UInt64) -> [UInt8] {
    switch values {
    case .words(let dataless, let resident, let partial):
      switch state {
      case .dataless, .materializing: return Array(dataless.utf8)
      case .partial: return Array(partial.utf8)
      case .resident: return Array(resident.utf8)
      }
    case .openVFS:
      let number: UInt64 =
        switch state {
        case .resident: 0
        case .dataless, .partial: 1
        case .materializing: 2
        }
      var map = MessagePack()
      map.beginMap(count: 5)
      map.add("etag", "")
      map.add("fileid", String(inode))
      map.add("pinstate", 3)
      map.add("size", number == 0 ? 0 : UInt64(max(0, size)))
      map.add("state", number)
      return map.bytes
    }
  }
}

/// The few forms of MessagePack that are needed here.
private struct MessagePack {
  var bytes: [UInt8] = []

  /// - Parameter count: Below 16.
  mutating func beginMap(count: UInt8) { bytes.append(0x80 | count) }

  mutating func add(_ key: String, _ value: String) {
    text(key)
    text(value)
  }

  mutating func add(_ key: String, _ value: UInt64) {
    text(key)
    let (mark, size): (UInt8, Int) =
      switch value {
      case 0...0x7f: (UInt8(value), 0)
      case 0...0xff: (0xcc, 1)
      case 0...0xffff: (0xcd, 2)
      case 0...0xffff_ffff: (0xce, 4)
      default: (0xcf, 8)
      }
    bytes.append(mark)
    for index in (0..<size).reversed() { bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(index * 8))) }
  }

  /// Shorter than 32 bytes.
  private mutating func text(_ text: String) {
    bytes.append(0xa0 | UInt8(text.utf8.count))
    bytes += text.utf8
  }
}
