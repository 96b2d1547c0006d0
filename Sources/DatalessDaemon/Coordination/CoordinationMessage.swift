import DatalessCore
import Glibc
import SystemPackage

/// Why an intent is not, or no longer, granted: the API's own errors, by name. The numbers are those of libcdataless.
enum CoordinationCode: UInt16 {
  case granted = 0
  case deadlock = 1
  case busy = 2
  case tooManyPaths = 3
  case badPath = 4
  case throughLink = 5
  case outerNotHeld = 6
  case takenAway = 7
  case volumeEnded = 8
  /// What was asked for cannot be brought here, or is not there: the errno says why.
  case failed = 9
  case badRequest = 10
  case notAllowed = 11

  var name: String {
    switch self {
    case .granted: "ok"
    case .deadlock: "coordination_deadlock"
    case .busy: "coordination_busy"
    case .tooManyPaths: "coordination_too_many_paths"
    case .badPath: "coordination_bad_path"
    case .throughLink: "coordination_through_link"
    case .outerNotHeld: "coordination_outer_not_held"
    case .takenAway: "coordination_taken_away"
    case .volumeEnded: "coordination_volume_ended"
    case .failed: "coordination_failed"
    case .badRequest: "coordination_bad_request"
    case .notAllowed: "coordination_not_allowed"
    }
  }

  /// What goes with it where the code alone says what is wrong.
  var errno: Errno {
    switch self {
    case .granted: Errno(rawValue: 0)
    case .deadlock, .takenAway: .canceled
    case .busy: .resourceBusy
    case .tooManyPaths: .argListTooLong
    case .badPath: .invalidArgument
    case .throughLink: .tooManySymbolicLinkLevels
    case .outerNotHeld: .noSuchProcess
    case .volumeEnded: .timedOut
    case .failed: .ioError
    case .badRequest: .protocolError
    case .notAllowed: .permissionDenied
    }
  }
}

/// Why an intent was refused, or is taken away.
struct CoordinationRefusal: Error, Equatable {
  let code: CoordinationCode
  let errno: Errno
  /// What is wrong, where, and what to do.
  let message: String

  init(_ code: CoordinationCode, _ message: String) {
    self.code = code
    errno = code.errno
    self.message = message
  }

  init(_ error: FSError) {
    code = .failed
    errno = error.errno
    message = error.description
  }

  /// The word in the log.
  var outcome: String { code == .failed ? errno.name : code.name }
}

/// What an intent is for, beside its names.
struct CoordinationOptions: OptionSet, Sendable {
  let rawValue: UInt16

  /// Nothing is brought here.
  static let withoutMaterialization = Self(rawValue: 1 << 0)
  /// Only names and attributes are of interest.
  static let metadataOnly = Self(rawValue: 1 << 1)
  static let moving = Self(rawValue: 1 << 2)
  static let deleting = Self(rawValue: 1 << 3)
  static let replacing = Self(rawValue: 1 << 4)
  static let all: Self = [.withoutMaterialization, .metadataOnly, .moving, .deleting, .replacing]

  var names: [String] {
    let words: [(Self, String)] = [
      (.withoutMaterialization, "without_materialization"), (.metadataOnly, "metadata_only"), (.moving, "moving"),
      (.deleting, "deleting"), (.replacing, "replacing"),
    ]
    return words.compactMap { contains($0.0) ? $0.1 : nil }
  }

  /// Whether the content of what is written is of interest before.
  var needsWrittenContent: Bool { isDisjoint(with: [.metadataOnly, .moving, .deleting, .replacing]) }
}

/// What a client asks for, read with as much trust as a stranger's.
struct CoordinationRequest: Equatable {
  var options: CoordinationOptions
  var within: UInt64?
  var claims: [AccessClaim]
  /// Components of all paths: what the order keeps grows with them.
  var places: Int
  var reads: Int
  var writes: Int { claims.count - reads }
}

/// The head of a request: what is to follow, and where.
struct CoordinationHead: Equatable {
  static let magic: UInt32 = 0x3163_6c64
  static let version: UInt16 = 1
  static let bytes = 32

