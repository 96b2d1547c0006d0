import DatalessCore
import SystemPackage
import Testing

@testable import DatalessControl
@testable import DatalessDaemon

/// Gates and the scenario over a real socket, with a volume that is only pretended.
@Suite struct ControlScenarioTests {
  private func errno(_ body: () async throws -> Void) async -> Errno? {
    do {
      try await body()
      return nil
    } catch {
      return (error as? ControlError)?.errno
    }
  }

  @Test func ordersArriveAsTheyWereSent() async throws {
    try await ControlServerTests.with { backend, _, client, _ in
      #expect(try await client.gates().gates == [WireSamples.gate])
      #expect(try await client.releaseGate(GateReleaseRequest(gate: "g")).released == 3)
      _ = try await client.releaseGate(GateReleaseRequest(gate: "g", count: 2, errno: "EIO"))
      _ = try await client.releaseGate(GateReleaseRequest(gate: "g", attempt: 7))
      _ = try await client.releaseGate(GateReleaseRequest(gate: "g", path: [0xff]))
      _ = try await client.setGate("g", isOpen: true)
      _ = try await client.setGate("g", isOpen: false)
      _ = try await client.waitForGate(GateWaitRequest(gate: "g"))
      let wait = try await client.waitForGate(GateWaitRequest(gate: "g", callers: 5, timeoutMilliseconds: 20))
      #expect(!wait.isReached && wait.callers == 1)
      #expect(try await client.scenario() == bytes("{\"version\":1,\"seed\":18446744073709551615}\n"))
      #expect(try await client.replaceScenario(bytes("seed: 1"), name: "a b.yaml") == WireSamples.change)
      _ = try await client.changeSettings(["seed": "5", "latency": .object(["preset": "s3"]), "offline": true])
      _ = try await client.addRule("{fault: EIO}", first: false)
      _ = try await client.addRule(.object(["fault": "EIO"]))
      _ = try await client.removeRule("a&b=c")
      #expect(try await client.explain([0xff], trigger: "copy", pid: 7) == WireSamples.explanation)
      _ = try await client.explain([])
      #expect(
        backend.orders == [
          "release g all by command", "release g first 2 EIO by command", "release g attempt 7 by command",
          "release g path [255] by command", "open g by command", "close g by command", "wait g 1 30000000000",
          "wait g 5 20000000", "replace a b.yaml 7 by command", "latency={\"preset\":\"s3\"} offline=true seed=5",
          "last {fault: EIO}", "first {\"fault\":\"EIO\"}", "remove a&b=c", "explain [255] copy 7", "explain [] - 0",
        ])
    }
  }

  @Test func whatMakesNoSenseIsRefused() async throws {
    try await ControlServerTests.with { backend, _, client, _ in
      for request in [
        GateReleaseRequest(gate: "g", count: 0), GateReleaseRequest(gate: "g", count: 1, attempt: 1),
        GateReleaseRequest(gate: "g", path: bytes("[")), GateReleaseRequest(gate: "g", errno: "EIOO"),
      ] {
        #expect(await errno { _ = try await client.releaseGate(request) } == .invalidArgument)
      }
      for request in [
        GateWaitRequest(gate: "g", callers: -1), GateWaitRequest(gate: "g", timeoutMilliseconds: -1),
        GateWaitRequest(gate: "g", timeoutMilliseconds: GateWaitRequest.timeoutMillisecondsMax + 1),
      ] {
        #expect(await errno { _ = try await client.waitForGate(request) } == .invalidArgument)
      }
      #expect(await errno { _ = try await client.changeSettings([:]) } == .invalidArgument)
      #expect(await errno { _ = try await client.removeRule("") } == .invalidArgument)
      #expect(await errno { _ = try await client.explain([], trigger: "reed") } == .invalidArgument)
      #expect(await errno { _ = try await client.explain([], pid: 0) } == .invalidArgument)
      #expect(await errno { _ = try await client.explain(bytes("../x")) } == .invalidArgument)
      #expect(backend.orders.isEmpty)
      let empty = GateReleaseRequest(gate: "empty")
      #expect(await errno { _ = try await client.releaseGate(empty) } == .noSuchProcess)
    }
  }

  @Test func aBadScenarioNamesEverythingThatIsWrong() async throws {
    try await ControlServerTests.with { _, _, client, path in
      do {
        _ = try await client.replaceScenario(bytes("latencey: 1s\nseed: -1\n"), name: "s.yaml")
        Issue.record("it was taken")
      } catch let error as ControlError {
        #expect(error.code == .invalidScenario && error.errno == .invalidArgument)
        let lines = error.message.split(separator: "\n")
        #expect(lines.map { String($0.prefix(11)) } == ["s.yaml:1:1:", "s.yaml:2:7:"])
      }
      let body = "rules: 5"
      let answer = try RawRequest.send(
        "PUT /v1/scenario HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)",
        to: path)
      #expect(answer.hasPrefix("HTTP/1.1 422"))
      #expect(answer.contains(#""code":"invalid_scenario""#) && answer.contains(#""file":"scenario","line":1"#))
    }
  }

  /// Who changes something is in the log: our commands say who they are, everybody else is `api`.
  @Test func otherClientsAreToldFromCommands() async throws {
    try await ControlServerTests.with { backend, _, _, path in
      let body = #"{"gate":"g"}"#
      let answer = try RawRequest.send(
        "POST /v1/gates/open HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)",
        to: path)
      #expect(answer.hasPrefix("HTTP/1.1 200"))
      #expect(backend.orders == ["open g by api"])
    }
  }
}
