import Testing

@testable import DatalessControl

/// Findings about what was looked up and what was visible.
@Suite struct FindingLookupTests {
  private static let ms = FindingLog.millisecond

  // MARK: - Not needed

  /// - Parameter follow: What happens after a lookup of `photos/a.jpg` at 100 ms.
  private static func lookUp(
    _ found: String? = "file", options: String = #""observe":"reads""#, ends: Bool = true,
    _ follow: (inout FindingLog) -> Void = { _ in }
  ) throws -> Finding {
    var log = FindingLog(options: options)
    log.lookUp("a.jpg", in: "photos", found: found, from: 0, to: 100)
    follow(&log)
    if ends { log.unmount() }
    return try log.finding(.notNeeded)
  }

  @Test func whatIsLookedUpAndNeverOpenedIsFound() throws {
    let found = try Self.lookUp()
    #expect(found.outcome == .found && found.count == 1 && found.unknownCount == 0 && found.reasons.isEmpty)
    #expect(found.blockedNanoseconds == 100 * Self.ms && found.sparedNanoseconds == 100 * Self.ms)
    #expect(found.places.first?.paths.map(\.path) == ["photos/a.jpg"] && found.places.first?.process?.name == "viewer")
  }

  /// chdir(2) looks it up as stat(2) does, and opens nothing.
  @Test func aDirectoryMayHaveBecomeTheWorkingDirectory() throws {
    let directory = try Self.lookUp("directory")
    #expect(directory.outcome == .unknown && directory.count == 0 && directory.unknownCount == 1)
    #expect(directory.places.isEmpty && directory.reasons.count == 1)
    #expect(directory.reasons.first?.hasPrefix("1 lookup of directories that nothing seems to follow: ") == true)
    // What is known of a file beside it stays so.
    let both = try Self.lookUp("directory") { $0.lookUp("b.jpg", in: "photos", found: "file", from: 200, to: 300) }
    #expect(both.outcome == .found && both.count == 1 && both.unknownCount == 1)
    #expect(both.places.first?.paths.map(\.path) == ["photos/b.jpg"])
  }

  @Test func aLookupInTheRootHasThePathOfItsName() throws {
    var log = FindingLog()
    log.lookUp("a", in: "", found: "file", from: 0, to: 5)
    var opened = log
    log.unmount()
    #expect(try log.finding(.notNeeded).places.first?.paths.map(\.path) == ["a"])
    opened.opened("a", at: 10)
    opened.unmount()
    #expect(try opened.finding(.notNeeded).outcome == .none)
  }