  /// LIMIT: paths of one intent.
  static let pathsMax = 100_000
  /// LIMIT: bytes of all paths that come with the request itself, and in memory beside it.
  static let inlineMax = 64 << 10
  static let memoryMax = 32 << 20
  /// LIMIT: components of all paths of one intent.
  static let placesMax = 600_000

  /// What the message is.
  enum Kind: UInt16 {
    case intent = 0
    /// A presenter's answer about the intent `within`.
    case answer = 0x4000
    /// A presenter, of one name.
    case presenter = 0x8000

    static let mask: UInt16 = 0xC000
  }

  var kind: Kind
  var options: CoordinationOptions
  var count: Int
  var inlineBytes: Int
  var memoryBytes: Int
  var within: UInt64?

  /// - Throws: A client of another version, or one that is none.
  init(_ message: ArraySlice<UInt8>) throws(CoordinationRefusal) {
    guard message.count >= Self.bytes, Self.number(message, 0, as: UInt32.self) == Self.magic else {
      throw CoordinationRefusal(.badRequest, "this is no request of libcdataless: ask by its functions")
    }
    let version = Self.number(message, 4, as: UInt16.self)
    guard version == Self.version else {
      throw CoordinationRefusal(
        .badRequest,
        "the request has version \(version), and this volume's daemon knows version \(Self.version) alone: "
          + "use the library that was installed with it")
    }
    let flags = Self.number(message, 6, as: UInt16.self)
    guard let kind = Kind(rawValue: flags & Kind.mask) else {
      throw CoordinationRefusal(.badRequest, "the request is of no kind that version \(Self.version) knows")
    }
    self.kind = kind
    options = CoordinationOptions(rawValue: flags & ~Kind.mask)
    count = Int(Self.number(message, 8, as: UInt32.self))
    inlineBytes = Int(Self.number(message, 12, as: UInt32.self))
    let outer = Self.number(message, 16, as: UInt64.self)
    within = outer == 0 ? nil : outer
    memoryBytes = Int(clamping: Self.number(message, 24, as: UInt64.self))
    guard CoordinationOptions.all.isSuperset(of: options) else {
      throw CoordinationRefusal(.badRequest, "the request has options that version \(Self.version) does not know")
    }
    guard count <= Self.pathsMax else {
      throw CoordinationRefusal(
        .tooManyPaths, "\(count) paths are more than one intent may have: at most \(Self.pathsMax). Ask in parts")
    }
    if kind == .answer, count == 0, inlineBytes == 0, memoryBytes == 0, options.isEmpty { return }
    guard kind != .answer, count > 0, count == 1 || kind == .intent, memoryBytes <= Self.memoryMax,
      inlineBytes <= Self.inlineMax,
      inlineBytes == message.count - Self.bytes, inlineBytes == 0 || memoryBytes == 0
    else {
      throw memoryBytes > Self.memoryMax
        ? CoordinationRefusal(.tooManyPaths, "the paths take more than \(Self.memoryMax) bytes. Ask in parts")
        : CoordinationRefusal(.badRequest, "the request's sizes do not fit together")
    }
  }

  private static func number<Number: FixedWidthInteger>(
    _ bytes: ArraySlice<UInt8>, _ offset: Int, as type: Number.Type
  ) -> Number {
    var value: Number = 0
    for index in 0..<MemoryLayout<Number>.size {
      value |= Number(truncatingIfNeeded: bytes[bytes.startIndex + offset + index]) << (8 * Number(index))
    }
    return value
  }

  /// Reads the paths: for each a letter, `r` or `w`, and the path with a NUL behind it.
  func request(_ text: ArraySlice<UInt8>) throws(CoordinationRefusal) -> CoordinationRequest {
    var request = CoordinationRequest(options: options, within: within, claims: [], places: 1, reads: 0)
    request.claims.reserveCapacity(count)
    var rest = text
    while let kind = rest.popFirst() {
      guard kind == UInt8(ascii: "r") || kind == UInt8(ascii: "w"), let end = rest.firstIndex(of: 0) else {
        throw CoordinationRefusal(.badRequest, "the paths of the request are cut off, or are none")
      }
      let path = rest[..<end]
      rest = rest[(end + 1)...]
      request.places += try Self.check(path)
      if kind == UInt8(ascii: "r") { request.reads += 1 }
      request.claims.append(AccessClaim(Array(path), isWrite: kind == UInt8(ascii: "w")))
    }
    guard request.claims.count == count else {
      throw CoordinationRefusal(.badRequest, "the request says \(count) paths and has \(request.claims.count)")
    }
    guard request.places <= Self.placesMax else {
      throw CoordinationRefusal(
        .tooManyPaths, "the paths have more than \(Self.placesMax) components in all. Ask in parts")
    }
    return request
  }

