/// What the processes around stacks say to each other over a stream: 16 bytes of head, then the content.
///
/// The head is the content's length (32 bits), the kind (32), and the number of the request (64). Descriptors come with
/// the first byte of the head.
public struct StackMessage: Sendable, Equatable {
  public enum Kind: UInt32, Sendable, CaseIterable {
    /// Daemon to capture process: look at a thread (`CaptureOrder`).
    case capture = 1
    /// Capture process to daemon: memory of the caller is read from now on, and may hang. No content.
    case reading
    /// Capture process to daemon: it is read; the thread need not wait any more. How long that took (64 bits,
    /// nanoseconds).
    case read
    /// Capture process to daemon: the end of it (`CaptureAnswer`).
    case answer
    /// Capture to symbol process: what is this file? One descriptor. No content.
    case identify
    /// Symbol to capture process: `InterpreterIdentity`.
    case identity
    /// Capture to symbol process: name the frames of a capture (`SymbolOrder`), with descriptors of its files.
    case symbolize
    /// Symbol to capture process: is there a file of debug information for one of them? (`DebugFileQuestion`)
    case findDebugFile
    /// Capture to symbol process: one descriptor, or none. No content, or one byte where nobody could look.
    case debugFile
    /// Symbol to capture process: `NamedStack`.
    case named
    /// Capture process to daemon: the caller's memory is not read any more, as a file of it has to be looked at first;
    /// `reading` comes again. No content.
    case identifying
  }

  // LIMIT: bytes of a content. A copy of a stack has 256 KiB, the mappings of a large program some 200.
  static let contentMax = 1 << 20
  static let headBytes = 16

  public let kind: Kind
  /// Of the request, which its answers carry.
  public let number: UInt64
  public let content: [UInt8]

  public init(_ kind: Kind, number: UInt64, content: [UInt8] = []) {
    self.kind = kind
    self.number = number
    self.content = content
  }

  /// Of `read`: how long the reading took, in nanoseconds; nil where that is not told.
  public var readingTime: Int64? { content.word(UInt64.self, at: 0).flatMap { Int64(exactly: $0) } }

  var head: [UInt8] {
    var writer = ByteWriter()
    writer.add(UInt32(clamping: content.count))
    writer.add(kind.rawValue)
    writer.add(number)
    return writer.bytes
  }

  /// What a head promises; nil for a kind that is none and a content that is too long.
  static func parse(head: [UInt8]) -> (kind: Kind, number: UInt64, length: Int)? {
    guard let length = head.word(UInt32.self, at: 0), length <= contentMax,
      let kind = head.word(UInt32.self, at: 4).flatMap({ Kind(rawValue: $0) }),
      let number = head.word(UInt64.self, at: 8)
    else { return nil }
    return (kind, number, Int(length))
  }
}
