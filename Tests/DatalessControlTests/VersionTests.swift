import SystemPackage
import Testing

@testable import DatalessCommands
@testable import DatalessControl
@testable import DatalessDaemon

/// Programs and daemons of different versions: each says what the other is missing.
@Suite struct VersionTests {
  private static let newer = (
    status: "200 OK", body: #"{"version":"99.1.0","api":1,"features":["status","version"],"later":[7]}"#
  )

  private func failure(
    of answers: [String: (status: String, body: String)], _ call: (ControlClient) async throws -> Void
  ) async throws -> (error: ControlError?, calls: [String]) {
    let daemon = try ScriptedDaemon(answers)
    defer { daemon.close() }
    let client = ControlClient(socketPath: daemon.path, mountPoint: bytes("/mnt"))
    var error: ControlError?
    do { try await call(client) } catch let found { error = found as? ControlError }
    await client.shutdown()
    return (error, daemon.calls)
  }

  // MARK: - A newer program, an older daemon

  @Test func aDaemonThatCannotSayItsVersionIsOlder() async throws {
    let (error, calls) = try await failure(of: [:]) { _ = try await $0.capacity() }
    #expect(calls == ["GET /v1/capacity", "GET /v1/version"])
    #expect(error?.code == .otherVersion)
    #expect(
      error?.message.contains("is older than this program, \(Version.current), and cannot say its version") == true)
    #expect(error?.message.contains("GET /v1/capacity") == true)
    #expect(error.map(CommandFailure.init)?.code == .otherVersion)
    let (asked, once) = try await failure(of: [:]) { _ = try await $0.version() }
    #expect(asked?.code == .otherVersion && once == ["GET /v1/version"])
  }

  @Test func aDaemonThatSaysItsVersionIsNamedByIt() async throws {
    let old = (status: "200 OK", body: #"{"version":"0.0.9","api":1,"features":["version"]}"#)
    let (error, _) = try await failure(of: ["GET /v1/version": old]) { _ = try await $0.remove([bytes("a")]) }
    #expect(error?.code == .otherVersion && error?.errno == .notSupported)
    #expect(error?.message.contains("has version 0.0.9, and this program \(Version.current)") == true)
    #expect(error?.message.contains("there is no /v1/remove (EOPNOTSUPP). ") == true)
  }

  /// As the daemons of all versions refuse what they do not know.
  @Test(arguments: [
    ("405 Method Not Allowed", "method_not_allowed", "PUT is not a method of /v1/mark, only POST"),
    ("400 Bad Request", "invalid_request", "cannot understand the request: `x` is no key of it; it takes `label`."),
    ("400 Bad Request", "invalid_request", "`x` is no parameter of POST /v1/mark, which takes none"),
  ])
  func whatADaemonDoesNotKnowIsSaidInItsWords(status: String, code: String, words: String) async throws {
    let body = #"{"error":{"code":"\#(code)","errno":"EINVAL","message":"\#(words)"}}"#
    let (error, _) = try await failure(of: ["POST /v1/mark": (status, body), "GET /v1/version": Self.newer]) {
      _ = try await $0.mark("x")
    }
    #expect(error?.code == .otherVersion)
    #expect(error?.message.contains("99.1.0") == true)
    #expect(error?.message.contains(words.hasSuffix(".") ? String(words.dropLast()) : words) == true)
  }

  @Test func whatIsNotThereIsNoMatterOfVersions() async throws {
    let body = #"{"error":{"code":"not_found","errno":"ENOENT","message":"there is no /gate"}}"#
    let (error, calls) = try await failure(of: ["POST /v1/gates/open": ("404 Not Found", body)]) {
      _ = try await $0.setGate("x", isOpen: true)
    }
    #expect(error?.code == .remote && calls.count == 1)
  }

  @Test func anAnswerOfAnotherVersionThatCannotBeReadIsExplained() async throws {
    let other = try await failure(of: ["GET /v1/capacity": ("200 OK", "{}"), "GET /v1/version": Self.newer]) {
      _ = try await $0.capacity()
    }
    #expect(other.error?.code == .otherVersion)
    #expect(other.error?.message.contains("has no key") == true)
    let same = try String(decoding: WireCoding.encode(VersionAnswer.current), as: UTF8.self)
    let broken = try await failure(of: ["GET /v1/capacity": ("200 OK", "{}"), "GET /v1/version": ("200 OK", same)]) {
      _ = try await $0.capacity()
    }
    #expect(broken.error?.code == .malformed)
  }

  @Test func whatAStrangerSaysOfItsVersionReachesNoTerminal() async throws {
    let evil = (status: "200 OK", body: #"{"version":"\u001b[2J9","api":1,"features":[]}"#)
    let (error, _) = try await failure(of: ["GET /v1/version": evil]) { _ = try await $0.capacity() }
    #expect(error?.message.unicodeScalars.allSatisfy { $0.value >= 0x20 } == true)
  }

  // MARK: - An older program, a newer daemon

  @Test func keysThatAreNotKnownAreReadOver() async throws {
    let daemon = try ScriptedDaemon(["GET /v1/version": Self.newer])
    defer { daemon.close() }
    let client = ControlClient(socketPath: daemon.path, mountPoint: bytes("/mnt"))
    #expect(try await client.version().features == ["status", "version"])
    await client.shutdown()
  }

  @Test func aDaemonSaysWhatItCanAndWhatItDoesNotKnow() async throws {
    try await ControlServerTests.with { _, _, client, path in
      #expect(try await client.version() == .current)
      #expect(Set(ControlRoute.allCases.map(\.feature)) == Set(ControlFeature.allCases))
      let missing = try RawRequest.send("POST /v1/later HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", to: path)
      #expect(missing.hasPrefix("HTTP/1.1 404"))
      #expect(missing.contains("there is no /v1/later in version \(Version.current) of the daemon"))
      let body = #"{"label":"x","later":1}"#
      let field = try RawRequest.send(
        "POST /v1/mark HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)",
        to: path)
      #expect(field.hasPrefix("HTTP/1.1 400") && field.contains("`later` is no key of it; it takes `label`"))
      #expect(field.contains("(version \(Version.current) of the daemon)"))
    }
  }
}
