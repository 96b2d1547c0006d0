internal import DequeModule
internal import SystemPackage

/// How much local content a volume may have (`quota`), who may add to it, and who waits until there is room.
///
/// What is there the content store knows, trash and dirty content included: it is handed in as `used`, in bytes. Here
/// is what is about to be added, by whom, and what is on its way out. Nobody's claim is granted that would make it more
/// than the limit.
struct Room {
  /// Who wants to add something.
  enum Claimant: Hashable {
    case attempt(AttemptID)
    case caller(WaiterID)
  }

  private struct Claim {
    let claimant: Claimant
    let bytes: Int64
    let since: MonotonicTime
    /// Whether nobody waits for it: readers go first.
    var isEager: Bool
    /// Of a caller.
    let goOn: (@Sendable (FSError?) -> Void)?
  }

  /// Content takes whole pages.
  static let page: Int64 = 4096
  /// How long a claim waits though nothing can go: for closes that are under way.
  static let grace = Engine.closeGrace
  /// How long it waits while something goes, or comes that may go then.
  static let patience = Nanoseconds.seconds(10)
  /// LIMIT: claims that are granted, or fail, under one lock.
  private static let settledAtOnce = 64
  /// How long it is believed that nothing can go, when all files were looked at.
  private static let exhaustion = Nanoseconds.milliseconds(100)

  private var limit: Int64?
  private var reservations: [AttemptID: Int64] = [:]
  /// Of all attempts; and of writes that are under way.
  private var reserved: Int64 = 0
  private var writing: Int64 = 0
  private var waiting: Deque<Claim> = []
  /// What callers have been told to try again for: they are not to wait behind those who came after them.
  private var passes: Int64 = 0
  /// Content that is being removed.
  private var leaving: Int64 = 0
  /// Local content of removed trees, as far as these are not emptied yet.
  private var trash: Int64 = 0
  private var removals = 0
  private var uses: UInt32 = 0
  /// Whether content of an earlier run is looked for that nobody has any more: what is found goes by itself.
  private var seeksLeftovers = false
  private var isSweeping = false
  private var exhaustedUntil: MonotonicTime?
  /// When the timer lane calls next.
  private var timer: MonotonicTime?
  private var candidates = EvictionCandidates()
  private var lookedAt: MonotonicTime?

  // MARK: - Uses

  /// A number for a use of a file: later ones have larger numbers.
  mutating func nextUse() -> UInt32 {
    uses &+= 1
    if uses == 0 { uses = 1 }
    return uses
  }

  var lastUse: UInt32 { uses }

  /// Uses of an earlier run have the numbers up to this one.
  mutating func beginUses(after last: UInt32) { uses = last }

  // MARK: - Looking

  var isLimited: Bool { limit != nil }
  /// In bytes; nil: as much as the disk has.
  var quota: Int64? { limit }
  /// What was granted and is not there yet, in bytes; and who waits.
  var pending: (bytes: Int64, waiting: Int) { (reserved.saturatingAdd(writing), waiting.count) }
  /// What is being removed.
  var removing: (bytes: Int64, contents: Int) { (leaving, removals) }

  /// `bytes` in whole pages.
  static func pages(_ bytes: Int64) -> Int64 {
    guard bytes > 0 else { return 0 }
    return bytes > .max - page ? .max : (bytes + page - 1) / page * page
  }

  private func fits(_ bytes: Int64, _ used: Int64) -> Bool {
    guard let limit else { return true }
    // Sizes may be absurd: a sum that cannot be told is too much.
    let sum = used.saturatingAdd(reserved).saturatingAdd(writing)
    return sum <= limit && bytes <= limit - sum
  }

  /// What would have to go, in bytes; at most 0: nothing.
  func shortage(used: Int64) -> Int64 {
    guard let limit else { return 0 }
    let wanted = used.saturatingAdd(reserved).saturatingAdd(writing).saturatingAdd(waiting.first?.bytes ?? 0)
    return wanted.saturatingAdd(-limit).saturatingAdd(-leaving).saturatingAdd(-trash)
  }

