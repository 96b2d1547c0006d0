import DatalessCore
import Glibc
import Testing

@testable import DatalessDaemon

/// What programs set with the library, and what the daemon learns of it, held against each other (docs/POLICY.md).
@Suite struct PolicyProbeTests {
  static let isRoot = geteuid() == 0
  static let canChooseThreadIDs = isRoot && access("/proc/sys/kernel/ns_last_pid", W_OK) == 0

  @Test func nothingIsSetAtFirst() throws {
    let client = try PolicyClient()
    #expect(client.policy == .unset)
    #expect(try client.get(.process) == "2")
    #expect(try client.get(.thread) == "0")
    #expect(PolicyProbe.policy(threadID: 0) == .unset)
    #expect(PolicyProbe.policy(threadID: Int32.max) == .unset)
  }

  @Test func aProcessPolicyIsThatOfAllItsThreads() throws {
    let client = try PolicyClient()
    let other = try client.newThread()
    #expect(try client.set(.process, .off) == "0")
    let later = try client.newThread()
    for thread in [client.tid, other, later] {
      #expect(PolicyProbe.policy(threadID: thread) == CallerPolicy(thread: nil, process: false))
    }
    #expect(try client.get(.process, thread: 1) == "1")
    #expect(try client.set(.process, .on, thread: 1) == "0")
    for thread in [client.tid, other, later] {
      #expect(PolicyProbe.policy(threadID: thread) == CallerPolicy(thread: nil, process: true))
    }
    #expect(try client.get(.process) == "2")
  }

  /// `fork-twice`: the process between is gone, so nobody could be asked for its policy any more.
  @Test(arguments: ["fork", "clone", "fork-twice", "exec"])
  func aProcessPolicyIsInherited(verb: String) throws {
    for (policy, expected) in [(PolicyClient.Policy.off, false), (.on, true)] {
      let client = try PolicyClient()
      #expect(try client.set(.process, policy) == "0")
      try client.takeOver(verb)
      #expect(client.policy == CallerPolicy(thread: nil, process: expected))
      #expect(try client.get(.process) == "\(policy.rawValue)")
      try client.takeOver("exec")
      #expect(client.policy == CallerPolicy(thread: nil, process: expected))
    }
  }

  /// A program may hold locks of its own on that file, also where a policy would be.
  @Test func aLockThatMeansNoPolicyIsNoneToTheProgramEither() throws {
    let client = try PolicyClient()
    #expect(try client.set(.thread, .on) == "0")
    #expect(try client.set(.thread, .unset) == "0")
    let ticks = try #require(ProcessSnapshot(client.tid)?.startTicks)
    #expect(try client.tell("pretend \(client.tid) \(ticks) 3") == "0")
    #expect(try client.get(.thread) == "0")
    #expect(client.policy.thread == nil)
  }

  @Test func threadsOfAProcessHaveTheirOwnPolicies() throws {
    let client = try PolicyClient()
    #expect(try client.set(.process, .on) == "0")
    let threads = try [client.tid, client.newThread(), client.newThread()]
    #expect(try client.set(.thread, .off, thread: 1) == "0")
    #expect(try client.set(.thread, .on, thread: 2) == "0")
    #expect(threads.map { PolicyProbe.policy(threadID: $0).thread } == [nil, false, true])
    #expect(threads.allSatisfy { PolicyProbe.policy(threadID: $0).process == true })
    #expect(try (0..<3).map { try client.get(.thread, thread: $0) } == ["0", "1", "2"])
    // Changed, and changed back: each replaces what was before.
    for policy in [PolicyClient.Policy.on, .off, .on, .off] {
      #expect(try client.set(.thread, policy, thread: 1) == "0")
      #expect(threads.map { PolicyProbe.policy(threadID: $0).thread } == [nil, policy == .on, true])
    }
    #expect(try client.set(.thread, .unset, thread: 1) == "0")
    #expect(threads.map { PolicyProbe.policy(threadID: $0).thread } == [nil, nil, true])
    #expect(try client.get(.thread, thread: 1) == "0")
  }

  @Test func aNewThreadHasNoPolicyOfItsMaker() throws {
    let client = try PolicyClient()
    #expect(try client.set(.thread, .off) == "0")
    let thread = try client.newThread()
    #expect(PolicyProbe.policy(threadID: thread) == .unset)
    #expect(try client.get(.thread, thread: 1) == "0")
    #expect(client.policy.thread == false)
  }

  /// From the first thread and from another one, which becomes the first by fork or exec.
  @Test(arguments: ["fork", "clone", "fork-twice", "exec"], [0, 1])
  func aThreadPolicyIsNotInherited(verb: String, thread: Int) throws {
    let client = try PolicyClient()
    let other = try client.newThread()
    let parent = client.tid
    #expect(try client.set(.thread, .off, thread: thread) == "0")
    try client.takeOver(verb, thread: thread)
    #expect(client.policy == .unset)
    #expect(try client.get(.thread) == "0")
    if verb == "fork" || verb == "clone" {
      #expect(PolicyProbe.policy(threadID: thread == 0 ? parent : other).thread == false)
    }
    #expect(try client.set(.thread, .on) == "0")
    #expect(client.policy == CallerPolicy(thread: true, process: nil))
  }

