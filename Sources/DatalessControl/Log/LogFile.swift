import CDatalessLinux
import DatalessCore
import Glibc
import SystemPackage

/// Is told of each record of a log in turn, of those of other sessions, too, and of the lines before it that are no
/// record. At the end without a record, for lines that come after the last one.
public typealias LogReader = (_ record: LogRecord?, _ unread: UnreadLines) -> Void

/// Reads a log of any size from its beginning, one record at a time, in the memory of one piece and one line.
///
/// A last line without a newline is kept until the rest of it arrives; `tornLine()` hands it out when none will.
public final class LogFile {
  /// Longer lines are skipped and counted as malformed.
  public static let lineBytesMax = 16 << 20
  /// In which bytes of a line its session is looked for before the line is read.
  private static let headBytes = 256
  private static let pieceBytes = 256 << 10

  public let path: [UInt8]
  private let descriptor: CInt
  private var buffer: [UInt8] = []
  private var start = 0
  private var searched = 0
  private var piece = [UInt8](repeating: 0, count: pieceBytes)
  private var isSkipping = false
  /// Bytes that were read.
  private var position: Int64 = 0
  /// Of the file when it was opened; 0 for what is no file.
  private let size: Int64
  /// Lines so far of which no record was made.
  public private(set) var unread = UnreadLines()
  /// Those of them that `takeUnread` has not handed out.
  private var untold = UnreadLines()
  /// Lines so far that are no records.
  public var malformedLines: Int { unread.count }

  /// - Parameter owner: The user whose record named the log, if that is not the caller: then it has to be a regular
  ///   file of that user's, in a directory of that user's, and nothing there is waited for. Default: whatever the
  ///   caller named.
  /// - Throws: `ControlError.system` with ENOENT, EACCES, EISDIR or another errno of open(2); EPERM for a log that is
  ///   not the owner's.
  public init(path: [UInt8], owner: UInt32? = nil) throws(ControlError) {
    self.path = path
    if let owner { descriptor = try Self.open(path, of: owner) } else { descriptor = try Self.openNamed(path) }
    var status = stat()
    let isKnown = fstat(descriptor, &status) == 0
    size = isKnown && status.st_mode & S_IFMT == S_IFREG ? Int64(status.st_size) : 0
    if isKnown, status.st_mode & S_IFMT == S_IFDIR {
      close(descriptor)
      throw ControlError.system(
        .isDirectory, "cannot read \(TerminalText.escaped(path)) as a log",
        remedy: "Give the mountpoint of a mounted volume, or a log file.")
    }
  }

