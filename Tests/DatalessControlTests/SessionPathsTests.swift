import DatalessControl
import Testing

@Suite struct SessionPathsTests {
  @Test func runtimeDirectories() {
    #expect(
      SessionPaths.runtimeDirectory(userID: 0, environment: ["XDG_RUNTIME_DIR": "/run/user/0"], isSystem: true)
        == "/run/dataless")
    // User 0 of a user namespace is an ordinary one.
    #expect(
      SessionPaths.runtimeDirectory(userID: 0, environment: ["XDG_RUNTIME_DIR": "/run/user/7"], isSystem: false)
        == "/run/user/7/dataless")
    #expect(
      SessionPaths.cacheDirectory(userID: 0, environment: ["HOME": "/h"], isSystem: false) == "/h/.cache/dataless")
    #expect(SessionPaths.runtimeDirectory(userID: 7, environment: ["XDG_RUNTIME_DIR": "/r/"]) == "/r/dataless")
    #expect(SessionPaths.runtimeDirectory(userID: 7, environment: [:]) == "/tmp/dataless-7")
    #expect(SessionPaths.runtimeDirectory(userID: 7, environment: ["XDG_RUNTIME_DIR": "r"]) == "/tmp/dataless-7")
    #expect(SessionPaths.volumeDirectory(runtime: "/r", device: "0:53") == "/r/0:53")
  }

  @Test func candidatesForAVolumeOfSomebodyElse() {
    let environment = ["XDG_RUNTIME_DIR": "/run/user/0"]
    #expect(
      SessionPaths.runtimeDirectoryCandidates(owner: 7, caller: 0, environment: environment)
        == ["/run/user/7/dataless", "/tmp/dataless-7"])
    #expect(SessionPaths.runtimeDirectoryCandidates(owner: 0, caller: 0, environment: environment) == ["/run/dataless"])
    #expect(
      SessionPaths.runtimeDirectoryCandidates(owner: 7, caller: 7, environment: ["XDG_RUNTIME_DIR": "/r"])
        == ["/r/dataless", "/run/user/7/dataless", "/tmp/dataless-7"])
  }

  @Test func cacheAndLogDirectories() {
    #expect(SessionPaths.cacheDirectory(userID: 0, environment: [:]) == "/var/cache/dataless")
    #expect(SessionPaths.logDirectory(userID: 0, environment: [:]) == "/var/log/dataless")
    #expect(SessionPaths.cacheDirectory(userID: 7, environment: ["HOME": "/h"]) == "/h/.cache/dataless")
    #expect(SessionPaths.logDirectory(userID: 7, environment: ["HOME": "/h"]) == "/h/.local/state/dataless/logs")
    #expect(SessionPaths.cacheDirectory(userID: 7, environment: ["XDG_CACHE_HOME": "/c"]) == "/c/dataless")
    #expect(SessionPaths.logDirectory(userID: 7, environment: ["XDG_STATE_HOME": "/s"]) == "/s/dataless/logs")
  }

  @Test func names() {
    #expect(SessionPaths.logName(session: "0123456789ab", seconds: 0) == "19700101T000000Z-0123456789ab.jsonl")
    for _ in 0..<100 {
      let session = SessionPaths.newSessionID()
      #expect(session.utf8.count == 12)
      #expect(session.allSatisfy { $0.isHexDigit && !$0.isUppercase })
    }
  }

  @Test func theRecordKeepsBytes() throws {
    let record = SessionRecord(
      pid: 42, session: "0123456789ab", mountpoint: bytes("/m/") + [0xff], source: bytes("/s"), log: bytes("/l"),
      cache: bytes("/c"), started: "2026-01-02T03:04:05.000000000Z")
    let again = try WireCoding.decode(SessionRecord.self, from: try record.encoded(), named: "the record")
    #expect(again == record)
    #expect(again.mountpointBytes == bytes("/m/") + [0xff])
  }
}
