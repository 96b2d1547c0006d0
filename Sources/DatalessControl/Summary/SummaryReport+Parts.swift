extension SummaryReport {
  /// Whether the log tells everything.
  public struct Completeness: Codable, Sendable, Equatable {
    public var isComplete = true
    /// Records that were recorded and are not in the log.
    public var lostRecords: Int64 = 0
    /// Lines of this session, or after its end of the log is missing, that are no records: torn, or not ours.
    public var malformedLines: Int64 = 0
    /// Further lines of the file that are no records: the numbers of this session's say that none of it is missing
    /// there.
    public var strayLines: Int64 = 0
    /// The version of the format of the last of the malformed lines that is a record of another one. Absent: none is.
    public var otherVersion: Int64?
    /// Records that stand behind a later one of the session, or a second time, and are not counted. Absent: none does.
    public var misplacedRecords: Int64?
    /// Whether the daemon ended without unmounting: it was killed, or the disk was full.
    public var isEndMissing = false
    /// Attempts without an end in the log.
    public var unfinishedAttempts: Int64 = 0
    /// Sessions before this one in the same file, which are not counted.
    public var earlierSessions: Int64 = 0
    /// Whether the volume is mounted, so that the log goes on.
    public var isMounted = false

    enum CodingKeys: String, CodingKey {
      case isComplete = "complete"
      case lostRecords = "lost_records"
      case malformedLines = "malformed_lines"
      case strayLines = "stray_lines"
      case otherVersion = "other_version"
      case misplacedRecords = "misplaced_records"
      case isEndMissing = "end_missing"
      case unfinishedAttempts = "unfinished_attempts"
      case earlierSessions = "earlier_sessions"
      case isMounted = "mounted"
    }

    /// Takes note of what is known of lines at the end of a log.
    mutating func note(_ continuity: RecordContinuity) {
      (malformedLines, strayLines) = (continuity.malformedLines, continuity.strayLines)
      otherVersion = continuity.otherVersion
      misplacedRecords = continuity.misplacedRecords > 0 ? continuity.misplacedRecords : nil
    }
  }

  public struct Materialized: Codable, Sendable, Equatable {
    /// Files that became local, in part or whole, also by an attempt that failed after some of the content had come;
    /// one that was evicted and read again counts again.
    public var files: Int64 = 0
    /// Each file once, whatever versions it had.
    public var distinctFiles: Int64 = 0
    /// Successful materializations of directories.
    public var directories: Int64 = 0
    /// Content fetched, and the same counting each byte of a file once, of its newest version. Absent: unknown, because
    /// ranges of a file came again after an eviction, at more places than are kept.
    public var bytes: Int64 = 0
    public var distinctBytes: Int64? = 0
    public var failures: Int64 = 0
    public var cancelled: Int64 = 0
    public var refusals: Int64 = 0

    enum CodingKeys: String, CodingKey {
      case files, directories, bytes, failures, cancelled, refusals
      case distinctFiles = "distinct_files"
      case distinctBytes = "distinct_bytes"
    }
  }

  public struct Known: Codable, Sendable, Equatable {
    public var files: Int64 = 0
    /// Of `files`, those that have no content, so that there is nothing to materialize.
    public var emptyFiles: Int64 = 0
    public var directories: Int64 = 0
    public var bytes: Int64 = 0

    enum CodingKeys: String, CodingKey {
      case files, directories, bytes
      case emptyFiles = "files_empty"
    }
  }

  public struct Blocked: Codable, Sendable, Equatable {
    public var waits: Int64 = 0
    /// Of `waits`, those that have not ended: they count up to now, or to the log's last record.
    public var underWay: Int64 = 0
    /// Over all waiters.
    public var sumNanoseconds: Int64 = 0
    /// Time in which at least one caller was blocked. nil for a file for which there were several waits: it is not
    /// known how much of them was at the same time.
    public var wallNanoseconds: Int64? = 0
    public var longestNanoseconds: Int64 = 0
    /// Sum through wall clock: 1 means one after another. Absent when nobody was blocked.
    public var parallelism: Double?

    enum CodingKeys: String, CodingKey {
      case waits, parallelism
      case underWay = "under_way"
      case sumNanoseconds = "sum_ns"
      case wallNanoseconds = "wall_ns"
      case longestNanoseconds = "longest_ns"
    }
  }

  /// A caller that is blocked.
  public struct Waiting: Codable, Sendable, Equatable {
    public var attempt: UInt64
    public var path: String
    public var pathBase64: String?
    public var trigger: String
    /// Absent when unknown.
    public var pid: Int32?
    public var tid: Int32?
    public var comm: String?
    /// What an interpreter runs; absent where there is none, or none is known.
    public var script: String?
    /// Of a thread that is called otherwise than its process.
    public var threadName: String?
    /// So far.
    public var blockedNanoseconds: Int64
    enum CodingKeys: String, CodingKey {
      case attempt, path, trigger, pid, tid, comm, script
      case pathBase64 = "path_b64"
      case threadName = "thread_name"
      case blockedNanoseconds = "blocked_ns"
    }
  }

  /// Files by what was read of them through handles that were watched; each version of a file is one.
  public struct Use: Codable, Sendable, Equatable {
    public var openedNotRead: Int64 = 0
    /// All that was read lies in the first 64 KiB, and is at most half of the file.
    public var headerOnly: Int64 = 0
    public var inPart: Int64 = 0
    public var whole: Int64 = 0
    /// Materialized again after eviction.
    public var readAgainAfterEviction: Int64 = 0
    /// Less than all of it was seen being read, and more may have been: it was opened again when it was local, is still
    /// open, or was materialized for a program by another call than read(2) while not every open was watched.
    public var unknown: Int64 = 0
    /// Materialized for a program, and at most 5 % of what was fetched was read.
    public var needlessFiles: Int64 = 0
    public var needlessBytes: Int64 = 0

    enum CodingKeys: String, CodingKey {
      case whole, unknown
      case openedNotRead = "opened_not_read"
      case headerOnly = "header_only"
      case inPart = "in_part"
      case readAgainAfterEviction = "read_again_after_eviction"
      case needlessFiles = "needless_files"
      case needlessBytes = "needless_bytes"
    }

    mutating func count(_ use: FileUse) {
      switch use {
      case .openedNotRead: openedNotRead += 1
      case .headerOnly: headerOnly += 1
      case .inPart: inPart += 1
      case .whole: whole += 1
      case .unknown: unknown += 1
      }
    }

    mutating func addNeedless(_ bytes: Int64) {
      needlessFiles += 1
      needlessBytes = needlessBytes.plus(bytes)
    }
  }

  /// What refused triggers would have materialized, each item counted once.
  public struct Refused: Codable, Sendable, Equatable {
    public var files: Int64 = 0
    public var directories: Int64 = 0
    public var bytes: Int64 = 0
    /// The delays that the latency model would have asked for, one after another.
    public var delayNanoseconds: Int64 = 0

    enum CodingKeys: String, CodingKey {
      case files, directories, bytes
      case delayNanoseconds = "delay_ns"
    }
  }

  /// What gates held.
  public struct Held: Codable, Sendable, Equatable {
    public var attempts: Int64 = 0
    /// Over all attempts.
    public var heldNanoseconds: Int64 = 0

    enum CodingKeys: String, CodingKey {
      case attempts
      case heldNanoseconds = "held_ns"
    }
  }

  public struct Evictions: Codable, Sendable, Equatable {
    public var files: Int64 = 0
    public var directories: Int64 = 0
    public var bytes: Int64 = 0
    public var refused: Int64 = 0
  }

  /// Items with more than one attempt.
  public struct Repeated: Codable, Sendable, Equatable {
    public var items: Int64 = 0
    /// The most attempts on one item, and which.
    public var attemptsMax: Int64 = 0
    public var path: String?
    public var pathBase64: String?
    enum CodingKeys: String, CodingKey {
      case items, path
      case pathBase64 = "path_b64"
      case attemptsMax = "attempts_max"
    }
  }

  public struct Chain: Codable, Sendable, Equatable {
    public var length: Int64
    /// The deepest directory; `.` for the root.
    public var path: String
    public var pathBase64: String?
    /// Time from trigger to outcome, summed over the chain.
    public var durationNanoseconds: Int64
    enum CodingKeys: String, CodingKey {
      case length, path
      case pathBase64 = "path_b64"
      case durationNanoseconds = "duration_ns"
    }
  }

  public struct TopLevel: Codable, Sendable, Equatable {
    public var path: String
    public var pathBase64: String?
    public var files: Int64 = 0
    public var directories: Int64 = 0
    public var bytes: Int64 = 0
    public var blockedNanoseconds: Int64 = 0
    enum CodingKeys: String, CodingKey {
      case path, files, directories, bytes
      case pathBase64 = "path_b64"
      case blockedNanoseconds = "blocked_ns"
    }
  }

  public struct Section: Codable, Sendable, Equatable {
    /// Of the mark that begins it; absent for what happened before the first one.
    public var label: String?
    public var time: String?
    public var files: Int64 = 0
    public var directories: Int64 = 0
    public var bytes: Int64 = 0
    public var failures: Int64 = 0
    public var blockedNanoseconds: Int64 = 0
    /// In this section alone; absent when the mark at its end has no counters.
    public var requestsReachingTheVolume: [String: Int64]?
    enum CodingKeys: String, CodingKey {
      case label, time, files, directories, bytes, failures
      case blockedNanoseconds = "blocked_ns"
      case requestsReachingTheVolume = "requests_reaching_the_volume"
    }
  }
}
