import DatalessCore

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
  /// The process becomes a command, or waits for one, and gives back what it holds when that has ended: so it is in the
  /// way of nobody who descends from it.
  static let command = Self(rawValue: 1 << 13)
  static let all: Self = [.withoutMaterialization, .metadataOnly, .moving, .deleting, .replacing, .command]

  /// Of what is done with the names.
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
    /// What it had has ended, for all who have the connection.
    case end = 0xC000

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
    within = Self.within(message)
    memoryBytes = Int(clamping: Self.number(message, 24, as: UInt64.self))
    guard CoordinationOptions.all.isSuperset(of: options) else {
      throw CoordinationRefusal(.badRequest, "the request has options that version \(Self.version) does not know")
    }
    guard count <= Self.pathsMax else {
      throw CoordinationRefusal(
        .tooManyPaths, "\(count) paths are more than one intent may have: at most \(Self.pathsMax). Ask in parts")
    }
    let isBare = kind == .answer || kind == .end
    if isBare, count == 0, inlineBytes == 0, memoryBytes == 0, options.isEmpty { return }
    guard !isBare, count > 0, count == 1 || kind == .intent, memoryBytes <= Self.memoryMax,
      inlineBytes <= Self.inlineMax,
      inlineBytes == message.count - Self.bytes, inlineBytes == 0 || memoryBytes == 0
    else {
      throw memoryBytes > Self.memoryMax
        ? CoordinationRefusal(.tooManyPaths, "the paths take more than \(Self.memoryMax) bytes. Ask in parts")
        : CoordinationRefusal(.badRequest, "the request's sizes do not fit together")
    }
  }

  /// The intent that a head names; nil for none. Whatever else it says.
  static func within(_ head: ArraySlice<UInt8>) -> UInt64? {
    let outer = number(head, 16, as: UInt64.self)
    return outer == 0 ? nil : outer
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
