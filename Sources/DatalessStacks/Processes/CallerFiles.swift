internal import CDatalessLinux
internal import Glibc

/// Whose files a process has, and what is opened of them: in the capture process, as that user.
public struct CallerIdentity: Sendable, Hashable {
  public let user: UInt32
  public let group: UInt32

  /// The ids by which the process reaches files; nil when it has gone.
  init?(of processID: Int32) {
    guard let text = ProcessFile.bytes("\(processID)/status", limit: 64 << 10),
      let user = Self.fileID("Uid:", text), let group = Self.fileID("Gid:", text)
    else { return nil }
    self.user = user
    self.group = group
  }

  public init(user: UInt32, group: UInt32) {
    self.user = user
    self.group = group
  }

  /// The last of four numbers: real, effective, saved, of the file system.
  private static func fileID(_ key: String, _ text: [UInt8]) -> UInt32? {
    line(key, text).flatMap { $0.count == 4 ? UInt32(String(decoding: $0[3], as: UTF8.self)) : nil }
  }

  /// The words behind a key of /proc/PID/status. A name has no line end in it: the kernel writes `\n`.
  static func line(_ key: String, _ text: [UInt8]) -> [ArraySlice<UInt8>]? {
    var rest = text[...]
    while !rest.isEmpty {
      let line = rest.prefix { $0 != UInt8(ascii: "\n") }
      if line.starts(with: key.utf8) {
        return line.dropFirst(key.utf8.count).split { $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: " ") }
      }
      rest = rest[line.endIndex...].dropFirst()
    }
    return nil
  }

  /// The process' number in its own pid namespace, by which it names its perf map: also for one of its threads.
  static func innermostNumber(of processID: Int32) -> Int32? {
    ProcessFile.bytes("\(processID)/status", limit: 64 << 10).flatMap { line("NStgid:", $0)?.last }
      .flatMap { Int32(String(decoding: $0, as: UTF8.self)) }
  }

  /// Opens files as this user does. An ordinary user's process is that user anyway.
  ///
  /// - Parameter otherwise: What comes of it where root may not become that user. Nothing is opened then: a lookup must
  ///   not go where the caller itself may not go.
  func reading<Result>(otherwise: Result, _ body: () -> Result) -> Result {
    guard geteuid() == 0, user != 0 else { return body() }
    defer { clinux_read_files_as(0, getegid()) }
    return clinux_read_files_as(user, group) == 0 ? body() : otherwise
  }
}

/// The files of one capture, opened for the process that explains it.
enum CallerFiles {
  // LIMIT: files of one capture; frames in others have addresses only.
  static let countMax = 96

  /// Of the mapping that stands for the perf map, which nobody has mapped.
  static let perfMap = SymbolOrder.File(device: DeviceNumber(major: 0, minor: 0), inode: 0)

  /// What is executable of the process.
  ///
  /// - Returns: And whether that holds as long as the mappings do: not with generated code, whose perf map may come
  ///   yet.
  static func open(_ mappings: MappingTable, of processID: Int32) -> (files: OpenedFiles, isFinal: Bool) {
    var opened: [(file: SymbolOrder.File, descriptor: Int32)] = []
    var seen: Set<MappedFiles.Identity> = []
    var hasGeneratedCode = false
    for mapping in mappings.mappings where mapping.isExecutable {
      guard mapping.isFile else {
        hasGeneratedCode = hasGeneratedCode || mapping.path.isEmpty
        continue
      }
      guard opened.count < countMax - 1,
        seen.insert(MappedFiles.Identity(device: mapping.device, inode: mapping.inode)).inserted,
        let descriptor = CallerFile.open(mapping, of: processID)
      else { continue }
      opened.append((SymbolOrder.File(device: mapping.device, inode: mapping.inode), descriptor))
    }
    if hasGeneratedCode, let descriptor = openPerfMap(of: processID) { opened.append((perfMap, descriptor)) }
    return (OpenedFiles(files: opened.map(\.file), descriptors: opened.map(\.descriptor)), isFinal: !hasGeneratedCode)
  }

  private static func openPerfMap(of processID: Int32) -> Int32? {
    guard let number = CallerIdentity.innermostNumber(of: processID), let owner = CallerIdentity(of: processID) else {
      return nil
    }
    return CallerFile.open("/tmp/perf-\(number).map", of: processID, owner: owner.user)
  }

  /// Where debug information of a file may be: by build id, then by link. The question comes from the process that
  /// parses callers' files: nothing of it is a path.
  ///
  /// - Parameter root: Of the process, which may have gone since: most callers wait shorter than their names take.
  static func openDebugFile(_ question: DebugFileQuestion, _ path: [UInt8], below root: CallerRoot) -> Int32? {
    if let id = BuildID(question.buildID),
      let descriptor = CallerFile.open("/usr/lib/debug/" + id.debugPath, below: root)
    {
      return descriptor
    }
    // With a checksum of nothing: it is compared by whoever asked.
    let section = question.link + [0] + Array(repeating: 0, count: 8)
    guard !question.link.isEmpty, let link = DebugLink(section) else { return nil }
    return link.candidates(program: String(decoding: path, as: UTF8.self)).lazy
      .compactMap { CallerFile.open($0, below: root) }.first
  }
}
