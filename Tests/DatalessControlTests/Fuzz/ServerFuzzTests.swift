import Glibc
import TestSupport
import Testing

@testable import DatalessControl
@testable import DatalessDaemon

/// HTTP as nobody writes it, on the control socket: answered with a status, or cut off; the next one is served.
@Suite struct ServerFuzzTests {
  private static let requests: [[UInt8]] = ControlRoute.allCases.filter { $0 != .unmount && $0 != .events }.map {
    route in
    let body = bodies[route] ?? ""
    let query = route.queryParameters.map { "\($0)=1" }.joined(separator: "&")
    return bytes(
      "\(route.method) \(route.path)\(query.isEmpty ? "" : "?" + query) HTTP/1.1\r\nHost: dataless\r\n"
        + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)")
  }

  private static let bodies: [ControlRoute: String] = [
    .materialize: #"{"paths":[{"path":"a"}]}"#, .evict: #"{"paths":[{"path":"a","path_b64":"YQ=="}],"stop":true}"#,
    .refresh: #"{"paths":[{"path":""}]}"#, .mark: #"{"label":"x"}"#, .interrupt: #"{"request":1}"#,
    .releaseGate: #"{"gate":"g","count":1,"errno":"EIO"}"#, .openGate: #"{"gate":"g"}"#, .closeGate: #"{"gate":"g"}"#,
    .waitForGate: #"{"gate":"g","callers":1,"timeout_ms":5}"#, .changeSettings: #"{"settings":{"latency":"1s"}}"#,
    .addRule: #"{"rule":{"match":{"path":"*"},"latency":"1s"},"position":"last"}"#, .replaceScenario: "latency: 1s\n",
    .runFinished: #"{"exit_status":0}"#,
  ]

  private static let mutation = TextMutation(
    separators: " :/?&=\r",
    words: [
      "GET", "POST", "PUT", "DELETE", "OPTIONS", "HTTP/1.0", "HTTP/2.0", "HTTP/1.1", "Content-Length",
      "Transfer-Encoding",
      "chunked", "Expect", "100-continue", "Upgrade", "h2c", "Connection", "keep-alive", "close", "/v1/status", "*",
      "http://x/v1/status", "dataless-by", "command", "ffffffffffffffff\r\n", "-5", "0\r\n\r\n",
    ])

  @Test(arguments: TestSeed.seeds) func theSocketAnswersOrCloses(seed: UInt64) async throws {
    try await ControlServerTests.with { _, _, client, path in
      try await Fuzz.runAsync("HTTP", seed: seed, cases: 150) { random, note in
        var text = Self.mutation.mutated(random.element(of: Self.requests), &random)
        if random.oneIn(3) { text = ByteMutation.mutated(text, &random, others: Self.requests) }
        if random.oneIn(4) { text += random.element(of: Self.requests) }
        let answer = try Self.send(text, to: path)
        #expect(answer.isEmpty || answer.starts(with: bytes("HTTP/1.1 ")), "\(note): \(TerminalText.escaped(text))")
        if note.number % 16 == 0 { #expect(try await client.status() == WireSamples.status, "\(note)") }
      }
      #expect(try await client.status() == WireSamples.status)
    }
  }

  /// Sends all, says that no more comes, and reads to the end.
  private static func send(_ text: [UInt8], to path: String) throws -> [UInt8] {
    let descriptor = try RawRequest.open("", to: path)
    defer { close(descriptor) }
    // The server may have closed by now: what it said before can be read all the same.
    _ = text.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    shutdown(descriptor, Int32(SHUT_WR))
    var answer: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while case let count = read(descriptor, &buffer, buffer.count), count > 0 { answer += buffer[..<count] }
    return answer
  }
}
