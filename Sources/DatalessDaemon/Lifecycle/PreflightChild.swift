import DatalessControl
import Glibc

/// Runs `MountPreflight` in a child that can be left behind: a SOURCE that hangs must not keep the command.
public struct PreflightChild: Sendable {
  /// One line of the child's report.
  enum Line: Codable {
    /// The path that is looked at next.
    case looking(at: [UInt8])
    case answer(PreflightAnswer)
  }

  private let executable: [UInt8]
  private let arguments: [[UInt8]]
  private let timeLimitSeconds: Int

  /// - Parameters:
  ///   - executable: Default: this program.
  ///   - timeLimitSeconds: How long the checks may take, at least 1. Default 10.
  public init(executable: [UInt8]? = nil, arguments: [[UInt8]]? = nil, timeLimitSeconds: Int = 10) {
    self.executable = executable ?? HelperProcess.ownExecutable()
    self.arguments = arguments ?? ["dataless", "mount", "(checks)"].map { Array($0.utf8) }
    self.timeLimitSeconds = timeLimitSeconds
  }

  /// - Throws: `LifecycleError` with status 4, naming the path that did not answer, when the time is up.
  public func inspect(_ request: PreflightRequest) throws -> PreflightAnswer {
    let line = try WireCoding.encode(request) + [UInt8(ascii: "\n")]
    signal(SIGPIPE, SIG_IGN)
    let helper = try HelperProcess.spawn(
      role: InternalEntryPoint.preflightRole, executable: executable, arguments: arguments)
    defer { helper.closePipes() }
    _ = helper.send(line)
    let deadline = Deadline(milliseconds: timeLimitSeconds * 1000)
    var received: [UInt8] = []
    var path: [UInt8] = request.mountpoint
    while true {
      guard !DescriptorIO.waitReadable([helper.output], until: deadline).isEmpty else {
        helper.abandon()
        throw LifecycleError(
          "cannot mount: \(ErrorText.quoted(path)) does not answer within \(timeLimitSeconds) s (ETIMEDOUT). "
            + "Check what it is mounted from (findmnt -T), or give another path.", exitCode: 4)
      }
      guard let bytes = DescriptorIO.readSome(helper.output), !bytes.isEmpty else { break }
      received += bytes
      while let end = received.firstIndex(of: UInt8(ascii: "\n")) {
        let line = try WireCoding.decode(Line.self, from: Array(received[..<end]), named: "the preflight's report")
        received.removeSubrange(...end)
        switch line {
        case .looking(let next): path = next
        case .answer(let answer):
          _ = CommandOutcome(waitingFor: helper.pid)
          return answer
        }
      }
    }
    let words = CommandOutcome(waitingFor: helper.pid)?.words ?? CommandOutcome.lostWords
    throw LifecycleError(
      "cannot mount: the checks ended without an answer (\(words)). "
        + "Try again; if it stays, report it with the output of dataless --version.")
  }

  /// The child's part: reads one request, reports what it looks at, then the answer.
  static func serve(input: CInt, output: CInt) -> Int32 {
    guard let line = DescriptorIO.readLine(input),
      let request = try? WireCoding.decode(PreflightRequest.self, from: line, named: "the preflight request")
    else { return 1 }
    func report(_ line: Line) -> Bool {
      guard let bytes = try? WireCoding.encode(line) else { return false }
      return DescriptorIO.write(bytes + [UInt8(ascii: "\n")], to: output)
    }
    let answer = MountPreflight.inspect(request) { _ = report(.looking(at: $0)) }
    return report(.answer(answer)) ? 0 : 1
  }
}