  @Test func aThreadsPolicyEndsWithIt() throws {
    let client = try PolicyClient()
    let thread = try client.newThread()
    #expect(try client.set(.thread, .off, thread: 1) == "0")
    let ticks = try #require(ProcessTable.startTicks(of: thread))
    #expect(PolicyProbe.policy(threadID: thread).thread == false)
    #expect(try client.tell("end", thread: 1) == "ended")
    #expect(PolicyProbe.policy(threadID: thread) == .unset)
    // Nor is anything left behind that a thread with the same id and the same start could meet.
    #expect(PolicyProbe.policy(threadID: thread, startTicks: ticks) == .unset)
  }

  /// Record locks of a process: each look of a daemon goes through all of them.
  private static func locks(of pid: Int32) throws -> String? {
    try ChildProcess(script: "grep -c ' POSIX .* READ  *\(pid) ' /proc/locks").readLine()
  }

  /// The same that cover one byte, which is what tells the policy (cdataless_carrier.h).
  private static func locksOfOneByte(of pid: Int32) throws -> String? {
    try ChildProcess(script: #"grep -c ' POSIX .* READ  *\#(pid) .* \([0-9][0-9]*\) \1$' /proc/locks"#).readLine()
  }

  @Test func aThreadHasOneLockHoweverOftenItChangesAndNoneWhenItHasEnded() throws {
    let client = try PolicyClient()
    _ = try client.newThread()
    #expect(try Self.locks(of: client.pid) == "0")
    for policy in [PolicyClient.Policy.on, .off, .on, .off] {
      #expect(try client.set(.thread, policy, thread: 1) == "0")
      #expect(try Self.locks(of: client.pid) == "1")
      #expect(try Self.locksOfOneByte(of: client.pid) == "1", "and no policy beside it")
    }
    #expect(try client.tell("end", thread: 1) == "ended")
    #expect(try Self.locks(of: client.pid) == "0")
  }

  @Test func aCallThatSucceedsLeavesErrnoAlone() throws {
    let client = try PolicyClient()
    for scope in [PolicyClient.Scope.thread, .process] {
      #expect(try client.tell("errno 3 \(scope.rawValue) 1") == "77")
    }
    #expect(try client.tell("errno 3 0 9") == "\(EINVAL)")
  }

  /// `vanish` is the end without destructors, after which the library's mark is still there.
  @Test(.enabled(if: PolicyProbeTests.canChooseThreadIDs), arguments: ["end", "vanish"])
  func aThreadWithTheIDOfADeadOneHasNoPolicy(verb: String) throws {
    // Another process of a busy machine may take the id first, and then keep it.
    var found: (PolicyClient, Int32)?
    for _ in 0..<100 where found == nil { found = try? Self.successor(verb: verb) }
    let (client, thread) = try #require(found)
    #expect(PolicyProbe.policy(threadID: thread) == .unset)
    #expect(try client.get(.thread, thread: 2) == "0")
    #expect(try client.set(.thread, .on, thread: 2) == "0")
    #expect(PolicyProbe.policy(threadID: thread).thread == true)
    #expect(try client.get(.thread, thread: 2) == "2")
  }

  /// A client whose thread 2 has the id of its thread 1, which had a policy and has ended.
  private static func successor(verb: String) throws -> (PolicyClient, Int32) {
    let client = try PolicyClient()
    let first = try client.newThread()
    let ticks = try #require(ProcessTable.startTicks(of: first))
    #expect(try client.set(.thread, .off, thread: 1) == "0")
    #expect(try client.tell(verb, thread: 1) == "ended")
    // Time in /proc has steps of 10 ms: who starts in the same one would have to have gone round all ids.
    var now = ticks
    while now <= ticks {
      let later = try PolicyClient()
      now = try withExtendedLifetime(later) { try #require(ProcessTable.startTicks(of: later.tid)) }
    }
    guard try client.newThread(as: first) == first else { throw PolicyClient.Failure(description: "the id is taken") }
    return (client, first)
  }

  @Test func aKilledProcessLeavesNoPolicy() throws {
    let client = try PolicyClient()
    #expect(try client.set(.thread, .off) == "0" && client.set(.process, .off) == "0")
    let ticks = try #require(ProcessTable.startTicks(of: client.tid))
    #expect(client.policy == CallerPolicy(thread: false, process: false))
    client.killAndWait()
    #expect(client.policy == .unset)
    #expect(PolicyProbe.policy(threadID: client.tid, startTicks: ticks) == .unset)
  }

  @Test func knownStartTicksAreEnoughAndWrongOnesAreNobodys() throws {
    let client = try PolicyClient()
    #expect(try client.set(.thread, .off) == "0")
    let ticks = try #require(ProcessTable.startTicks(of: client.tid))
    #expect(PolicyProbe.policy(threadID: client.tid, startTicks: ticks).thread == false)
    #expect(PolicyProbe.policy(threadID: client.tid, startTicks: ticks + 1).thread == nil)
  }

  @Test func aProcessSpeaksForItsOwnThreadsOnly() throws {
    let victim = try PolicyClient()
    let stranger = try PolicyClient()
    let ticks = try #require(ProcessTable.startTicks(of: victim.tid))
    #expect(try stranger.tell("pretend \(victim.tid) \(ticks) 1") == "0")
    #expect(victim.policy == .unset)
    #expect(try victim.get(.thread) == "0")
  }
}
