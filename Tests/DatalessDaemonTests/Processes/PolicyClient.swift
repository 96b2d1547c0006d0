import DatalessCore
import Glibc

@testable import DatalessDaemon

/// The program of Clients/policy.c, which uses the library as it is told.
final class PolicyClient {
  enum Scope: Int32 {
    case process = 0
    case thread = 1
  }

  enum Policy: Int32 {
    case unset = 0
    case off = 1
    case on = 2
  }

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  private let child: ChildProcess
  /// Of whoever does what it is told now: children take over.
  private(set) var pid: Int32 = 0
  private(set) var tid: Int32 = 0

  /// - Parameters:
  ///   - shell: Runs before the program, in a shell that becomes the program.
  ///   - prefix: A command that runs the program.
  init(shell: String = "", prefix: String = "") throws {
    let program = try Self.program.get()
    child = try ChildProcess(script: "\(shell)\nexec \(prefix) '\(program)'")
    try meet()
  }

  /// The answer to one line.
  func tell(_ line: String, thread: Int = 0) throws -> String {
    child.send("\(thread) \(line)\n")
    guard let answer = child.readLine() else { throw Failure(description: "no answer to '\(thread) \(line)'") }
    return answer
  }

  func set(_ scope: Scope, _ policy: Policy, thread: Int = 0) throws -> String {
    try tell("set 3 \(scope.rawValue) \(policy.rawValue)", thread: thread)
  }

  func get(_ scope: Scope, thread: Int = 0) throws -> String { try tell("get 3 \(scope.rawValue)", thread: thread) }

  /// What the daemon would learn of the thread that does what it is told.
  var policy: CallerPolicy { PolicyProbe.policy(threadID: tid) }

  /// A new thread's id.
  func newThread(as wanted: Int32? = nil) throws -> Int32 {
    let answer = try tell(wanted.map { "new-as \($0)" } ?? "new")
    guard let id = Self.numbers(answer).last else { throw Failure(description: "no thread: \(answer)") }
    return id
  }

  /// Somebody else does from here on what it is told: a child, or the program after an exec.
  func takeOver(_ verb: String, thread: Int = 0) throws {
    child.send("\(thread) \(verb)\n")
    try meet()
  }

  /// The program becomes a command that prints the id of the process to look at, and then waits.
  func become(_ command: String) throws -> Int32 {
    child.send("0 become exec \(command)\n")
    guard let id = child.readLine().flatMap({ Int32($0) }) else { throw Failure(description: "no id from: \(command)") }
    return id
  }

  func killAndWait() {
    kill(pid, SIGKILL)
    child.waitForExit()
  }

  private func meet() throws {
    let numbers = Self.numbers(child.readLine() ?? "")
    guard numbers.count == 2 else { throw Failure(description: "the client did not announce itself") }
    (pid, tid) = (numbers[0], numbers[1])
  }

  private static func numbers(_ line: String) -> [Int32] { line.split(separator: " ").compactMap { Int32($0) } }

  /// Compiled once for each run of the tests.
  private static let program: Result<String, any Error> = Result {
    let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4).joined(separator: "/")
    // Where every user may run it.
    let script = """
      cd '\(root)' && target=$(mktemp /tmp/dataless-policy-client.XXXXXX) && cc -std=gnu11 -O1 -Wall -Wextra -Werror \
      -ISources/CDataless/include -o "$target" Tests/DatalessDaemonTests/Clients/policy.c \
      Sources/CDataless/cdataless.c -lpthread >&2 && chmod 755 "$target" && echo "$target"
      """
    guard let target = try ChildProcess(script: script).readLine() else {
      throw Failure(description: "cannot compile the client: see standard error")
    }
    atexit { if case .success(let target) = PolicyClient.program { unlink(target) } }
    return target
  }
}
