import DatalessCore
import Synchronization
import SystemPackage
import Testing

/// What materializes, and how it fails, by the profile.
@Suite struct EngineProfileTests {
  private func fixture(
    _ profile: Profile, files: [String: Int] = ["a": 10_000, "d/x": 10], _ edit: (inout Simulation) -> Void = { _ in }
  ) -> EngineFixture {
    var configuration = EngineConfiguration()
    configuration.simulation.profile = profile
    edit(&configuration.simulation)
    return EngineFixture(ScriptedStore(files), configuration)
  }

  private func open(_ fixture: EngineFixture, _ node: NodeID) -> String {
    switch fixture.engine.open(node, process: .unknown, openFlags: 0) {
    case .dataless: "dataless"
    case .resident: "resident"
    case .passthrough: "passthrough"
    case .needsMaterialization: "materialize"
    case .isBeingEvicted: "is being evicted"
    case .failed(let errno): errno.name
    }
  }

  private func opendir(_ fixture: EngineFixture, _ node: NodeID) -> String {
    switch fixture.engine.openDirectory(node) {
    case .listed: "listed"
    case .dataless: "dataless"
    case .needsListing: "list"
    case .failed(let errno): errno.name
    }
  }

  private static let all: Profile = {
    var profile = Profile.macos
    profile.files = [.open, .xattr, .seek]
    profile.directories = [.open, .xattr]
    return profile
  }()

  @Test func macosMaterializesOnNothingButItsContent() {
    let fixture = fixture(.macos)
    let (file, directory) = (fixture.node("a"), fixture.node("d"))
    #expect(open(fixture, file) == "dataless")
    #expect(opendir(fixture, directory) == "dataless")
    #expect(fixture.attribute("user.note", of: file) == "ask")
    #expect(fixture.attribute(nil, of: directory) == "ask")
    #expect(fixture.engine.seek(file, from: 5, hole: false) == .offset(5))
  }

  @Test func everyExtraTriggerAsksForContentOnce() {
    let fixture = fixture(Self.all)
    let (file, directory) = (fixture.node("a"), fixture.node("d"))
    #expect(open(fixture, file) == "materialize")
    #expect(opendir(fixture, directory) == "list")
    #expect(fixture.attribute("user.note", of: file) == "materialize")
    #expect(fixture.attribute(nil, of: directory) == "materialize")
    #expect(fixture.engine.seek(file, from: 5, hole: false) == .needsMaterialization)
    // Beyond the end there is nothing, local or not.
    guard case .failed = fixture.engine.seek(file, from: 10_000, hole: false) else {
      Issue.record("a seek beyond the end")
      return
    }
    fixture.trigger(file, TriggerRequest(trigger: .open, caller: EngineFixture.caller()))
    fixture.trigger(directory, TriggerRequest(trigger: .open, caller: EngineFixture.caller()))
    fixture.lane.runAll()
    #expect(open(fixture, file) == "resident")
    #expect(opendir(fixture, directory) == "listed")
    #expect(fixture.attribute("user.note", of: file) == "ask")
    #expect(fixture.engine.seek(file, from: 5, hole: false) == .offset(5))
    #expect(fixture.events.started.last?.trigger == .open)
    // An open that had to wait is one open: what `prior` counts is what was answered.
    #expect(fixture.events.started.allSatisfy { $0.priorOpens == 0 })
  }

  @Test func theStateAndWhatTheKernelAsksForTriggerNothing() {
    let fixture = fixture(Self.all)
    let file = fixture.node("a")
    #expect(fixture.attribute("user.dataless.state", of: file) == "dataless")
    for name in ["system.posix_acl_access", "system.posix_acl_default", "security.capability"] {
      #expect(fixture.attribute(name, of: file) == "ask", "\(name)")
    }
  }

  @Test func emptyFilesAndResidentOnesTriggerNothing() {
    let fixture = fixture(Self.all, files: ["empty": 0])
    let file = fixture.node("empty")
    #expect(open(fixture, file) == "resident")
    #expect(fixture.attribute("user.note", of: file) == "ask")
  }

  /// The errno of every way to fail, for a file and for a directory.
  private func errnos(_ profile: Profile) -> (file: [String?], directory: [String?]) {
    func fail(_ path: String, _ prepare: (EngineFixture) -> Void, _ edit: (inout Simulation) -> Void = { _ in })
      -> String?
    {
      let fixture = fixture(profile, edit)
      var node = NodeID.root
      if path == "a" {
        // Its directory is listed before anything is wrong.
        var online = fixture.engine.simulation
        let wrong = online
        (online.isOffline, online.materialize, online.giveUpAfter) = (false, true, nil)
        (online.latency, online.directoryLatency) = (.none, .none)
        online.rules = RuleSet([])
        fixture.engine.apply(online, restartsClock: false)
        node = fixture.node("a")
        fixture.engine.apply(wrong, restartsClock: false)
      }
      prepare(fixture)
      let trigger: Trigger = path == "a" ? .read : .readdir
      let answer = fixture.trigger(node, TriggerRequest(trigger: trigger, caller: EngineFixture.caller()))
      fixture.timer.advance(milliseconds: 10)
      fixture.lane.runAll()
      fixture.timer.advance(milliseconds: 100) { fixture.lane.runAll() }
      return answer.errno
    }
    func store(_ path: String, _ errno: Errno) -> String? {
      fail(path, { $0.store.items.withLock { $0[path == "a" ? "a" : ""]?.failure = FSError(errno, "broken") } })
    }
    func all(_ path: String) -> [String?] {
      [
        fail(path, { _ in }, { $0.materialize = false }), fail(path, { _ in }, { $0.isOffline = true }),
        fail(
          path, { _ in },
          {
            $0.giveUpAfter = 5_000_000
            $0.latency = LatencyModel(.fixed(60_000_000_000))
            $0.directoryLatency = LatencyModel(.fixed(60_000_000_000))
          }), store(path, .staleNFSFileHandle), store(path, .noSuchFileOrDirectory), store(path, .permissionDenied),
      ]
    }
    return (all("a"), all(""))
  }

