/// Body of `POST /v1/materialize` and `POST /v1/refresh`.
public struct PathsRequest: Codable, Sendable, Equatable {
  /// Relative to the volume's root; an empty path means all of it. A directory means all below it.
  public var paths: [WirePath]

  public init(paths: [WirePath]) {
    self.paths = paths
  }
}

/// Body of `POST /v1/evict`.
public struct EvictRequest: Codable, Sendable, Equatable {
  /// Relative to the volume's root; an empty path means all of it. A directory means all below it.
  public var paths: [WirePath]
  /// Whether to stop at the first refusal. Default: false.
  public var stop: Bool?

  public init(paths: [WirePath], stop: Bool? = nil) {
    self.paths = paths
    self.stop = stop
  }
}

extension PathsRequest: WireRequest {
  public static var keys: [String] { ["paths"] }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    paths = try container.decode([StrictRequest<WirePath>].self, forKey: .paths).map(\.body)
  }
}

extension EvictRequest: WireRequest {
  public static var keys: [String] { ["paths", "stop"] }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    paths = try container.decode([StrictRequest<WirePath>].self, forKey: .paths).map(\.body)
    stop = try container.decodeIfPresent(Bool.self, forKey: .stop)
  }
}

/// One line of a long answer: progress, or as the last line the result or an error.
public protocol AnswerLine: Codable, Sendable {
  associatedtype Progress: Sendable
  associatedtype Result: Sendable

  var progress: Progress? { get }
  var result: Result? { get }
  var error: WireError? { get }

  init(progress: Progress?, result: Result?, error: WireError?)
}

/// One line of a long answer: progress, or as the last line the result or an error.
public struct TransferLine: AnswerLine, Equatable {
  public var progress: TransferProgress?
  public var result: TransferResult?
  public var error: WireError?

  public init(progress: TransferProgress? = nil, result: TransferResult? = nil, error: WireError? = nil) {
    self.progress = progress
    self.result = result
    self.error = error
  }
}

/// How far a materialize or evict request has come.
public struct TransferProgress: Codable, Sendable, Equatable {
  public var files: Int64
  public var directories: Int64
  public var bytes: Int64
  /// Files that are to be materialized or evicted, those that are done included, and what they have. nil while that is
  /// not known: directories are listed first.
  public var totalFiles: Int64?
  public var totalBytes: Int64?

  enum CodingKeys: String, CodingKey {
    case files, directories, bytes
    case totalFiles = "total_files"
    case totalBytes = "total_bytes"
  }

  public init(
    files: Int64, directories: Int64, bytes: Int64, totalFiles: Int64? = nil, totalBytes: Int64? = nil
  ) {
    self.files = files
    self.directories = directories
    self.bytes = bytes
    self.totalFiles = totalFiles
    self.totalBytes = totalBytes
  }
}

/// The end of a materialize or evict request.
public struct TransferResult: Codable, Sendable, Equatable {
  /// Files materialized, or evicted. Those that were so already do not count.
  public var files: Int64
  public var directories: Int64
  /// Content fetched, or dropped.
  public var bytes: Int64
  /// What could not be materialized, the first 1,000; or what was refused eviction, all of it.
  public var failures: [PathFailure]
  /// All failures, those that are not named included.
  public var failureCount: Int64
  /// Evict with `stop` only: where it stopped, which is the last of `failures`. What was evicted before stays so.
  public var refused: PathFailure?
  /// Whether it was cut short, by a request to interrupt it. What was done before stays so.
  public var isInterrupted: Bool
  /// The path of the request at which it was cut short, and those it had not come to.
  public var unfinished: [WirePath]
  /// Pressure only: of `files` and `bytes`, those whose names went, too, because of the area that they lay in.
  public var purgedFiles: Int64?
  public var purgedBytes: Int64?
  /// Pressure only: of these bytes, what programs had written, and nobody else has.
  public var lostBytes: Int64?

  enum CodingKeys: String, CodingKey {
    case files, directories, bytes, failures, refused, unfinished
    case purgedFiles = "purged_files"
    case purgedBytes = "purged_bytes"
    case lostBytes = "lost_bytes"
    case failureCount = "failure_count"
    case isInterrupted = "interrupted"
  }

  public init(
    files: Int64, directories: Int64, bytes: Int64, failures: [PathFailure] = [], failureCount: Int64 = 0,
    refused: PathFailure? = nil, isInterrupted: Bool = false, unfinished: [[UInt8]] = []
  ) {
    self.files = files
    self.directories = directories
    self.bytes = bytes
    self.failures = failures
    self.failureCount = failureCount
    self.refused = refused
    self.isInterrupted = isInterrupted
    self.unfinished = unfinished.map { WirePath($0) }
  }
}

/// An item that could not be materialized or listed, or must not be evicted.
public struct PathFailure: Codable, Sendable, Equatable {
  /// Relative to the volume's root.
  public var path: String
  public var pathBase64: String?
  /// Name, such as `EBUSY`.
  public var errno: String
  /// What is wrong; lower case, no full stop.
  public var message: String
  /// Of what was refused eviction: `open`, `mapped`, `several_names`, `dirty`, `own`, `pinned`, `children`, `in_flight`
  /// or `dropping`.
  public var reason: String?

  enum CodingKeys: String, CodingKey {
    case path, errno, message, reason
    case pathBase64 = "path_b64"
  }

  public init(path: [UInt8], errno: String, message: String, reason: String? = nil) {
    self.reason = reason
    (self.path, pathBase64) = WirePath.split(path)
    self.errno = errno
    self.message = message
  }

  public var pathBytes: [UInt8] { WirePath.bytes(path, pathBase64) }
}
