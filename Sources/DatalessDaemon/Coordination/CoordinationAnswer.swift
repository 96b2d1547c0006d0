import DatalessCore
import SystemPackage

/// What a client is told: once that it may proceed, or why not; and once more if that is taken away.
struct CoordinationAnswer {
  enum Kind: UInt16 {
    case answer = 1
    case takenAway = 2
    /// To a presenter; its code says what.
    case news = 3
  }

  /// What a presenter is told. The first five, and the last two, it answers.
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
    /// A command, a rule or pressure is about to evict it.
    case evict = 10
    /// What SOURCE has changed is about to be taken over.
    case change = 11

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
      case .evict: "evict"
      case .change: "change"
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
