import DatalessCore

/// The findings of a summary: by program, whoever used the volume.
struct SummaryFindings: Sendable {
  private var reader: FindingReader
  private var places = FindingPlaces()
  /// Nanoseconds that a main thread may wait without a hitch.
  private let frame: Int64

  init(frame: Int64, limits: SpillLimits) {
    self.frame = frame
    reader = FindingReader(limits: limits)
  }

  /// - Parameter groups: Of the summary that it is part of.
  mutating func add(_ record: LogRecord, groups: inout SummaryProcesses, _ processes: LogProcesses) {
    if record.type == .waitStack { places.stackTold(record) }
    for found in reader.add(record) { note(found, groups: &groups, processes) }
  }

  private mutating func note(
    _ found: FindingReader.Found, groups: inout SummaryProcesses, _ processes: LogProcesses
  ) {
    func key(_ kind: Finding.Kind, _ process: UInt32?) -> FindingPlaces.Key {
      // Whoever is not known is one place.
      FindingPlaces.Key(kind: kind, group: process.map { groups.index(of: $0, processes) } ?? -1)
    }
    func name(_ process: UInt32?) -> Violation.Process? {
      process.flatMap { processes[$0] }.map { Violation.Process($0) }
    }
    switch found {
    case .mainThread(let wait):
      let isHitch = wait.blocked > frame
      let part = FindingPlaces.Part(wait: wait, paths: [wait.path], spared: nil, longest: wait.blocked)
      places.add(part, to: key(.mainThread, wait.process), process: { name(wait.process) }) { place in
        place.hitches = (place.hitches ?? 0) + (isHitch ? 1 : 0)
      }
    case .prefetch(let wait, let listing, let lead):
      let spared = reader.limit == nil ? wait.blocked : nil
      let part = FindingPlaces.Part(wait: wait, paths: [wait.path], spared: spared, longest: wait.blocked)
      places.add(part, to: key(.prefetch, wait.process), process: { name(wait.process) }) { place in
        guard lead > place.leadNanoseconds ?? -1 else { return }
        (place.leadNanoseconds, place.listedBy) = (lead, name(listing.process))
      }
    case .serial(let list):
      let wait = FindingReader.Wait(process: list.process, key: list.longestWait, path: [], blocked: list.blocked)
      let isKnown = reader.limit == nil && !list.wasHeld
      let part = FindingPlaces.Part(
        wait: wait, count: list.files, paths: list.paths, spared: isKnown ? list.blocked.minus(list.atOnce) : nil,
        longest: list.longest)
      places.add(part, to: key(.serial, wait.process), process: { name(wait.process) }) { place in
        place.lists = (place.lists ?? 0) + 1
      }
    case .notNeeded(let wait, let count, _):
      let part = FindingPlaces.Part(
        wait: wait, count: count, paths: [wait.path], spared: wait.blocked, longest: wait.blocked)
      places.add(part, to: key(.notNeeded, wait.process), process: { name(wait.process) })
    case .together(let write):
      let wait = FindingReader.Wait(process: write.process, key: nil, path: write.path, blocked: 0)
      let part = FindingPlaces.Part(wait: wait, paths: [write.path], spared: nil, longest: 0)
      places.add(part, to: key(.together, write.process), process: { name(write.process) }) { place in
        if place.other == nil { place.other = name(write.other) }
      }
    }
  }

  // MARK: - The report

  /// One for each kind. - Parameter completeness: Of the log.
  func report(
    _ completeness: SummaryReport.Completeness, groups: SummaryProcesses, _ processes: LogProcesses
  ) -> [Finding] {
    var current = self
    var groups = groups
    var doubtful: Int64 = 0
    let isEnded = !completeness.isMounted && !completeness.isEndMissing
    for found in reader.finish(isEnded: isEnded) {
      if case .notNeeded(_, let count, true) = found {
        doubtful = doubtful.plus(count)
      } else {
        current.note(found, groups: &groups, processes)
      }
    }
    let hasGap = completeness.lostRecords > 0 || completeness.malformedLines > 0
    return Finding.Kind.allCases.map { kind in
      var finding = Finding(kind)
      let sums = current.places.sums(kind)
      (finding.count, finding.blockedNanoseconds) = (sums.count, sums.blocked)
      if kind != .mainThread, sums.count > 0 { finding.sparedNanoseconds = sums.spared }
      (finding.places, finding.placeCount) = current.places.told(kind)
      (finding.unknownCount, finding.reasons) = unknown(kind, doubtful: doubtful, isEnded: isEnded)
      if sums.count > 0, sums.spared == nil, kind == .serial || kind == .prefetch {
        finding.reasons.append("not known how long it takes at once: \(reader.limit ?? "gates or queues held some")")
      }
      if hasGap, kind != .mainThread { finding.reasons.append("records are missing, which might show something else") }
      let isFirm = kind == .mainThread || !hasGap
      finding.outcome =
        finding.count > 0 && isFirm
        ? .found
        : finding.unknownCount > 0 || hasGap || finding.count > 0 || !isTold(kind) ? .unknown : .none
      return finding
    }
  }

