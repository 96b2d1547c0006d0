import DatalessCore
import Glibc
import Synchronization
import SystemPackage
import Testing

@testable import DatalessControl
@testable import DatalessDaemon

/// The client against the server over a real socket, with a volume that is only pretended.
@Suite struct ControlServerTests {
  static func with(
    allowedUserIDs: Set<UInt32>? = nil, timeout: Duration = .seconds(20),
    _ body: (FakeBackend, ControlServer, ControlClient, String) async throws -> Void
  ) async throws {
    var template = Array("/tmp/dataless-test-XXXXXX".utf8CString)
    let directory = String(cString: try #require(mkdtemp(&template)))
    defer { rmdir(directory) }
    let backend = FakeBackend()
    let path = "\(directory)/control.sock"
    let server = ControlServer(backend: backend, socketPath: path, allowedUserIDs: allowedUserIDs)
    try await server.start()
    let client = ControlClient(socketPath: path, mountPoint: bytes("/mnt"), timeout: timeout)
    do {
      try await body(backend, server, client, path)
    } catch {
      Issue.record(error)
    }
    await client.shutdown()
    await server.stop()
    #expect(access(path, F_OK) != 0)
  }

  private func failure<Value>(_ body: () async throws -> Value) async -> ControlError? {
    do {
      _ = try await body()
      return nil
    } catch {
      return error as? ControlError
    }
  }

  @Test func answersComeBackAsTheyWereSent() async throws {
    try await Self.with { backend, _, client, _ in
      #expect(try await client.status() == WireSamples.status)
      #expect(try await client.mark("half way").seq == 17)
      #expect(backend.labels == ["half way"])
      #expect(try await client.flushLog() == FlushAnswer(log: bytes("/l"), lost: 2))
      let answer = try await client.runFinished(RunFinishedRequest(signal: "SIGKILL"))
      #expect(answer.budget.files == 1)
      #expect(backend.runs == [RunFinishedRequest(signal: "SIGKILL")])
    }
  }

  @Test func pathsAndCursorsSurviveTheQuery() async throws {
    try await Self.with { backend, _, client, _ in
      let path: [UInt8] = bytes("a b/%+&=?#") + [0xff, 0x0a]
      let page = try await client.items(ItemQuery(path: path, recursive: true, limit: 7))
      #expect(page.items.first?.pathBytes == path)
      _ = try await client.items(ItemQuery(path: [], after: page.next))
      #expect(
        backend.queries == [
          ItemQuery(path: path, recursive: true, after: nil, limit: 7), ItemQuery(path: [], after: "a+b/c ="),
        ])
    }
  }

  @Test func errorsKeepTheirErrno() async throws {
    try await Self.with { _, _, client, _ in
      let missing = await failure { try await client.items(ItemQuery(path: bytes("missing"))) }
      #expect(missing?.code == .remote)
      #expect(missing?.errno == .noSuchFileOrDirectory)
      #expect(missing?.message == "there is no such item")
      for path in ["/absolute", "a//b", "a/../b", ".", "a/"] {
        #expect(await failure { try await client.items(ItemQuery(path: bytes(path))) }?.errno == .invalidArgument)
      }
      #expect(await failure { try await client.items(ItemQuery(path: [], limit: 0)) }?.errno == .invalidArgument)
      #expect(await failure { try await client.materialize([]) }?.errno == .invalidArgument)
      #expect(await failure { try await client.mark("") }?.errno == .invalidArgument)
      #expect(await failure { try await client.mark(String(repeating: "x", count: 1_025)) }?.errno == .invalidArgument)
    }
  }

