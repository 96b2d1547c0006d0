/// A mount as mount(2) and fusermount3 want it described.
struct MountRequest: Sendable {
  let mountpoint: [UInt8]
  let options: FuseSessionOptions

  // MS_* of sys/mount.h, which Swift's Glibc module does not have.
  private static let readOnly: UInt = 1
  private static let noSetID: UInt = 2
  private static let noDevices: UInt = 4
  private static let noAccessTime: UInt = 1024

  /// What mountinfo will show as the source.
  var source: [UInt8] { options.source.isEmpty ? Array(options.subtype.utf8) : options.source }

  /// The file system type for mount(2).
  var type: String { "fuse.\(options.subtype)" }

  /// The flags for mount(2).
  var flags: UInt {
    (options.readOnly ? Self.readOnly : 0) | (options.noSetID ? Self.noSetID : 0)
      | (options.noDevices ? Self.noDevices : 0) | (options.noAccessTime ? Self.noAccessTime : 0)
  }

  /// The options the kernel itself parses, without the ones about device and owner.
  private var kernelOptions: [String] {
    var list: [String] = []
    if options.defaultPermissions { list.append("default_permissions") }
    if options.allowOther { list.append("allow_other") }
    if let size = options.maxRead { list.append("max_read=\(size)") }
    return list
  }

  /// The data argument of mount(2).
  func kernelData(device: Int32, rootMode: UInt32, uid: UInt32, gid: UInt32) -> String {
    let own = [
      "fd=\(device)", "rootmode=\(String(rootMode & 0o170000, radix: 8))", "user_id=\(uid)", "group_id=\(gid)",
    ]
    return (own + kernelOptions).joined(separator: ",")
  }

  /// The -o argument of fusermount3: bytes, since the source may be no text.
  var mountProgramOptions: [UInt8] {
    var list = kernelOptions
    if options.readOnly { list.append("ro") }
    if !options.noSetID { list.append("suid") }
    if !options.noDevices { list.append("dev") }
    if options.noAccessTime { list.append("noatime") }
    list.append("subtype=\(options.subtype)")
    return Array(list.joined(separator: ",").utf8) + Array(",fsname=".utf8) + Self.escaped(source)
  }

  /// A value of an fsname or subtype option with backslash and comma escaped, as fusermount3 undoes it.
  static func escaped(_ value: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(value.count)
    for byte in value {
      if byte == UInt8(ascii: ",") || byte == UInt8(ascii: "\\") {
        result.append(UInt8(ascii: "\\"))
      }
      result.append(byte)
    }
    return result
  }
}
