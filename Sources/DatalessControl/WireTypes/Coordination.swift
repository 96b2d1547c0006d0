/// Who coordinates accesses: answer of `GET /v1/coordination`, and a part of `GET /v1/status`.
public struct CoordinationStatus: Codable, Sendable, Equatable {
  /// Intents that wait for others.
  public var waiting: Int64
  /// Intents that are granted now.
  public var granted: Int64
  /// Intents whose turn it is, and that ask presenters or have content brought here; nil from a daemon that does not
  /// say it.
  public var preparing: Int64?
  /// Programs that present something.
  public var presenters: Int64
  /// Since the volume was mounted.
  public var totals: CoordinationTotals
  /// The oldest first: at most 1,000, in the status at most 64. Where there are more, at least three quarters of them
  /// are not granted yet, if there are so many.
  public var intents: [CoordinatedIntent]

  public init(
    waiting: Int64, granted: Int64, preparing: Int64? = nil, presenters: Int64, totals: CoordinationTotals,
    intents: [CoordinatedIntent]
  ) {
    self.waiting = waiting
    self.granted = granted
    self.preparing = preparing
    self.presenters = presenters
    self.totals = totals
    self.intents = intents
  }
}

/// What became of intents since the volume was mounted.
public struct CoordinationTotals: Codable, Sendable, Equatable {
  public var granted: Int64
  public var refused: Int64
  /// Of `refused`, those that would never have been granted.
  public var deadlocks: Int64
  /// From processes that were stopped while others waited.
  public var takenAway: Int64

  enum CodingKeys: String, CodingKey {
    case granted, refused, deadlocks
    case takenAway = "taken_away"
  }

  public init(granted: Int64, refused: Int64, deadlocks: Int64, takenAway: Int64) {
    self.granted = granted
    self.refused = refused
    self.deadlocks = deadlocks
    self.takenAway = takenAway
  }
}

/// One intent.
public struct CoordinatedIntent: Codable, Sendable, Equatable {
  /// Its number in the event log.
  public var number: UInt64
  /// `waiting` for others, `asking` presenters, `preparing` what is dataless, or `granted`.
  public var stage: String
  public var reads: Int64
  public var writes: Int64
  /// What was asked for beside the paths; absent for nothing.
  public var options: [String]?
  /// The intent that it is within; absent for none.
  public var within: UInt64?
  /// The first of its paths, relative to the volume's root.
  public var path: String
  public var pathBase64: String?
  /// Since it was asked for.
  public var ageNanoseconds: Int64
  /// Some of the intents that keep it from being granted, or in which presenters save before it is; absent for nobody.
  public var waitsFor: [UInt64]?
  /// The name at which those keep it, which need not be the first of anybody's paths; absent for nobody, for presenters
  /// that save, and in the answer of a daemon that does not say it.
  public var waitsAt: String?
  public var waitsAtBase64: String?
  /// The presenters that have not answered; absent for nobody.
  public var asks: [UInt64]?
  /// Who these are: the first eight; absent for nobody, and in the answer of a daemon that does not say it.
  public var presenters: [AskedPresenter]?
  public var process: WireProcess?

  enum CodingKeys: String, CodingKey {
    case number, stage, reads, writes, options, within, path, asks, presenters, process
    case pathBase64 = "path_b64"
    case ageNanoseconds = "age_ns"
    case waitsFor = "waits_for"
    case waitsAt = "waits_at"
    case waitsAtBase64 = "waits_at_b64"
  }

  public init(
    number: UInt64, stage: String, reads: Int64, writes: Int64, options: [String]? = nil, within: UInt64? = nil,
    path: [UInt8], ageNanoseconds: Int64, waitsFor: [UInt64]? = nil, waitsAt: [UInt8]? = nil,
    asks: [UInt64]? = nil, presenters: [AskedPresenter]? = nil, process: WireProcess? = nil
  ) {
    self.number = number
    self.stage = stage
    self.reads = reads
    self.writes = writes
    self.options = options
    self.within = within
    (self.path, pathBase64) = WirePath.split(path)
    self.ageNanoseconds = ageNanoseconds
    self.waitsFor = waitsFor
    let place = waitsAt.map { WirePath.split($0) }
    (self.waitsAt, waitsAtBase64) = (place?.text, place?.base64)
    self.asks = asks
    self.presenters = presenters
    self.process = process
  }

  public var pathBytes: [UInt8] { WirePath.bytes(path, pathBase64) }
  public var waitsAtBytes: [UInt8]? { waitsAt.map { WirePath.bytes($0, waitsAtBase64) } }
}

/// A presenter that has not answered.
public struct AskedPresenter: Codable, Sendable, Equatable {
  /// Its number in the event log.
  public var number: UInt64
  /// What it presents, relative to the volume's root.
  public var path: String
  public var pathBase64: String?
  /// Absent when that is not known.
  public var process: WireProcess?

  enum CodingKeys: String, CodingKey {
    case number, path, process
    case pathBase64 = "path_b64"
  }

  public init(number: UInt64, path: [UInt8], process: WireProcess? = nil) {
    self.number = number
    (self.path, pathBase64) = WirePath.split(path)
    self.process = process
  }

  public var pathBytes: [UInt8] { WirePath.bytes(path, pathBase64) }
}

/// An intent that is not granted yet, and for whom it waits: a line of `dataless stack --json`.
public struct WaitingIntent: Codable, Sendable, Equatable {
  public var intent: CoordinatedIntent
  /// Of `intent.waitsFor`, those that the daemon lists.
  public var holders: [CoordinatedIntent]
  /// In the last line: how many more wait, of whatever process, that the daemon does not list; absent for none.
  public var unlisted: Int64?

  public init(intent: CoordinatedIntent, holders: [CoordinatedIntent], unlisted: Int64? = nil) {
    self.intent = intent
    self.holders = holders
    self.unlisted = unlisted
  }
}

extension CoordinationStatus {
  // LIMIT: a daemon says less; one of another user may say anything.
  private static let holdersMax = 8

  /// How many wait that are not among `intents`.
  public var unlistedWaiting: Int64 {
    let listed = Int64(intents.count { $0.stage != "granted" })
    return max(0, waiting.plus(preparing ?? 0).minus(listed))
  }

  /// Those of `intents` that wait: for others, for presenters, or for content.
  ///
  /// - Parameter pid: Only those of this process; nil for all.
  public func waitingIntents(of pid: Int32? = nil) -> [WaitingIntent] {
    let byNumber = Dictionary(intents.map { ($0.number, $0) }) { first, _ in first }
    return intents.filter { $0.stage != "granted" && (pid == nil || $0.process?.pid == pid) }.map { intent in
      WaitingIntent(
        intent: intent, holders: (intent.waitsFor ?? []).prefix(Self.holdersMax).compactMap { byNumber[$0] })
    }
  }
}
