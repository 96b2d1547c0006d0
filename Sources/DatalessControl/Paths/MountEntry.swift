/// One line of /proc/self/mountinfo. Paths and names are bytes, with the kernel's octal escapes undone.
public struct MountEntry: Sendable, Equatable {
  /// Unique while mounted; reused by the kernel afterwards.
  public var mountID: Int
  public var parentID: Int
  /// The device as mountinfo prints it, `major:minor`; it names the volume's runtime directory.
  public var device: String
  /// The part of the file system that is mounted here; `/` for a whole one.
  public var root: [UInt8]
  public var mountPoint: [UInt8]
  /// Per-mount options, such as `ro,nosuid`.
  public var options: String
  /// `fuse.dataless` for our volumes, unless their scenario has another subtype.
  public var fileSystemType: String
  public var source: [UInt8]
  /// Per-file-system options, such as `rw,user_id=0,group_id=0`.
  public var superOptions: String

  /// Whether it is a volume of ours by its daemon's record, whatever its type is: `MountTable.current` looks, for
  /// the caller's own mounts.
  public var isRecorded = false

  /// The subtype of volumes whose scenario has no other.
  public static let datalessSubtype = "dataless"

  public static let datalessType = type(subtype: datalessSubtype)

  /// The file system type of a volume.
  public static func type(subtype: String) -> String { "fuse.\(subtype)" }

  public init(
    mountID: Int, parentID: Int, device: String, root: [UInt8], mountPoint: [UInt8], options: String,
    fileSystemType: String, source: [UInt8], superOptions: String
  ) {
    self.mountID = mountID
    self.parentID = parentID
    self.device = device
    self.root = root
    self.mountPoint = mountPoint
    self.options = options
    self.fileSystemType = fileSystemType
    self.source = source
    self.superOptions = superOptions
  }

  /// Whether it is a volume of this program.
  public var isDataless: Bool { isRecorded || fileSystemType == Self.datalessType }

  /// Whether something is to be mounted over it when somebody looks: what systemd has for `x-systemd.automount`, and
  /// automount(8).
  public var isAutomount: Bool { fileSystemType == "autofs" }

  /// Whether nothing on it can be changed, by this mount of it at least.
  public var isReadOnly: Bool { options.split(separator: ",").contains("ro") }

  /// The user that mounted a FUSE file system, from its `user_id=` option; nil for other file systems.
  public var userID: UInt32? {
    for option in superOptions.split(separator: ",") where option.hasPrefix("user_id=") {
      return UInt32(option.dropFirst("user_id=".count))
    }
    return nil
  }

  /// Parses one line without its newline; nil when it does not have the fields of proc(5).
  public init?(line: some Collection<UInt8>) {
    let fields = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: true)
    guard fields.count >= 9, let separator = fields[6...].firstIndex(where: { $0.elementsEqual("-".utf8) }),
      separator + 2 < fields.count, let mountID = Int(decimal: fields[0]), let parentID = Int(decimal: fields[1])
    else { return nil }
    func text(_ index: Int) -> String {
      index < fields.count ? String(decoding: Self.unescape(fields[index]), as: UTF8.self) : ""
    }
    self.init(
      mountID: mountID, parentID: parentID, device: text(2), root: Self.unescape(fields[3]),
      mountPoint: Self.unescape(fields[4]), options: text(5), fileSystemType: text(separator + 1),
      source: Self.unescape(fields[separator + 2]), superOptions: text(separator + 3))
  }

  /// Undoes the kernel's escapes: a backslash and three octal digits stand for one byte (space, tab, newline,
  /// backslash, and `#`); anything else is itself.
  static func unescape(_ bytes: some Collection<UInt8>) -> [UInt8] {
    let input = Array(bytes)
    guard input.contains(UInt8(ascii: "\\")) else { return input }
    var output: [UInt8] = []
    output.reserveCapacity(input.count)
    var index = 0
    while index < input.count {
      if input[index] == UInt8(ascii: "\\"), index + 3 < input.count,
        input[index + 1...index + 3].allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "7")).contains($0) })
      {
        let value = input[index + 1...index + 3].reduce(0) { $0 * 8 + Int($1 - UInt8(ascii: "0")) }
        output.append(UInt8(truncatingIfNeeded: value))
        index += 4
      } else {
        output.append(input[index])
        index += 1
      }
    }
    return output
  }
}

extension Int {
  /// A non-negative decimal number in ASCII digits; nil for anything else.
  init?(decimal bytes: some Collection<UInt8>) {
    guard !bytes.isEmpty else { return nil }
    var value = 0
    for byte in bytes {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
      let (product, overflow) = value.multipliedReportingOverflow(by: 10)
      let (sum, carry) = product.addingReportingOverflow(Int(byte - UInt8(ascii: "0")))
      guard !overflow, !carry else { return nil }
      value = sum
    }
    self = value
  }
}
