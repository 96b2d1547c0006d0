import FoundationEssentials

/// `session.json` in a volume's runtime directory: what a command must know when the daemon cannot be asked.
public struct SessionRecord: Codable, Sendable, Equatable {
  /// The daemon's process id.
  public var pid: Int32
  /// 12 lowercase hexadecimal digits.
  public var session: String
  public var mountpoint: String
  public var mountpointBase64: String?
  public var source: String
  public var sourceBase64: String?
  /// The log file; absolute.
  public var log: String
  public var logBase64: String?
  /// The session's own folder of content; absolute.
  public var cache: String
  public var cacheBase64: String?
  /// RFC 3339, UTC, nine digits.
  public var started: String
  /// The volume's file system type is `fuse.<subtype>`; absent for `dataless`.
  public var subtype: String?

  enum CodingKeys: String, CodingKey {
    case pid, session, mountpoint, source, log, cache, started, subtype
    case mountpointBase64 = "mountpoint_b64"
    case sourceBase64 = "source_b64"
    case logBase64 = "log_b64"
    case cacheBase64 = "cache_b64"
  }

  public init(
    pid: Int32, session: String, mountpoint: [UInt8], source: [UInt8], log: [UInt8], cache: [UInt8], started: String,
    subtype: String = MountEntry.datalessSubtype
  ) {
    self.pid = pid
    self.session = session
    (self.mountpoint, mountpointBase64) = WirePath.split(mountpoint)
    (self.source, sourceBase64) = WirePath.split(source)
    (self.log, logBase64) = WirePath.split(log)
    (self.cache, cacheBase64) = WirePath.split(cache)
    self.started = started
    self.subtype = subtype == MountEntry.datalessSubtype ? nil : subtype
  }

  public var mountpointBytes: [UInt8] { WirePath.bytes(mountpoint, mountpointBase64) }
  public var sourceBytes: [UInt8] { WirePath.bytes(source, sourceBase64) }
  public var logBytes: [UInt8] { WirePath.bytes(log, logBase64) }
  public var cacheBytes: [UInt8] { WirePath.bytes(cache, cacheBase64) }

  /// The file's bytes, with a newline at the end.
  public func encoded() throws(ControlError) -> [UInt8] { try WireCoding.encode(self) + [UInt8(ascii: "\n")] }

  /// Reads `session.json` of a volume's runtime directory.
  ///
  /// - Throws: `ControlError.system` (ENOENT when there is none; EPERM, EINVAL, ELOOP or EFBIG for what is no file of
  ///   its owner) or `.malformed`.
  public static func read(from directory: TrustedDirectory) throws(ControlError) -> SessionRecord {
    let bytes: [UInt8]
    do throws(UntrustedPath) {
      bytes = try directory.read(SessionPaths.recordName)
    } catch {
      throw ControlError(code: .system, errno: error.errno, message: "cannot use the volume's record: \(error).")
    }
    let path = PathBytes.join(directory.path, Array(SessionPaths.recordName.utf8))
    return try WireCoding.decode(SessionRecord.self, from: bytes, named: TerminalText.escaped(path))
  }
}