  /// - Returns: How many components a path has.
  private static func check(_ path: ArraySlice<UInt8>) throws(CoordinationRefusal) -> Int {
    var components = 0
    guard path.count < 4096 else { throw bad(path, "it is longer than 4,095 bytes") }
    if path.isEmpty { return 0 }
    for name in path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
      components += 1
      guard !name.isEmpty, name.count <= 1024, !name.elementsEqual(".".utf8), !name.elementsEqual("..".utf8) else {
        throw bad(path, "a component is empty, too long, '.' or '..'")
      }
    }
    return components
  }

  private static func bad(_ path: ArraySlice<UInt8>, _ reason: String) -> CoordinationRefusal {
    CoordinationRefusal(
      .badPath,
      "\(ErrorText.quoted(Array(path.prefix(200)))): \(reason). Give paths from the volume's root, without a slash before it"
    )
  }
}

/// What a client is told: once that it may proceed, or why not; and once more if that is taken away.
struct CoordinationAnswer {
  enum Kind: UInt16 {
    case answer = 1
    case takenAway = 2
    /// To a presenter; its code says what.
    case news = 3
  }

  /// What a presenter is told. The first five it answers.
  enum News: UInt16 {
    case read = 1
    case write = 2
    case move = 3
    case delete = 4
    case replace = 5
    /// An access about which it was asked has ended.
    case ended = 6
    case evicted = 7
    /// In SOURCE.
    case changed = 8
    /// What it presents has another name, which the text is.
    case renamed = 9

    var word: String {
      switch self {
      case .read: "read"
      case .write: "write"
      case .move: "move"
      case .delete: "delete"
      case .replace: "replace"
      case .ended: "ended"
      case .evicted: "evicted"
      case .changed: "changed"
      case .renamed: "renamed"
      }
    }
  }

  static let bytes = 40
  /// LIMIT: what is wrong is said in so many bytes.
  static let textMax = 1024

  private var kind = Kind.answer
  private var code: UInt16
  private var errno: Errno
  private var intent: UInt64
  private var waited: Nanoseconds
  private var materialized: Int64
  private var text: [UInt8]

  init(granted intent: UInt64, waited: Nanoseconds, materialized: Int64) {
    (code, errno, text) = (CoordinationCode.granted.rawValue, CoordinationCode.granted.errno, [])
    (self.intent, self.waited, self.materialized) = (intent, waited, materialized)
  }

  init(_ refusal: CoordinationRefusal, of intent: UInt64, kind: Kind = .answer) {
    (code, errno, text) = (refusal.code.rawValue, refusal.errno, Array(refusal.message.utf8.prefix(Self.textMax)))
    (self.intent, waited, materialized) = (intent, 0, 0)
    self.kind = kind
  }

  /// - Parameters:
  ///   - intent: The one that is to be answered, or has ended; 0 for none.
  ///   - path: What is used, from the volume's root.
  ///   - others: How many names it uses beside that.
  init(_ news: News, about intent: UInt64, path: [UInt8], others: Int = 0) {
    (kind, code, errno, text) = (.news, news.rawValue, CoordinationCode.granted.errno, path)
    (self.intent, waited, materialized) = (intent, 0, Int64(others))
  }

  var encoded: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.bytes + text.count)
    func append(_ value: some FixedWidthInteger) {
      withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }
    append(CoordinationHead.magic)
    append(kind.rawValue)
    append(code)
    append(errno.rawValue)
    append(UInt32(text.count))
    append(intent)
    append(waited.rawValue)
    append(materialized)
    return bytes + text
  }
}
