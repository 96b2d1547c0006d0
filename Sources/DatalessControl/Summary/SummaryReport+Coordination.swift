extension SummaryReport {
  /// Programs that came one after the other, because they said beforehand what they use: who waited for whom, which
  /// presenter was slow, and what was brought here ahead of reads.
  public struct Coordination: Codable, Sendable, Equatable {
    /// Intents that were asked for.
    public var intents: Int64 = 0
    public var granted: Int64 = 0
    /// Given up before they were granted: by their process, or because it ended.
    public var cancelled: Int64 = 0
    /// Never granted for another reason, and that by its name.
    public var failed: Int64 = 0
    public var failures: [String: Int64] = [:]
    /// Of `failed`, those that would have waited for ever.
    public var deadlocks: Int64 = 0
    /// From processes that were stopped while others waited; most of them had been granted.
    public var takenAway: Int64 = 0
    /// Neither granted nor ended, and granted and not ended, at the end of what the log tells.
    public var pending: Int64 = 0
    public var held: Int64 = 0
    /// What intents waited for others that were before them. No thread is blocked by it.
    public var waited = Blocked()
    /// Intents that had to wait for others, and of which the log does not say how long: they are in no number of
    /// `waited`.
    public var unknownWaits: Int64 = 0
    /// The longest waits for others, at most 16.
    public var longest: [IntentWait] = []
    /// What those that were granted waited for presenters, and for content after that.
    public var askingNanoseconds: Int64 = 0
    public var materializingNanoseconds: Int64 = 0
    /// Names that were presented.
    public var presenters: Int64 = 0
    /// Questions to presenters that have ended: with an answer, with the end of their time, or with the intent's.
    public var asked: Int64 = 0
    public var answered: Int64 = 0
    public var timedOut: Int64 = 0
    public var withdrawn: Int64 = 0
    /// The presenters that took longest for one answer, or had no more time for it; at most 16.
    public var slowest: [SlowPresenter] = []
    public var brought = Brought()

    public init() {}

    enum CodingKeys: String, CodingKey {
      case intents, granted, cancelled, failed, failures, deadlocks, pending, held, waited, longest, presenters, asked,
        answered, withdrawn, slowest, brought
      case takenAway = "taken_away"
      case unknownWaits = "unknown_waits"
      case askingNanoseconds = "asking_ns"
      case materializingNanoseconds = "materializing_ns"
      case timedOut = "timed_out"
    }
  }

  /// An intent that waited for others.
  public struct IntentWait: Codable, Sendable, Equatable {
    /// Its number in the log.
    public var intent: UInt64
    /// The first of its paths.
    public var path: String
    public var pathBase64: String?
    public var reads: Int64 = 0
    public var writes: Int64 = 0
    /// Absent when unknown.
    public var process: FileSummary.Process?
    public var waitedNanoseconds: Int64
    /// Whether it still waits.
    public var isUnderWay = false
    /// `granted`, or why it never was; absent while it waits.
    public var outcome: String?
    /// For whom: the first eight.
    public var waitsFor: [IntentHolder] = []

    enum CodingKeys: String, CodingKey {
      case intent, path, reads, writes, process, outcome
      case pathBase64 = "path_b64"
      case waitedNanoseconds = "waited_ns"
      case isUnderWay = "under_way"
      case waitsFor = "waits_for"
    }
  }

  /// Somebody for whom an intent waited.
  public struct IntentHolder: Codable, Sendable, Equatable {
    public var intent: UInt64
    /// The first of its paths; absent when the log does not tell.
    public var path: String?
    public var pathBase64: String?
    /// Absent when unknown.
    public var process: FileSummary.Process?

    enum CodingKeys: String, CodingKey {
      case intent, path, process
      case pathBase64 = "path_b64"
    }
  }

  /// A presenter, and how long it let others wait.
  public struct SlowPresenter: Codable, Sendable, Equatable {
    /// Its number in the log.
    public var presenter: UInt64
    /// What it presented at last.
    public var path: String
    public var pathBase64: String?
    /// Absent when unknown.
    public var process: FileSummary.Process?
    public var asked: Int64 = 0
    /// Of `asked`, those that it did not answer in time.
    public var timedOut: Int64 = 0
    public var sumNanoseconds: Int64 = 0
    public var longestNanoseconds: Int64 = 0

    enum CodingKeys: String, CodingKey {
      case presenter, path, process, asked
      case pathBase64 = "path_b64"
      case timedOut = "timed_out"
      case sumNanoseconds = "sum_ns"
      case longestNanoseconds = "longest_ns"
    }
  }

  /// What attempts with the trigger `coordinate` brought here before anybody read it, and what that spared.
  public struct Brought: Codable, Sendable, Equatable {
    /// Attempts that intents began.
    public var attempts: Int64 = 0
    /// Of these, those that ended well.
    public var files: Int64 = 0
    public var directories: Int64 = 0
    public var bytes: Int64 = 0
    /// What intents waited for content and listings, item by item: waits in which no thread was blocked. They are in
    /// no other number of blocked time.
    public var waited = Blocked()
    /// How much less wall clock these waits took than they have in sum, because items came at the same time. Absent:
    /// unknown, as an intent that was not granted may have waited for content, or records are missing.
    public var sparedNanoseconds: Int64?
    /// Calls that were blocked nevertheless: they came while an intent's attempt was under way.
    public var joinedWaits: Int64 = 0
    public var joinedNanoseconds: Int64 = 0
    /// Times that a file brought for an intent was seen being read afterwards, with nobody ever blocked for it; and
    /// what bringing them took, which no read waited for.
    public var readFiles: Int64 = 0
    public var readNanoseconds: Int64 = 0
    /// Times that nobody read one. Absent: unknown, as the log does not tell of every read.
    public var unreadFiles: Int64?

    enum CodingKeys: String, CodingKey {
      case attempts, files, directories, bytes, waited
      case sparedNanoseconds = "spared_ns"
      case joinedWaits = "joined_waits"
      case joinedNanoseconds = "joined_ns"
      case readFiles = "read_files"
      case readNanoseconds = "read_ns"
      case unreadFiles = "unread_files"
    }
  }
}
