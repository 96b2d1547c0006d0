/// What a caller has mapped, without what lies on a volume.
///
/// Whoever reads a page of a dataless file's mapping materializes it, and waits for that as the caller does (S15). So
/// such mappings are no part of the table: what cannot be found is neither read nor opened.
public struct MappingTable: Sendable, Equatable {
  /// Ascending, without overlaps.
  public let mappings: [Mapping]
  /// Ascending: what was left out.
  public let onVolumes: [Range<UInt64>]
  /// Whether the process has more mappings than are looked at, or the text was cut.
  public let isCut: Bool

  // LIMIT: mappings of one process. vm.max_map_count is 65,530 unless somebody raised it.
  public static let countMax = 65_536
  // LIMIT: bytes of /proc/PID/maps.
  public static let bytesMax = 16 << 20

  /// - Parameters:
  ///   - text: Of /proc/PID/maps; an unfinished last line is left out.
  ///   - volumes: The devices of all FUSE mounts that can be seen from here.
  /// - Returns: nil when a line has not the kernel's form, or lies below the one before it: half a table would take an
  ///   address for one without a mapping.
  public init?(_ text: [UInt8], volumes: Set<DeviceNumber>) {
    var mappings: [Mapping] = []
    var onVolumes: [Range<UInt64>] = []
    var last: UInt64 = 0
    var rest = text[...]
    var count = 0
    while count < Self.countMax, let lineEnd = rest.firstIndex(of: UInt8(ascii: "\n")) {
      guard let mapping = Mapping(rest[..<lineEnd]), mapping.start >= last else { return nil }
      last = mapping.end
      if mapping.inode != 0, volumes.contains(mapping.device) {
        onVolumes.append(mapping.start..<mapping.end)
      } else {
        mappings.append(mapping)
      }
      rest = rest[(lineEnd + 1)...]
      count += 1
    }
    self.mappings = mappings
    self.onVolumes = onVolumes
    self.isCut = !rest.isEmpty
  }

  /// Both ascending and without overlaps.
  init(mappings: [Mapping], onVolumes: [Range<UInt64>]) {
    self.mappings = mappings
    self.onVolumes = onVolumes
    isCut = false
  }

  public func mapping(at address: UInt64) -> Mapping? {
    let index = Self.firstIndex(count: mappings.count) { mappings[$0].end > address }
    guard index < mappings.count, mappings[index].contains(address) else { return nil }
    return mappings[index]
  }

  public func isOnVolume(_ address: UInt64) -> Bool {
    let index = Self.firstIndex(count: onVolumes.count) { onVolumes[$0].upperBound > address }
    return index < onVolumes.count && onVolumes[index].contains(address)
  }

  public func isExecutable(_ address: UInt64) -> Bool { mapping(at: address)?.isExecutable ?? false }

  /// Whether `count` bytes from `address` on lie in one mapping that may be read.
  public func isReadable(_ address: UInt64, count: Int) -> Bool {
    guard let mapping = mapping(at: address), mapping.isReadable, let count = UInt64(exactly: count) else {
      return false
    }
    // No `address + count`: addresses come from foreign memory, and the sum may wrap.
    return count <= mapping.end - address
  }

  /// The first of 0..<count for which `isBehind` holds, which does for all after it.
  private static func firstIndex(count: Int, _ isBehind: (Int) -> Bool) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if isBehind(middle) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
