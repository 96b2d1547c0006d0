/// Paths in few bytes: a directory is kept once, and names stand one behind the other.
struct PathStore: Sendable {
  /// Where a path is.
  struct Place: Sendable {
    fileprivate(set) var directory: UInt32 = 0
    fileprivate var segment: UInt32 = 0
    fileprivate var offset: UInt32 = 0

    init() {}
  }

  private static let segmentBytes = 64 << 10
  /// The length before a name takes no more.
  private static let lengthBytesMax = 10

  /// With the slash behind them, if they have one: a path is this and its name.
  private var directories: [[UInt8]] = []
  private var indexOfDirectory: [[UInt8]: UInt32] = [:]
  private var segments: [[UInt8]] = []

  init() {}

  mutating func add(_ path: [UInt8]) -> Place {
    let split = path.lastIndex(of: PathBytes.slash).map { $0 + 1 } ?? 0
    let name = path[split...]
    var place = Place()
    place.directory = directory(Array(path[..<split]))
    let room = name.count + Self.lengthBytesMax
    if segments.isEmpty || segments[segments.count - 1].count + room > Self.segmentBytes {
      var segment: [UInt8] = []
      segment.reserveCapacity(max(Self.segmentBytes, room))
      segments.append(segment)
    }
    let last = segments.count - 1
    (place.segment, place.offset) = (UInt32(last), UInt32(segments[last].count))
    var length = name.count
    while length >= 128 {
      segments[last].append(UInt8(length & 127) | 128)
      length >>= 7
    }
    segments[last].append(UInt8(length))
    segments[last] += name
    return place
  }

  func path(_ place: Place) -> [UInt8] {
    let segment = segments[Int(place.segment)]
    var offset = Int(place.offset)
    var (length, shift) = (0, 0)
    while segment[offset] >= 128 {
      length |= Int(segment[offset] & 127) << shift
      shift += 7
      offset += 1
    }
    length |= Int(segment[offset]) << shift
    offset += 1
    return directories[Int(place.directory)] + segment[offset..<offset + length]
  }

  /// Without a slash behind it; empty for the root.
  func directory(_ index: Int) -> [UInt8] { Array(directories[index].dropLast()) }

  /// Directories are called what they are called now. - Returns: Those that others have replaced.
  mutating func callDirectories(_ names: [[UInt8]: (path: [UInt8], isLost: Bool)]) -> Set<UInt32> {
    var replaced: Set<UInt32> = []
    for (index, path) in directories.enumerated() where !path.isEmpty {
      var end = path.endIndex
      while let slash = path[..<end].lastIndex(of: PathBytes.slash) {
        if let name = names[Array(path[..<slash])] {
          directories[index] = name.path + path[slash...]
          if name.isLost { replaced.insert(UInt32(index)) }
          break
        }
        end = slash
      }
    }
    return replaced
  }

  private mutating func directory(_ path: [UInt8]) -> UInt32 {
    if let index = indexOfDirectory[path] { return index }
    let index = UInt32(directories.count)
    directories.append(path)
    indexOfDirectory[path] = index
    return index
  }
}

/// Lists of processes, each once, however many files they used.
struct ProcessLists: Sendable {
  private struct Step: Hashable {
    var list: UInt32
    var process: UInt32
  }

  static let empty: UInt32 = 0
  static let lengthMax = 8

  private var processes: [FileSummary.Process] = []
  private var indexOfProcess: [FileSummary.Process: UInt32] = [:]
  private var lists: [[UInt32]] = [[]]
  /// By a list and what comes behind it.
  private var longer: [Step: UInt32] = [:]

  init() {}

  subscript(list: UInt32) -> [FileSummary.Process] { lists[Int(list)].map { processes[Int($0)] } }

  /// - Returns: The list with a process behind it, or the list itself if it has it; nil where it is full.
  mutating func adding(_ process: FileSummary.Process, to list: UInt32) -> UInt32? {
    let number = index(of: process)
    let known = lists[Int(list)]
    if known.contains(number) { return list }
    guard known.count < Self.lengthMax else { return nil }
    let step = Step(list: list, process: number)
    if let next = longer[step] { return next }
    let next = UInt32(lists.count)
    lists.append(known + [number])
    longer[step] = next
    return next
  }

  private mutating func index(of process: FileSummary.Process) -> UInt32 {
    if let index = indexOfProcess[process] { return index }
    let index = UInt32(processes.count)
    processes.append(process)
    indexOfProcess[process] = index
    return index
  }
}