  /// Whoever uses it: what one program looks up another may have been told of.
  @Test func whatIsFollowedIsNeeded() throws {
    let cat = FindingLog.caller { ($0.process, $0.thread) = (2, 20) }
    func change(_ type: String, _ log: inout FindingLog) {
      log.log.add(type, at: 200, #""path":"photos/a.jpg","kind":"file","process":2,"old_path":"x""#)
    }
    let follow: [(inout FindingLog) -> Void] = [
      { $0.opened("photos/a.jpg", at: 200) }, { $0.opened("photos/a.jpg", by: 2, at: 200) },
      { $0.opened("other", at: 200, names: ["other", "photos/a.jpg"]) },
      { $0.read("photos/a.jpg", from: 200, to: 300, by: cat) },
      { $0.begin("photos/a.jpg", at: 200) },
      {
        $0.log.add(
          "materialization.refused", at: 200, #""path":"photos/a.jpg","kind":"file","trigger":"read","errno":"EDEADLK""#
        )
      },
      { $0.log.add("item.created", at: 200, #""path":"b","linked_from":"photos/a.jpg","kind":"file""#) },
      { change("item.removed", &$0) }, { change("item.renamed", &$0) }, { change("item.changed", &$0) },
      { change("item.written", &$0) },
      { $0.log.add("item.renamed", at: 200, #""path":"photos/b.jpg","old_path":"photos/a.jpg","kind":"file""#) },
      { $0.log.add("access.started", at: 200, #""access":1,"operation":"open","path":"photos/a.jpg""#) },
    ]
    for (index, follow) in follow.enumerated() {
      let found = try Self.lookUp("file", follow)
      #expect(found.outcome == .none && found.count == 0 && found.unknownCount == 0, "\(index)")
    }
  }

  @Test func aDirectoryIsFollowedByWhatIsBelowIt() throws {
    let follow: [(inout FindingLog) -> Void] = [
      { $0.opened("photos/a.jpg/deep/x", at: 200) },
      { $0.lookUp("x", in: "photos/a.jpg", found: "absent", from: 200, to: 300) },
      { $0.log.add("access.started", at: 200, #""access":1,"operation":"lookup","path":"photos/a.jpg/x""#) },
    ]
    for (index, follow) in follow.enumerated() {
      #expect(try Self.lookUp("directory", follow).outcome == .none, "\(index)")
    }
    // A path that only begins like it is none of it, and looking again is no use.
    let other: [(inout FindingLog) -> Void] = [
      { $0.opened("photos/a.jpg2", at: 200) }, { $0.opened("photos", at: 200) },
      { $0.log.add("access.started", at: 200, #""access":1,"operation":"lookup","path":"photos/a.jpg""#) },
      { $0.log.add("access.started", at: 200, #""access":1,"operation":"getattr","path":"photos/a.jpg""#) },
    ]
    for (index, follow) in other.enumerated() {
      #expect(try Self.lookUp("directory", follow).unknownCount == 1, "\(index)")
    }
  }

  /// Somebody else has its listing fetched already.
  @Test func whoJoinsAnAttemptUsesWhatHeHasLookedUp() throws {
    var log = FindingLog()
    let attempt = log.begin("photos/2024", kind: "directory", at: 0, by: FindingLog.caller { $0.process = 2 })
    log.lookUp("2024", in: "photos", found: "directory", from: 10, to: 100)
    var left = log
    log.join(attempt, at: 200)
    log.unmount()
    #expect(try log.finding(.notNeeded).unknownCount == 0)
    left.unmount()
    #expect(try left.finding(.notNeeded).unknownCount == 1)
  }

  @Test func whatIsNotThereWasAnAnswer() throws {
    let found = try Self.lookUp("absent")
    #expect(found.outcome == .none && found.unknownCount == 0)
  }

  @Test(arguments: ["symlink", "empty_file", "special", "odd", nil]) func whatLeavesNoRecordIsUnknown(kind: String?)
    throws
  {
    let found = try Self.lookUp(kind)
    #expect(found.outcome == .unknown && found.count == 0 && found.unknownCount == 1 && found.reasons.count == 1)
  }

  @Test func withoutRecordsOfOpensNothingIsKnown() throws {
    let file = try Self.lookUp("file", options: "")
    #expect(file.outcome == .unknown && file.count == 0 && file.unknownCount == 1)
    #expect(file.reasons.first?.contains("--observe reads") == true)
    #expect(try Self.lookUp("directory", options: "").outcome == .unknown)
    let off = try Self.lookUp("file") { log in
      log.log.add("configuration.changed", at: 200, #""what":"settings","before":{},"after":{"observe":"off"}"#)
    }
    #expect(off.outcome == .unknown && off.count == 0)
  }

  @Test func beforeTheEndMoreMayFollow() throws {
    #expect(try Self.lookUp("file", ends: false).outcome == .unknown)
    var log = FindingLog()
    log.lookUp("d", in: "", found: "directory", from: 0, to: 5)
    let mounted = try log.finding(.notNeeded, isMounted: true)
    #expect(mounted.outcome == .unknown && mounted.reasons.first?.contains("no end yet") == true)
  }

  @Test func afterARenameNobodyKnows() throws {
    for change in [
      #""path":"pictures","old_path":"photos","kind":"directory","change":"renamed""#,
      #""path":"photos/b.jpg","old_path":"photos/a.jpg","kind":"file","change":"renamed""#,
    ] {
      let found = try Self.lookUp("file") { $0.log.add("source.changed", at: 200, change) }
      #expect(found.outcome == .unknown && found.count == 0 && found.unknownCount == 1)
    }
    // Who goes through a directory that a command has listed leaves no record.
    let listed = try Self.lookUp("directory") { log in
      log.begin(
        "photos/a.jpg", kind: "directory", at: 200,
        by: FindingLog.caller { ($0.process, $0.trigger) = (nil, "command") })
    }
    #expect(listed.outcome == .unknown && listed.count == 0)
  }

  @Test func oneNameThatIsLookedUpAgainIsOnePath() throws {
    let found = try Self.lookUp("file") {
      $0.lookUp("a.jpg", in: "photos", found: "file", from: 500, to: 550)
    }
    #expect(found.count == 2 && found.blockedNanoseconds == 150 * Self.ms && found.places.first?.paths.count == 1)
  }

  @Test func whetherNamesWereWantedIsNotInTheLog() throws {
    var log = FindingLog()
    log.list("photos", from: 0, to: 100)
    var (opened, descended) = (log, log)
    log.unmount()
    let found = try log.finding(.notNeeded)
    #expect(found.outcome == .unknown && found.count == 0 && found.unknownCount == 1)
    #expect(
      found.reasons == ["of 1 listing (100.0 ms) nothing was opened: whether their names were wanted is not in the log"]
    )
    opened.opened("photos/a.jpg", at: 200)
    opened.unmount()
    #expect(try opened.finding(.notNeeded).outcome == .none)
    descended.list("photos/2024", from: 200, to: 300)
    descended.unmount()
    #expect(try descended.finding(.notNeeded).unknownCount == 1)
  }

  // MARK: - Prefetch

  /// - Parameters:
  ///   - start: When a file is waited for, for 100 ms, that a listing has shown at 1,000 ms.
  private static func read(
    from start: Int64, by caller: FindingLog.Caller = FindingLog.Caller(),
    _ between: (inout FindingLog) -> Void = { _ in }
  ) throws -> Finding {
    var log = FindingLog()
    log.list("photos", from: 900, to: 1_000, by: FindingLog.caller { ($0.process, $0.thread) = (2, 20) })
    between(&log)
    log.read("photos/a.jpg", from: start, to: start + 100, by: caller)
    log.unmount()
    return try log.finding(.prefetch)
  }

  @Test(arguments: [(Int64(1_100), Int64(1)), (1_099, 0), (4_000, 1)])
  func whatWasVisibleLongEnoughBeforeIsFound(start: Int64, count: Int64) throws {
    let found = try Self.read(from: start)
    #expect(found.count == count && found.outcome == (count > 0 ? .found : .none))
    guard count > 0 else { return }
    #expect(found.blockedNanoseconds == 100 * Self.ms && found.sparedNanoseconds == 100 * Self.ms)
    let place = try #require(found.places.first)
    #expect(place.leadNanoseconds == (start - 1_000) * Self.ms && place.listedBy?.name == "cat")
    #expect(place.process?.name == "viewer" && place.paths.map(\.path) == ["photos/a.jpg"])
  }

  @Test func onlyMainThreadsHaveADisplay() throws {
    #expect(try Self.read(from: 2_000, by: FindingLog.caller { $0.isMain = false }).outcome == .none)
    let unknown = try Self.read(from: 2_000, by: FindingLog.caller { $0.isMain = nil })
    #expect(unknown.outcome == .unknown && unknown.count == 0 && unknown.unknownCount == 1)
  }

  /// What was fetched before, what another thread had asked for already, and what was not there.
  @Test func whatWasNotVisibleOrWasAskedForIsNotFound() throws {
    let between: [(inout FindingLog) -> Void] = [
      { $0.read("photos/a.jpg", from: 1_010, to: 1_020, by: FindingLog.caller { $0.isMain = false }) },
      { $0.log.add("source.changed", at: 1_500 * Self.ms, #""path":"photos/a.jpg","kind":"file","change":"added""#) },
      { $0.log.add("item.renamed", at: 1_500 * Self.ms, #""path":"photos/a.jpg","old_path":"x","kind":"file""#) },
      {
        $0.log.add(
          "item.renamed", at: 1_500 * Self.ms, #""path":"x","old_path":"photos/a.jpg","exchange":true,"kind":"file""#)
      },
      { $0.log.add("item.renamed", at: 1_500 * Self.ms, #""path":"photos","old_path":"x","kind":"directory""#) },
    ]
    for (index, between) in between.enumerated() {
      #expect(try Self.read(from: 2_000, between).outcome == .none, "\(index)")
    }
    var log = FindingLog()
    log.list("photos", from: 900, to: 1_000)
    let worker = FindingLog.caller { ($0.thread, $0.isMain) = (11, false) }
    let attempt = log.begin("photos/a.jpg", at: 1_010, by: worker)
    log.join(attempt, at: 2_000)
    log.answer(attempt, from: 2_000, to: 2_050)
    log.end(attempt, "photos/a.jpg", from: 1_010, to: 2_050, by: worker)
    log.read("other/b.jpg", from: 3_000, to: 3_100)
    log.unmount()
    #expect(try log.finding(.prefetch).outcome == .none)
  }

  @Test func filesInTheRootAreVisibleInIt() throws {
    var log = FindingLog()
    log.list("", from: 0, to: 10)
    log.read("a", from: 1_000, to: 1_010)
    log.unmount()
    #expect(try log.finding(.prefetch).count == 1)
  }
}