  /// What may belong to a finding, too, and why nobody knows.
  private func unknown(_ kind: Finding.Kind, doubtful: Int64, isEnded: Bool) -> (Int64, [String]) {
    switch kind {
    case .serial: Self.unknown(reader.unknownCallers, "callers of which the log does not tell who they are")
    case .mainThread: Self.unknown(reader.unknownThreads, "threads of which the log does not tell which they are")
    case .prefetch:
      Self.unknown(reader.unknownFileThreads, "threads of which the log does not tell which they are")
    case .notNeeded: unknownLookups(doubtful, isEnded: isEnded)
    case .together: unknownWrites
    }
  }

  /// Whether the log would have a finding of this kind.
  private func isTold(_ kind: Finding.Kind) -> Bool { kind != .together || reader.together.isTold }

  private var unknownWrites: (Int64, [String]) {
    let (unseen, mapped, unknown) = (reader.together.unseen, reader.together.mapped, reader.together.unknown)
    var reasons: [String] = []
    if !reader.together.isTold {
      reasons.append("the log does not tell who has files open at the same time: it is of an older version")
    }
    if unseen.count > 0 {
      reasons.append(
        "\(unseen.files) written to by the kernel itself while others had it open: whether with a lock is not seen "
          + "(--observe reads)")
    }
    if mapped.count > 0 {
      reasons.append(
        "\(mapped.files) stored to by mappings while others had it open: whose they are, and what was locked, is not "
          + "seen")
    }
    if unknown.count > 0 {
      reasons.append(
        "\(unknown.files) written to beside others: who they are, or whether they hold a lock, could not be looked at")
    }
    return (unseen.count.plus(mapped.count).plus(unknown.count), reasons)
  }

  private static func unknown(_ count: Int64, _ callers: String) -> (Int64, [String]) {
    (count, count == 0 ? [] : ["\(HumanText.count(count, "wait")) of \(callers)"])
  }

  private func unknownLookups(_ doubtful: Int64, isEnded: Bool) -> (Int64, [String]) {
    var reasons: [String] = []
    // Without an end nobody knows of any of them, whatever they are of.
    let directories = isEnded ? reader.directoriesLookedUp : 0
    if doubtful > directories {
      let why =
        !isEnded
        ? "the log has no end yet"
        : reader.opensAreTold ? "what they found was renamed, or was listed by a command" : Self.opens
      reasons.append("\(HumanText.count(doubtful.minus(directories), "lookup")) that nothing seems to follow: \(why)")
    }
    if directories > 0 {
      reasons.append(
        "\(HumanText.count(directories, "lookup")) of directories that nothing seems to follow: that one becomes the "
          + "working directory leaves no record")
    }
    if reader.untoldLookups > 0 {
      let untold = HumanText.count(reader.untoldLookups, "lookup")
      reasons.append("\(untold) of what leaves no record when it is used (links, empty files)")
    }
    let listings = reader.listingsLeft
    guard listings.count > 0 else { return (doubtful.plus(reader.untoldLookups), reasons) }
    reasons.append(
      "of \(HumanText.count(listings.count, "listing")) (\(HumanText.duration(nanoseconds: listings.blocked))) nothing "
        + (isEnded && reader.opensAreTold
          ? "was opened: whether their names were wanted is not in the log" : "seems opened: \(Self.opens)"))
    return (doubtful.plus(reader.untoldLookups).plus(listings.count), reasons)
  }

  private static let opens = "not every open is in the log (--observe reads)"
}

extension Violation.Process {
  init(_ process: LogProcesses.Process) {
    func text(_ bytes: [UInt8]?) -> String? { bytes.map { String(decoding: $0, as: UTF8.self) } }
    self.init(
      name: String(decoding: process.name, as: UTF8.self), pid: process.pid == 0 ? nil : process.pid,
      comm: text(process.comm), exe: text(process.exe), script: text(process.script))
  }
}
