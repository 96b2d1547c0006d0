import DatalessCore
import Glibc
import Testing

@testable import DatalessDaemon

/// The edges of what the library takes, and of whom the daemon may look at.
@Suite struct PolicyLimitTests {
  @Test func defaultOfAProcessMeansOffAsOnMacOS() throws {
    let client = try PolicyClient()
    #expect(try client.set(.process, .unset) == "0")
    #expect(try client.get(.process) == "1")
    #expect(client.policy == CallerPolicy(thread: nil, process: false))
  }

  /// Type, scope, policy.
  @Test(arguments: ["2 0 1", "0 0 1", "-1 1 1", "3 2 1", "3 -1 1", "3 3 1", "3 0 3", "3 0 -1", "3 1 3", "3 1 -1"])
  func wrongArgumentsAreEINVALAndChangeNothing(arguments: String) throws {
    let client = try PolicyClient()
    #expect(try client.set(.process, .on) == "0" && client.set(.thread, .on) == "0")
    #expect(try client.tell("set \(arguments)") == "EINVAL")
    #expect(client.policy == CallerPolicy(thread: true, process: true))
  }

  @Test(arguments: ["2 0", "3 2", "3 -1", "-3 1"])
  func askingWronglyIsEINVAL(arguments: String) throws {
    #expect(try PolicyClient().tell("get \(arguments)") == "EINVAL")
  }

  /// A program that closes descriptors it does not know drops its threads' policies, and is told so when it asks.
  @Test func aProgramThatClosesEverythingCanSetItsPolicyAgain() throws {
    let client = try PolicyClient()
    #expect(try client.set(.thread, .off) == "0")
    _ = try client.tell("close-all")
    #expect(client.policy == .unset)
    #expect(try client.get(.thread) == "0")
    #expect(try client.set(.thread, .off) == "0")
    #expect(client.policy == CallerPolicy(thread: false, process: nil))
    #expect(try client.get(.thread) == "1")
  }

  @Test func aLoweredHardLimitIsEPERM() throws {
    let client = try PolicyClient(prefix: "prlimit --locks=1000:1000")
    #expect(try client.set(.process, .off) == "EPERM")
    #expect(client.policy == .unset)
    #expect(try client.get(.process) == "2")
    #expect(try client.set(.thread, .off) == "0")
    #expect(client.policy == CallerPolicy(thread: false, process: nil))
  }

  /// Interpreters leave limits alone, and the pipes and descriptors they close are not what carries the policy.
  @Test(arguments: [
    ("python3", #"python3 -c 'import subprocess; subprocess.run(["sh", "-c", "echo $$; read line"])'"#),
    ("python3", #"python3 -c 'import os; os.closerange(3, 999); print(os.getpid(), flush=True); input()'"#),
    ("node", #"node -e 'child_process.spawnSync("sh", ["-c", "echo $$; read line"], {stdio: "inherit"})'"#),
    ("perl", #"perl -e 'system("sh", "-c", q(echo $$; read line))'"#),
    ("setsid", "setsid --wait sh -c 'echo $$; read line'"),
  ])
  func interpretersPassAProcessPolicyOn(program: String, command: String) throws {
    guard try ChildProcess(script: "command -v \(program)").readLine() != nil else { return }
    let client = try PolicyClient()
    #expect(try client.set(.process, .off) == "0")
    let pid = try client.become(command)
    #expect(PolicyProbe.policy(threadID: pid) == CallerPolicy(thread: nil, process: false))
  }

  @Test(.enabled(if: geteuid() == 0))
  func anOrdinaryUsersDaemonSeesItsOwnAndOtherUsersPolicies() throws {
    let user: UInt32 = 65534
    let own = try PolicyClient(prefix: "setpriv --reuid \(user) --regid \(user) --clear-groups")
    let foreign = try PolicyClient()
    for client in [own, foreign] {
      #expect(try client.set(.process, .off) == "0" && client.set(.thread, .on) == "0")
      let tid = client.tid
      let seen = UnprivilegedThread.value(uid: user, gid: user) { PolicyProbe.policy(threadID: tid) }
      #expect(seen == CallerPolicy(thread: true, process: false))
    }
  }

  @Test(
    arguments: [
      ("Limit   Soft  Hard  Units\nMax file locks            42                   unlimited            locks\n", 42),
      ("Max file locks            4918304907494511361  4918304907494511361  locks     \n", 4_918_304_907_494_511_361),
      ("Max file locks            unlimited            unlimited            locks     \n", nil),
      ("Max file size             42                   unlimited            bytes     \n", nil),
      ("Max file locks", nil), ("", nil),
    ] as [(String, UInt64?)])
  func theLimitOfLocksIsReadFromText(text: String, expected: UInt64?) {
    let bytes = Array(text.utf8)
    #expect(bytes.withUnsafeBufferPointer { PolicyProbe.softLockLimit($0) } == expected)
  }
}