  @Test(arguments: [
    (
      Profile.macos, ["EDEADLK", "ETIMEDOUT", "ETIMEDOUT", "ESTALE", "ESTALE", "EACCES"],
      ["EDEADLK", "ETIMEDOUT", "ETIMEDOUT", "ESTALE", "ESTALE", "EACCES"]
    ),
    (
      .open, ["EDEADLK", "EREMOTEIO", "EREMOTEIO", "EREMOTEIO", "EREMOTEIO", "EREMOTEIO"],
      ["EDEADLK", "EREMOTEIO", "EREMOTEIO", "EREMOTEIO", "EREMOTEIO", "EREMOTEIO"]
    ),
    (
      .windows, ["EACCES", "ENETUNREACH", "ETIMEDOUT", "EIO", "EIO", "EIO"],
      ["EACCES", "ENETUNREACH", "ETIMEDOUT", "EIO", "EIO", "EIO"]
    ),
    (
      .openvfs, ["EPERM", "ENOENT", "ENOENT", "ENOENT", "ENOENT", "ENOENT"],
      ["EPERM", "ETIMEDOUT", "ETIMEDOUT", "ESTALE", "ESTALE", "EACCES"]
    ),
  ])
  func eachWayToFailHasItsErrno(profile: Profile, file: [String], directory: [String]) {
    let found = errnos(profile)
    #expect(found.file == file, "\(profile.name), a file")
    #expect(found.directory == directory, "\(profile.name), a directory")
  }

  @Test func noNamedProfileMakesADirectoryLookEmpty() {
    for profile in Profile.named {
      let errnos = profile.directoryErrnos
      let all = [errnos.refused, errnos.offline, errnos.timeout, errnos.superseded, errnos.gone, errnos.failed]
      #expect(!all.contains(.noSuchFileOrDirectory), "\(profile.name)")
    }
  }

  @Test func whatARuleNamesStaysAsItIsNamed() throws {
    var rule = Rule(name: "r", match: RuleMatch(), effects: RuleEffects())
    rule.match.kind = .file
    rule.effects.fault = Fault(.errno(.noSuchFileOrDirectory))
    let named = fixture(.windows) { $0.rules = RuleSet([rule]) }
    let answer = named.trigger(named.node("a"))
    named.lane.runAll()
    #expect(answer.errno == "ENOENT")
    rule.effects.fault = Fault(.superseded)
    let other = fixture(.windows) { $0.rules = RuleSet([rule]) }
    let superseded = other.trigger(other.node("a"))
    other.lane.runAll()
    #expect(superseded.errno == "EIO", "another version is the profile's to name")
  }

  @Test func aFullDiskStaysAFullDisk() {
    let fixture = fixture(.openvfs)
    let node = fixture.node("a")
    fixture.store.items.withLock { $0["a"]?.failure = FSError(.noSpace, "the cache is full") }
    let answer = fixture.trigger(node)
    fixture.lane.runAll()
    #expect(answer.errno == "ENOSPC")
  }

  @Test func attemptsUnderWayKeepTheErrnosTheyStartedWith() {
    let fixture = fixture(.macos) { $0.giveUpAfter = 5_000_000 }
    let node = fixture.node("a")
    var simulation = fixture.engine.simulation
    simulation.latency = LatencyModel(.fixed(60_000_000_000))
    fixture.engine.apply(simulation, restartsClock: false)
    let answer = fixture.trigger(node)
    simulation.profile = .openvfs
    fixture.engine.apply(simulation, restartsClock: false)
    fixture.timer.advance(milliseconds: 10) { fixture.lane.runAll() }
    #expect(answer.errno == "ETIMEDOUT")
    let next = fixture.trigger(node)
    fixture.timer.advance(milliseconds: 10) { fixture.lane.runAll() }
    #expect(next.errno == "ENOENT")
  }

  /// After ESTALE the kernel walks the path again and repeats the call.
  @Test func theKernelsRepeatOfAStaleOpenGetsTheSameOutcomeOnce() {
    let fixture = fixture(Self.all)
    let node = fixture.node("a")
    fixture.store.items.withLock { $0["a"]?.failure = FSError(.staleNFSFileHandle, "changed") }
    fixture.trigger(node, TriggerRequest(trigger: .open, caller: EngineFixture.caller(7)))
    fixture.lane.runAll()
    #expect(fixture.engine.repeatedFailure(node, threadID: 8) == nil)
    #expect(fixture.engine.repeatedFailure(node, threadID: 7)?.errno == .staleNFSFileHandle)
    #expect(fixture.engine.repeatedFailure(node, threadID: 7) == nil)
    // Other errnos are final.
    fixture.store.items.withLock { $0["a"]?.failure = FSError(.ioError, "broken") }
    fixture.trigger(node, TriggerRequest(trigger: .open, caller: EngineFixture.caller(7)))
    fixture.lane.runAll()
    #expect(fixture.engine.repeatedFailure(node, threadID: 7) == nil)
  }
}