  /// Whether somebody waits, or there is too much.
  func isShort(used: Int64) -> Bool { limit != nil && (!waiting.isEmpty || shortage(used: used) > 0) }

  // MARK: - Claims

  mutating func setLimit(_ limit: Int64?) {
    self.limit = limit
    exhaustedUntil = nil
  }

  /// An attempt is about to bring something in.
  ///
  /// - Returns: Whether there is room, which is kept for it until `release`. If not, it waits: `settle`.
  mutating func claim(_ attempt: AttemptID, _ bytes: Int64, isEager: Bool, used: Int64, at now: MonotonicTime) -> Bool {
    guard isLimited else { return true }
    if isFree(isEager: isEager), fits(bytes, used) {
      reserve(bytes, attempt)
      return true
    }
    insert(Claim(claimant: .attempt(attempt), bytes: bytes, since: now, isEager: isEager, goOn: nil))
    return false
  }

  /// Whether nobody waits who goes first.
  private func isFree(isEager: Bool) -> Bool { waiting.first.map { $0.isEager && !isEager } ?? true }

  private mutating func reserve(_ bytes: Int64, _ attempt: AttemptID) {
    reservations[attempt] = bytes
    reserved += bytes
  }

  /// Behind all but those for whom nobody waits.
  private mutating func insert(_ claim: Claim) {
    var place = waiting.endIndex
    if !claim.isEager { while place > 0, waiting[place - 1].isEager { place -= 1 } }
    waiting.insert(claim, at: place)
  }

  /// Somebody waits for an attempt by now.
  mutating func prefer(_ attempt: AttemptID) {
    guard let place = waiting.firstIndex(where: { $0.claimant == .attempt(attempt) }), waiting[place].isEager else {
      return
    }
    var claim = waiting.remove(at: place)
    claim.isEager = false
    insert(claim)
  }

  /// A write is about to add something. - Returns: Whether there is room, which is kept for it until `letGo`.
  mutating func hold(_ bytes: Int64, used: Int64) -> Bool {
    guard isLimited else { return true }
    guard isFree(isEager: false) || bytes <= passes, fits(bytes, used) else { return false }
    passes = waiting.isEmpty ? 0 : max(0, passes - bytes)
    writing += bytes
    return true
  }

  mutating func letGo(_ bytes: Int64) { writing -= bytes }

  /// A caller waits until there is room for so much; none is kept for him.
  ///
  /// - Parameter goOn: Called once, without the lock: nil, or ENOSPC.
  mutating func wait(
    _ caller: WaiterID, for bytes: Int64, _ now: MonotonicTime, goOn: @escaping @Sendable (FSError?) -> Void
  ) {
    insert(Claim(claimant: .caller(caller), bytes: bytes, since: now, isEager: false, goOn: goOn))
  }

  /// Nobody wants the room any more that was kept, or waited for.
  mutating func release(_ claimant: Claimant) {
    if case .attempt(let attempt) = claimant, let bytes = reservations.removeValue(forKey: attempt) {
      reserved -= bytes
    } else if !waiting.isEmpty {
      waiting.removeAll { $0.claimant == claimant }
    }
  }

  // MARK: - Content that goes

  mutating func beginRemoval(_ bytes: Int64) {
    leaving = leaving.saturatingAdd(bytes)
    removals += 1
  }

  /// - Parameter count: Contents.
  mutating func endRemoval(_ bytes: Int64, count: Int = 1) {
    leaving = max(0, leaving - bytes)
    removals -= count
  }

  /// What removed trees hold that are not emptied yet, in bytes: it goes by itself, so nothing else has to.
  mutating func setTrash(_ bytes: Int64) { trash = bytes }

  mutating func setSeeksLeftovers(_ seeks: Bool) { seeksLeftovers = seeks }

  /// Something may go that could not go before: for those who wait, it is looked for.
  mutating func noteEvictable() { if !waiting.isEmpty { exhaustedUntil = nil } }

  /// All files are about to be offered.
  mutating func beginScan() { candidates.begin(now: uses) }

  /// All files have been looked at.
  mutating func noteLook(_ now: MonotonicTime) { lookedAt = now }