  @Test func materializeTellsHowFarItIs() async throws {
    try await Self.with { backend, _, client, _ in
      let progress = Mutex<[Int64]>([])
      let result = try await client.materialize([bytes("a"), [0xff]]) { line in
        progress.withLock { $0.append(line.files) }
      }
      #expect(progress.withLock { $0 } == [1, 2, 3])
      #expect(result.files == 3)
      #expect(result.failures.first?.pathBytes == [0xff])
      #expect(backend.paths == [bytes("a"), [0xff]])
      let broken = await failure { try await client.materialize([bytes("broken")]) }
      #expect(broken?.errno == .ioError)
      #expect(try await client.evict([[]]).refused?.errno == "EBUSY")
      _ = try await client.evict([[]], stops: true)
      #expect(backend.orders == ["evict goes on", "evict stops"])
      #expect(try await client.pin([[]]).files == 1)
      _ = try await client.pin([[]], policy: "lazy-and-evict")
      _ = try await client.unpin([[]])
      #expect(try await client.press(5).bytes == 5)
      #expect(backend.orders.suffix(4) == ["pin eager", "pin lazy-and-evict", "unpin", "press 5"])
      #expect(try await client.capacity() == WireSamples.capacity)
      #expect(try await client.coordination() == WireSamples.coordination)
      #expect(try await client.inventory([]) == WireSamples.inventory)
      _ = try await client.inventory(Array("a".utf8), since: "x")
      #expect(backend.orders.suffix(2) == ["inventory  since the mount", "inventory a since x"])
      #expect(try await client.remove([[1]]).items == 1)
      #expect(backend.orders.last == "remove by us")
      #expect(try await client.reset() == WireSamples.reset)
      #expect(backend.orders.last == "reset by command")
    }
  }

  @Test func manyPathsInOneRequest() async throws {
    try await Self.with { backend, _, client, _ in
      let paths = (0..<20_000).map { bytes("some/directory/with/a/name/\($0)") }
      _ = try await client.evict(paths)
      #expect(backend.paths == paths)
    }
  }

  @Test func bodiesHaveALimit() async throws {
    try await Self.with { _, _, client, _ in
      let name = [UInt8](repeating: UInt8(ascii: "x"), count: 200)
      let paths = [[UInt8]](repeating: name, count: ControlRoute.requestBodyBytesMax / 200)
      let error = await failure { try await client.evict(paths) }
      #expect(error?.errno == .fileTooLarge || error?.code == .daemonNotRunning)
    }
  }

