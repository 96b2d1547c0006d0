import Glibc
import Synchronization
import TestSupport
import Testing

@testable import DatalessControl
@testable import DatalessDaemon

/// Answers of a daemon that is another user's: whatever it says, the command has a result or one line about what is
/// wrong.
@Suite struct ClientFuzzTests {
  @Test(arguments: TestSeed.seeds) func answersAreUnderstoodOrRefused(seed: UInt64) throws {
    try Fuzz.run("answers", seed: seed, cases: 60) { random, note in
      let text = JSONMutation.mutated(random.element(of: FuzzSamples.wire), &random, others: FuzzSamples.wire)
      try Self.decode(VolumeStatus.self, text, note)
      try Self.decode(ItemPage.self, text, note)
      try Self.decode(TransferLine.self, text, note)
      try Self.decode(RefreshLine.self, text, note)
      try Self.decode(GateList.self, text, note)
      try Self.decode(ExplainAnswer.self, text, note)
      try Self.decode(ErrorAnswer.self, text, note)
      try Self.decode(RunAnswer.self, text, note)
    }
  }

  private static func decode<Answer: Codable & Equatable>(
    _ type: Answer.Type, _ text: [UInt8], _ note: Fuzz.Case
  ) throws {
    do throws(ControlError) {
      let answer = try WireCoding.decode(type, from: text, named: "the daemon's answer")
      let again = try WireCoding.decode(type, from: WireCoding.encode(answer), named: "it")
      #expect(again == answer, "\(note)")
    } catch {
      #expect(error.code == .malformed && isSafe(error.message), "\(note): \(TerminalText.escaped(error.message))")
    }
  }

  /// However the bytes are cut, the lines are the same.
  @Test(arguments: TestSeed.seeds) func linesDoNotDependOnHowTheyArrive(seed: UInt64) throws {
    try Fuzz.run("lines", seed: seed, cases: 300) { random, note in
      let text = ByteMutation.mutated(bytes("a\n\nbc\r\nd\n"), &random, others: FuzzSamples.logLines)
      var lines: [[UInt8]] = []
      var splitter = LineSplitter()
      var rest = text[...]
      while !rest.isEmpty {
        let piece = rest.prefix(1 + random.below(9))
        rest = rest.dropFirst(piece.count)
        try splitter.append(piece)
        while let line = splitter.next() { lines.append(line) }
      }
      let expected = text.split(separator: 0x0a, omittingEmptySubsequences: false).dropLast().map { Array($0) }
      #expect(lines == Array(expected), "\(note)")
    }
  }

  private static let streams: [[UInt8]] = [
    #"{"progress":{"files":1,"directories":0,"bytes":5}}"# + "\n" + #"{"result":{"files":1,"directories":0,"bytes":5}}"#
      + "\n",
    #"{"error":{"code":"busy","errno":"EBUSY","message":"is open"}}"# + "\n",
    ": dataless events\n\ndata: {\"v\":1,\"type\":\"mark\"}\n\ndata:{}\n\n",
  ].map { bytes($0) }

  /// Heads and bodies, whole calls over a socket: a result, or an error that can be printed.
  @Test(arguments: TestSeed.seeds) func callsEndWithAResultOrAnError(seed: UInt64) async throws {
    let mutation = TextMutation(
      separators: " :;\r",
      words: ["200", "404", "101", "204", "HTTP/1.1", "chunked", "Content-Length", "Transfer-Encoding", "0"])
    let daemon = try HostileDaemon()
    defer { daemon.end() }
    let client = ControlClient(socketPath: daemon.path, mountPoint: bytes("/m"), timeout: .seconds(20))
    let wire = FuzzSamples.wire
    try await Fuzz.runAsync("hostile daemon", seed: seed, cases: 100) { random, note in
      let body =
        random.oneIn(3)
        ? ByteMutation.mutated(random.element(of: Self.streams), &random, others: Self.streams)
        : JSONMutation.mutated(random.element(of: wire), &random, others: wire) + [0x0a]
      let status = random.element(of: ["200 OK", "422 Unprocessable", "500 Error"])
      let length = random.oneIn(3) ? "" : "Content-Length: \(body.count)\r\n"
      var head = bytes("HTTP/1.1 \(status)\r\nContent-Type: application/json\r\ndataless-request: 5\r\n\(length)\r\n")
      if random.oneIn(3) { head = mutation.mutated(head, &random) }
      daemon.answer(head + body)
      do {
        switch random.below(5) {
        case 0: _ = try await client.status()
        case 1: _ = try await client.items(ItemQuery(path: bytes("a")))
        case 2: _ = try await client.materialize([bytes("a")])
        case 3: try await client.events { _ in true }
        default: _ = try await client.refresh([bytes("a")])
        }
      } catch let error as ControlError {
        let lines = error.message.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(error.code == .invalidScenario || lines.count <= 1, "\(note): \(TerminalText.escaped(error.message))")
        #expect(lines.allSatisfy { isSafe($0) }, "\(note): \(TerminalText.escaped(error.message))")
      } catch {
        Issue.record("\(note): \(error)")
      }
    }
    await client.shutdown()
  }
}

/// Listens on a socket, and says to whoever connects what the test says, and closes.
private final class HostileDaemon: Sendable {
  let path: String
  private let directory: String
  private let descriptor: CInt
  private let text = Mutex<[UInt8]>([])

  init() throws {
    var template = Array("/tmp/dataless-test-XXXXXX".utf8CString)
    directory = String(cString: try #require(mkdtemp(&template)))
    path = directory + "/control.sock"
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    let descriptor = descriptor
    try #require(RawRequest.withAddress(path, { bind(descriptor, $0, $1) }) == 0 && listen(descriptor, 8) == 0)
    DetachedThread.start { self.serve() }
  }

  func answer(_ text: [UInt8]) { self.text.withLock { $0 = text } }

  private func serve() {
    while true {
      let connection = accept(descriptor, nil, nil)
      guard connection >= 0 else { return }
      var buffer = [UInt8](repeating: 0, count: 64 << 10)
      _ = read(connection, &buffer, buffer.count)
      let answer = text.withLock { $0 }
      _ = answer.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      close(connection)
    }
  }

  func end() {
    shutdown(descriptor, Int32(SHUT_RDWR))
    close(descriptor)
    unlink(path)
    rmdir(directory)
  }
}