  /// LIMIT: how old a look at all files may be where it says which apps run, and in which order they go: what is newer
  /// than the last one is not among its files.
  static let lookMax = Nanoseconds.seconds(1)

  /// Whether what was offered is too old to choose from. - Parameter isAsked: Somebody asks for room just now.
  func isStale(_ now: MonotonicTime, isAsked: Bool) -> Bool {
    isAsked || lookedAt.map { now - $0 > Self.lookMax } ?? true
  }

  /// A file may go.
  mutating func offer(_ candidate: EvictionCandidates.Candidate) { candidates.offer(candidate) }

  /// What was offered may have to stay: nothing of it goes.
  mutating func forgetOffers() { candidates.begin(now: uses) }

  /// Takes out the file that goes first of those that were offered.
  mutating func nextCandidate() -> EvictionCandidates.Candidate? { candidates.next() }

  // MARK: - Settling

  /// What follows from what there is.
  struct Settlement {
    var granted: [AttemptID] = []
    var failed: [AttemptID] = []
    var calls: [@Sendable () -> Void] = []
    /// Whether files are to be evicted: `beginSweep` has been done.
    var sweeps = false
    /// When to look again; who is told asks the timer lane.
    var callAt: MonotonicTime?
    /// Whether there is more to be settled now.
    var hasMore = false
  }

  /// Grants the claims for which there is room, in their order, and ends those for which there will be none.
  mutating func settle(used: Int64, _ now: MonotonicTime) -> Settlement {
    var result = Settlement()
    var count = 0
    while let first = waiting.first {
      guard count < Self.settledAtOnce else {
        result.hasMore = true
        return result
      }
      let isGranted = fits(first.bytes, used)
      guard isGranted || isHopeless(first, now) else { break }
      waiting.removeFirst()
      count += 1
      switch first.claimant {
      case .attempt(let attempt):
        if isGranted { reserve(first.bytes, attempt) }
        if isGranted { result.granted.append(attempt) } else { result.failed.append(attempt) }
      case .caller:
        guard let goOn = first.goOn else { continue }
        if isGranted { passes = passes.saturatingAdd(first.bytes) }
        let error = isGranted ? nil : noRoom
        result.calls.append { goOn(error) }
      }
    }
    if shortage(used: used) > 0, !isSweeping, !isExhausted(now) {
      isSweeping = true
      result.sweeps = true
    }
    result.callAt = nextCall(now)
    return result
  }

  /// ENOSPC, as callers get it.
  var noRoom: FSError {
    FSError(
      .noSpace,
      "there is no room: the volume may have \(limit ?? 0) bytes of local content, and nothing that it has can go")
  }

  private func isExhausted(_ now: MonotonicTime) -> Bool { exhaustedUntil.map { now < $0 } ?? false }

  /// Whether there will be no room for a claim, as far as can be seen.
  private func isHopeless(_ claim: Claim, _ now: MonotonicTime) -> Bool {
    if claim.bytes > limit ?? .max { return true }
    if now - claim.since >= Self.patience { return true }
    guard now - claim.since >= Self.grace, !isSweeping, isExhausted(now) else { return false }
    return removals == 0 && trash == 0 && !seeksLeftovers && reservations.isEmpty && writing == 0
  }

  /// The moment at which the first claim, or what is believed, has to be looked at again.
  private mutating func nextCall(_ now: MonotonicTime) -> MonotonicTime? {
    guard let first = waiting.first else { return nil }
    let moment = [first.since + Self.grace, exhaustedUntil ?? now, first.since + Self.patience].filter { $0 > now }
      .min()
    guard let moment, timer.map({ moment < $0 }) ?? true else { return nil }
    timer = moment
    return moment
  }

  /// The timer lane calls, as it was asked to.
  mutating func called(at moment: MonotonicTime) { if timer == moment { timer = nil } }

  /// Files have been evicted until there is room, or nothing can go any more.
  mutating func endSweep(isExhausted: Bool, _ now: MonotonicTime) {
    isSweeping = false
    exhaustedUntil = isExhausted ? now + Self.exhaustion : nil
  }
}