  @Test func eventsComeLineByLine() async throws {
    try await Self.with { backend, _, client, _ in
      backend.eventStream.continuation.yield(bytes(#"{"seq":1}"#))
      backend.eventStream.continuation.yield(bytes(#"{"seq":2,"path":"gr\u00fcn"}"#))
      backend.eventStream.continuation.finish()
      var lines: [[UInt8]] = []
      var isOpen = false
      try await client.events(onOpen: { isOpen = true }) { line in
        lines.append(line)
        return true
      }
      #expect(isOpen)
      #expect(lines == [bytes(#"{"seq":1}"#), bytes(#"{"seq":2,"path":"gr\u00fcn"}"#)])
    }
  }

  @Test func stoppingCutsStreamsAndHeldRequests() async throws {
    try await Self.with { backend, server, client, _ in
      async let events: Void = client.events { _ in true }
      async let held = failure { try await client.materialize([bytes("hold")]) }
      for await _ in backend.held.stream { break }
      await server.stop()
      _ = try? await events
      let ended = await held
      #expect(ended?.code == .daemonNotRunning)
      let refused = await failure { try await client.status() }
      #expect(refused?.code == .daemonNotRunning)
      backend.hold.continuation.finish()
    }
  }

  @Test func unmountAnswersBeforeItBegins() async throws {
    try await Self.with { backend, _, client, _ in
      let answer = try await client.unmount()
      #expect(answer.pid == getpid())
      for await _ in backend.unmounted.stream { break }
    }
  }

  @Test func otherUsersAreRefused() async throws {
    try await Self.with(allowedUserIDs: [geteuid() + 1]) { _, _, client, _ in
      let error = await failure { try await client.status() }
      #expect(error?.errno == .notPermitted)
      #expect(error?.message.contains("only its own user and root") == true)
    }
  }

  @Test func theSocketIsForItsUserOnly() async throws {
    try await Self.with { _, _, _, path in
      var status = stat()
      #expect(lstat(path, &status) == 0)
      #expect(status.st_mode & 0o777 == 0o600)
    }
  }

  @Test func withoutADaemonThereIsNoVolume() async throws {
    let client = ControlClient(socketPath: "/tmp/dataless-test-nowhere/control.sock", mountPoint: bytes("/mnt"))
    let error = await failure { try await client.status() }
    #expect(error?.code == .daemonNotRunning)
    #expect(error?.message.contains("dataless unmount /mnt") == true)
    await client.shutdown()
  }

  @Test func aDaemonThatDoesNotAnswerTimesOut() async throws {
    // A socket that listens and never accepts: what a stopped daemon looks like.
    var template = Array("/tmp/dataless-test-XXXXXX".utf8CString)
    let directory = String(cString: try #require(mkdtemp(&template)))
    let listener = try ListeningSocket(path: "\(directory)/s")
    let client = ControlClient(socketPath: "\(directory)/s", mountPoint: bytes("/mnt"), timeout: .milliseconds(200))
    #expect(await failure { try await client.status() }?.code == .timedOut)
    await client.shutdown()
    listener.close()
    rmdir(directory)
  }

  /// What another user's program can do to root's command: begin an answer and fall silent.
  @Test(arguments: ["200 OK", "500 Internal Server Error"])
  func anAnswerThatStopsInTheMiddleTimesOut(status: String) async throws {
    var template = Array("/tmp/dataless-test-XXXXXX".utf8CString)
    let directory = String(cString: try #require(mkdtemp(&template)))
    let listener = try ListeningSocket(path: "\(directory)/s")
    listener.answerOnce("HTTP/1.1 \(status)\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{")
    let client = ControlClient(socketPath: "\(directory)/s", mountPoint: bytes("/mnt"), timeout: .milliseconds(500))
    #expect(await failure { try await client.status() }?.code == .timedOut)
    await client.shutdown()
    listener.close()
    rmdir(directory)
  }

  @Test func unknownCallsAreNamed() async throws {
    try await Self.with { _, _, _, path in
      let missing = try RawRequest.send("GET /v2/status HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", to: path)
      #expect(missing.hasPrefix("HTTP/1.1 404"))
      #expect(missing.contains(#""code":"not_found""#))
      let wrong = try RawRequest.send("DELETE /v1/status HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", to: path)
      #expect(wrong.hasPrefix("HTTP/1.1 405"))
      #expect(wrong.lowercased().contains("\r\nallow: get\r\n"))
      for (target, name) in [("/v1/items?pth=a", "pth"), ("/v1/status?x", "x"), ("/v1/items?path=a&path=b", "path")] {
        let refused = try RawRequest.send("GET \(target) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", to: path)
        #expect(refused.hasPrefix("HTTP/1.1 400") && refused.contains("`\(name)` is"))
      }
      let named = try RawRequest.send(
        "GET /v1/items?path=a%20b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", to: path)
      #expect(named.hasPrefix("HTTP/1.1 200") && named.contains(#""path":"a b""#))
      let body = "{\"paths\":7}"
      let malformed = try RawRequest.send(
        "POST /v1/evict HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)",
        to: path)
      #expect(malformed.hasPrefix("HTTP/1.1 400"))
      #expect(malformed.contains("`paths` has the wrong type"))
      #expect(try RawRequest.send("nonsense\r\n\r\n", to: path).hasPrefix("HTTP/1.1 400"))
    }
  }

  /// Inside of a body as at its top, and only keys that are known: schemathesis found null taken for absent.
  @Test(
    arguments: [
      (
        #"{"exit_status":0,"children":{"waited_ns":0,"end":"x","left":[{"process":{"pid":1},"ended":false,"holds":null}],"left_count":0,"not_looked_at":0,"outsiders":[]}}"#,
        "holds"
      ),
      (
        #"{"children":{"waited_ns":0,"end":"x","left":[{"process":{"pid":1,"comm":null},"ended":false}],"left_count":0,"not_looked_at":0,"outsiders":[]}}"#,
        "comm"
      ),
      (#"{"children":null}"#, "children"), (#"{"exit_status":null}"#, "exit_status"),
      (
        #"{"children":{"waited_ns":0,"end":"x","left":[],"left_count":0,"not_looked_at":0,"outsiders":[],"later":{"holds":null}}}"#,
        nil
      ),
    ] as [(String, String?)])
  func nullIsRefusedByName(body: String, key: String?) throws {
    func decode() throws(ControlError) -> RunFinishedRequest {
      try WireCoding.decode(StrictRequest<RunFinishedRequest>.self, from: bytes(body), named: "the request").body
    }
    guard let key else {
      _ = try decode()
      return
    }
    #expect { try decode() } throws: { ("\($0)").contains("`\(key)`") && "\($0)".contains("null") }
  }
}
