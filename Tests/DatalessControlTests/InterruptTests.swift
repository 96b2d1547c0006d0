import DatalessCore
import Glibc
import SystemPackage
import Testing

@testable import DatalessControl
@testable import DatalessDaemon

/// Requests that are given up before they are answered.
@Suite(.timeLimit(.minutes(1))) struct InterruptTests {
  private static func post(_ path: String, _ body: String) -> String {
    "POST \(path) HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
  }

  /// Nothing is written while these wait, so only the connection itself can tell.
  @Test(arguments: [
    ("/v1/materialize", #"{"paths":[{"path":"hold"}]}"#), ("/v1/refresh", #"{"paths":[{"path":"hold"}]}"#),
    ("/v1/gates/wait", #"{"gate":"hold"}"#),
  ])
  func closingTheConnectionCancelsTheWork(path: String, body: String) async throws {
    try await ControlServerTests.with { backend, _, _, socket in
      let descriptor = try RawRequest.open(Self.post(path, body), to: socket)
      for await _ in backend.held.stream { break }
      close(descriptor)
      for await _ in backend.cancelled.stream { break }
    }
  }

  /// `nc -N` and the like still read.
  @Test func aPeerThatOnlyStopsSendingIsNotGone() async throws {
    try await ControlServerTests.with { backend, _, client, socket in
      let descriptor = try RawRequest.open(Self.post("/v1/materialize", #"{"paths":[{"path":"hold"}]}"#), to: socket)
      for await _ in backend.held.stream { break }
      shutdown(descriptor, Int32(SHUT_WR))
      // Answered by the same thread, later.
      _ = try await client.status()
      backend.hold.continuation.finish()
      var answer = ""
      var buffer = [UInt8](repeating: 0, count: 4096)
      while !answer.contains(#""result""#) {
        let count = read(descriptor, &buffer, buffer.count)
        guard count > 0 else { break }
        answer += String(decoding: buffer[0..<count], as: UTF8.self)
      }
      close(descriptor)
      #expect(answer.contains(#""interrupted":false"#))
    }
  }

  @Test func aCancelledTaskInterruptsTheRequestAndHearsWhatWasDone() async throws {
    try await ControlServerTests.with { backend, _, client, _ in
      let task = Task { try await client.materialize([bytes("hold"), bytes("b")]) }
      for await _ in backend.held.stream { break }
      task.cancel()
      let result = try await task.value
      #expect(result.isInterrupted && result.files == 7)
      #expect(result.unfinished.map(\.bytes) == [bytes("hold"), bytes("b")])
    }
  }

  @Test func aRequestThatHasEndedCannotBeInterrupted() async throws {
    try await ControlServerTests.with { _, _, client, _ in
      do {
        try await client.interrupt(12345)
        Issue.record("there is no such request")
      } catch let error as ControlError {
        #expect(error.errno == .noSuchProcess)
      }
    }
  }
}