  /// What the caller named. A neighbour may have put something there that never ends, or never begins: a pipe of
  /// another user, and a device, to which a link may lead, are no logs.
  static func openNamed(_ path: [UInt8]) throws(ControlError) -> CInt {
    let descriptor = try FileBytes.open(path, O_NONBLOCK | O_NOCTTY)
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return descriptor }
    // A pipe without a name was handed to us, by whoever started us.
    let isUnnamed = clinux_file_system_type(descriptor) == 0x5049_5045
    let isForeign = !isUnnamed && status.st_uid != geteuid() && status.st_uid != 0
    // /dev/null has an end: at once.
    let isDevice = [S_IFCHR, S_IFBLK].contains(status.st_mode & S_IFMT) && status.st_rdev != 0x103
    guard !(status.st_mode & S_IFMT == S_IFIFO && isForeign), !isDevice else {
      close(descriptor)
      throw ControlError.system(
        .invalidArgument,
        "\(TerminalText.escaped(path)) is no file, but \(isDevice ? "a device" : "a pipe of another user")",
        remedy: "Name the log file itself.")
    }
    guard status.st_mode & S_IFMT == S_IFIFO else {
      // Files never wait; of what else there is, each piece is waited for.
      _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
      return descriptor
    }
    // One's own: who writes into it may come later.
    defer { close(descriptor) }
    return try FileBytes.open(path)
  }

  deinit { close(descriptor) }

  private static func open(_ path: [UInt8], of owner: UInt32) throws(ControlError) -> CInt {
    do throws(UntrustedPath) {
      let parent = PathBytes.absolute(Array(PathBytes.components(path).dropLast()))
      let directory = try TrustedDirectory.open(parent, owner: owner, ancestors: .any)
      return try directory.file(PathBytes.lastComponent(path), O_RDONLY)
    } catch {
      throw ControlError(
        code: .system, errno: error.errno,
        message: "cannot read the log that a volume of user \(owner) names: \(error). Name the log file itself.")
    }
  }

  /// The next record; nil at the end of what is in the file now, so that a later call may find more.
  ///
  /// - Throws: `ControlError.system` with the errno of read(2).
  public func next() throws(ControlError) -> LogRecord? {
    while let line = try wholeLine() {
      if let record = LogRecord(line: line) { return record }
      if !line.isEmpty { skip(UnreadLines(line: line)) }
    }
    return nil
  }

  /// Lines that are no records, since this was asked last.
  public func takeUnread() -> UnreadLines {
    defer { untold = UnreadLines() }
    return untold
  }

  private func skip(_ lines: UnreadLines) {
    unread.add(lines)
    untold.add(lines)
  }

  /// The session that a log tells of last (`SeenSessions`); nil for none.
  ///
  /// - Throws: As `init` and `next`; `ControlError.system` with ESPIPE for what cannot be read twice.
  public static func lastSession(
    of path: [UInt8], owner: UInt32? = nil
  ) throws(ControlError) -> (name: String, earlierSessions: Int64)? {
    let file = try LogFile(path: path, owner: owner)
    var status = stat()
    guard fstat(file.descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw ControlError.system(
        .illegalSeek, "cannot look for the last session of \(TerminalText.escaped(path))",
        remedy: "--last, reports and comparisons read a log twice: it must be a regular file. Copy it to one.")
    }
    var sessions = SeenSessions()
    var (last, word): (String?, [UInt8]) = (nil, [])
    var earlier: Int64 = 0
    while let line = try file.wholeLine() {
      guard word.isEmpty || !contains(line, word), let record = LogRecord(line: line), let session = record.session
      else { continue }
      if sessions.begins(record, after: last) { earlier += 1 } else if last != nil { continue }
      last = session
      word = Array("\"session\":\"\(session)\"".utf8)
    }
    return last.map { ($0, earlier) }
  }

  /// Whether a line has some bytes near its beginning: looking for them is much quicker than reading the line.
  private static func contains(_ line: [UInt8], _ word: [UInt8]) -> Bool {
    line.prefix(headBytes).withUnsafeBytes { bytes in
      word.withUnsafeBytes { word in
        var rest = bytes
        while rest.count >= word.count, let start = rest.baseAddress, let first = word.first,
          let some = word.baseAddress,
          let found = memchr(start, CInt(first), rest.count - word.count + 1)
        {
          if memcmp(found, some, word.count) == 0 { return true }
          rest = UnsafeRawBufferPointer(rebasing: rest[(UnsafeRawPointer(found) - start + 1)...])
        }
        return false
      }
    }
  }

  private func wholeLine() throws(ControlError) -> [UInt8]? {
    while true {
      while let line = nextLine() {
        guard isSkipping else { return line }
        isSkipping = false
      }
      guard try readPiece() else { return nil }
    }
  }

  /// Takes the rest of the file behind the last newline.
  ///
  /// - Returns: nil when there is nothing, or no whole record; in that case it counts as a malformed line.
  public func tornLine() -> LogRecord? {
    let line = Array(buffer[start...])
    start = buffer.count
    searched = start
    guard !line.isEmpty else { return nil }
    guard let record = LogRecord(line: line) else {
      skip(UnreadLines(line: line))
      return nil
    }
    return record
  }

  /// Bytes behind the last newline that no record has been made of.
  public var hasPartialLine: Bool { start < buffer.count }

  private func nextLine() -> [UInt8]? {
    let found: Int? = buffer.withUnsafeBytes { bytes in
      guard searched < bytes.count,
        let end = memchr(bytes.baseAddress! + searched, CInt(UInt8(ascii: "\n")), bytes.count - searched)
      else { return nil }
      return UnsafeRawPointer(end) - bytes.baseAddress!
    }
    guard let found else {
      searched = buffer.count
      return nil
    }
    let line = Array(buffer[start..<found])
    start = found + 1
    searched = start
    return line
  }

  private func readPiece() throws(ControlError) -> Bool {
    if start > 0 {
      buffer.removeFirst(start)
      searched -= start
      start = 0
    }
    if buffer.count > Self.lineBytesMax {
      if !isSkipping { skip(UnreadLines(count: 1)) }
      isSkipping = true
      buffer.removeAll(keepingCapacity: true)
      searched = 0
    }
    while true {
      let count = read(descriptor, &piece, piece.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else {
        throw ControlError.system(Errno(rawValue: errno), "cannot read \(TerminalText.escaped(path))")
      }
      guard count > 0 else { return false }
      buffer += piece[0..<count]
      position += Int64(count)
      LogProgress.watcher?(path, position, size)
      return true
    }
  }
}

/// How far logs have been read, for whoever shows it: a command, on its terminal.
public enum LogProgress {
  /// - Parameter size: Of the file, in bytes; 0: not known.
  public typealias Watcher = @Sendable (_ path: [UInt8], _ position: Int64, _ size: Int64) -> Void

  @TaskLocal fileprivate static var watcher: Watcher?

  /// Tells somebody after each piece of a log that `body` reads.
  public static func watch<Result>(_ watcher: @escaping Watcher, while body: () throws -> Result) rethrows -> Result {
    try $watcher.withValue(watcher, operation: body)
  }
}
