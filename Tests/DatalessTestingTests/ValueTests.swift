import Testing

@testable import DatalessTesting

/// What is read of the answers of `dataless`, and what is said to it; nothing is mounted.
@Suite struct ValueTests {
  private static let finished: JSONValue = [
    "type": "materialization.finished", "kind": "file", "path": "a", "outcome": "ok", "bytes": 3,
    "waiters": [
      [
        "trigger": "read",
        "process": [
          "pid": 20, "comm": "rsync", "exe": "/usr/bin/rsync",
          "parents": [["pid": 10, "comm": "python3", "exe": "/usr/bin/python3.11", "script": "backup.py"]],
        ],
      ]
    ],
  ]

  private func changed(_ key: String, _ value: JSONValue) -> LogRecord {
    guard case .object(var object) = Self.finished else { return LogRecord(value: .null) }
    object[key] = value
    return LogRecord(value: .object(object))
  }

  @Test func linesAreReadAndWritten() throws {
    let line = #"{"a":[1,-2.5,true,null,"x/y"],"b":{"c":9223372036854775807}}"#
    let value = try #require(JSONValue(line: line))
    #expect(value.text == line)
    #expect(value["b"]?["c"]?.integer == .max)
    #expect(value["a"]?.elements.count == 5)
    #expect(value["missing"] == nil)
    #expect(JSONValue(line: "no JSON") == nil)
  }

  @Test(arguments: [
    ("rsync", true), ("/usr/bin/rsync", true), ("backup.py", true), ("python3.11", true), ("rsy", false),
  ])
  func contentIsAProgramsByNameOrByThatOfWhatStartedIt(_ name: String, _ isMeant: Bool) {
    #expect(LogRecord(value: Self.finished).brought { $0.isCalled(name) } == isMeant)
  }

  @Test func whatIsNobodysOrFailedOrNoFileIsNotCounted() {
    #expect(changed("outcome", "EIO").brought { _ in true })
    guard case .object(var failed) = changed("outcome", "EIO").value else { return }
    failed["bytes"] = 0
    #expect(!LogRecord(value: .object(failed)).brought { _ in true })
    #expect(!changed("kind", "directory").brought { _ in true })
    #expect(!changed("waiters", [["trigger": "command", "process": ["pid": 20]]]).brought { _ in true })
    #expect(!changed("waiters", []).brought { _ in true })
  }

  /// A record of an attempt names the first 64 who waited; those of their waits name all.
  @Test func whoWaitsBehindManyOthersIsNamedByItsWait() {
    let wait: JSONValue = ["type": "wait.finished", "trigger": "read", "process": ["pid": 30, "comm": "head"]]
    #expect(!changed("waiter_count", 2).namesAllWaiters && changed("waiter_count", 1).namesAllWaiters)
    #expect(changed("waiter_count", 2).brought(waits: [LogRecord(value: wait)]) { $0.isCalled("head") })
    #expect(!changed("waiter_count", 2).brought { $0.isCalled("head") })
  }

  @Test func aCallerIsSaidWithItsThreadAndItsStack() {
    let caller = BlockedCaller([
      "path": "photos/a.jpg",
      "waiter": [
        "pid": 5, "tid": 6, "comm": "python3", "exe": "/usr/bin/python3.11", "script": "show.py", "main_thread": false,
        "trigger": "read", "blocked_ns": 12_900_000,
      ],
      "stack": [
        "frames": [["symbol": "__read", "module": "/lib/libc.so.6", "offset": 1]],
        "interpreted": [
          "frames": [["function": "icon", "file": "/x/show.py", "line": 9], ["function": "main", "file": ""]]
        ],
      ],
    ])
    #expect(
      caller.description == """
        photos/a.jpg by python3.11 show.py[5] thread 6 read, for 12 ms
            at icon (show.py:9) < main
        """)
  }

  @Test func frameWithoutANameIsAnAddressInItsModule() {
    let frames = StackFrame.frames(["frames": [["module": "/usr/bin/cat", "offset": 255]]])
    #expect(frames.map(\.description) == ["0xff (cat)"])
    #expect(StackFrame.frames(nil).isEmpty)
  }

  @Test func boundsAreOptions() {
    let bounds: [Bound] = [
      .maxFiles(3), .maxMainThread(.milliseconds(1)), .maxWait(.microseconds(1500)), .forbid("s/**"),
    ]
    #expect(
      Bound.options(bounds, environment: [:]) == [
        "--max-files", "3", "--max-main-thread", "1ms", "--max-wait", "1500us", "--forbid", "s/**",
      ])
    let new = ["DATALESS_UPDATE_BASELINE": "1"]
    #expect(Bound.options([.baseline("b")], environment: new) == ["--baseline", "b", "--update-baseline"])
    #expect(Bound.options([.maxFiles(0)], environment: new) == ["--max-files", "0"])
  }

  @Test func stacksAreReadWhereAFailureCouldNeedThem() {
    #expect(VolumeOptions(latency: .milliseconds(200)).scenarioText == #"{"latency":"200ms","version":1}"#)
    #expect(
      VolumeOptions(latency: .milliseconds(200), maxFiles: 3).scenarioText
        == #"{"latency":"200ms","stacks":"first","version":1}"#)
    #expect(
      VolumeOptions(latency: .seconds(1), maxFiles: 3, settings: ["stacks": "off"]).settings["stacks"] == "off")
    #expect(VolumeOptions(maxFiles: 3).scenarioText == nil)
    #expect(VolumeOptions(expecting: [.maxNeedless(0)]).settings["observe"] == "reads")
    #expect(VolumeOptions(expecting: [.forbidUnneededBlocking]).settings["observe"] == "reads")
    #expect(VolumeOptions(expecting: [.maxTogether(0)]).settings["observe"] == "reads")
    #expect(VolumeOptions(expect: [["max_together": 0]]).settings["observe"] == "reads")
    #expect(VolumeOptions(expecting: [.maxSerialWaits(3)]).settings["observe"] == nil)
    #expect(
      Bound.options([.maxSerialWaits(3), .forbidUnneededBlocking], environment: [:])
        == ["--max-serial-waits", "3", "--forbid-unneeded-blocking"])
  }

  @Test func pathsBeginAtTheTestsFile() {
    let options = VolumeOptions(.folder("data"), scenario: "../slow.yaml", filePath: "/p/Tests/T.swift")
    #expect(options.source == .folder("/p/Tests/data"))
    #expect(options.scenario == "/p/Tests/../slow.yaml")
    #expect(VolumeOptions(.folder("/data")).source == .folder("/data"))
  }

  @Test(arguments: [
    ("version: 1\nexpect:\n  - {max_files: 1}\n", true), (#"{"version": 1, "expect": []}"#, true),
    ("version: 1\n# expect: nothing\n", false), ("rules:\n  - {name: unexpected}\n", false),
  ]) func sectionIsFound(_ scenario: String, _ isThere: Bool) {
    #expect(VolumeOptions.hasExpectations(scenario) == isThere)
  }

  @Test func eachFileOfExpectationsIsACall() {
    let all = Expectations(bounds: [.maxFiles(1)], entries: [["max_files": 2]], file: "/s.yaml")
    #expect(
      all.calls(written: "/e.json", environment: [:]) == [
        ["--max-files", "1", "--expect", "/e.json"], ["--expect", "/s.yaml"],
      ])
    #expect(Expectations().calls(written: "/e.json", environment: [:]).isEmpty)
    #expect(Expectations(bounds: [.maxFiles(1)]).calls(written: "", environment: [:]) == [["--max-files", "1"]])
  }

  @Test func unknownBecauseStillMountedHolds() {
    let mounted: JSONValue = ["outcome": "unknown", "reason": "the volume is still mounted, and may have more to tell"]
    #expect(Expectations.holdsSoFar(["expectations": [mounted, ["outcome": "held"]]]))
    #expect(!Expectations.holdsSoFar(["expectations": [mounted, ["outcome": "unknown", "reason": "a gap"]]]))
  }

  @Test func errorsOfACommandAreKeptApart() {
    let output = CommandOutput(
      status: 90, output: "{\"outcome\":\"violated\"}\n{\"error\":{\"code\":\"violated\",\"message\":\"no\"}}\n",
      words: "")
    #expect(output.answers == [["outcome": "violated"]])
    #expect(DatalessError(answer: output.error ?? .null).code == "violated")
    let silent = CommandOutput(status: 1, output: "", words: "dataless: no room")
    #expect(DatalessError(answer: silent.error ?? .null).description == "dataless: no room")
  }

  @Test func anExecutableThatIsNotThereIsSaidWithTheRemedy() {
    let error = #expect(throws: DatalessError.self) { try Executable.find("/nowhere/dataless", environment: [:]) }
    #expect(error?.code == "not_found")
    #expect(error?.message.contains("'/nowhere/dataless'") == true)
    #expect(error?.message.contains("DATALESS=") == true)
  }

  @Test func theEnvironmentsExecutableIsBeforeThePathsOne() throws {
    #expect(try Executable.find(nil, environment: ["DATALESS": "/bin/sh", "PATH": "/bin"]).path == "/bin/sh")
    #expect(try Executable.find("sh", environment: ["DATALESS": "/bin/true", "PATH": "/bin"]).path == "/bin/sh")
  }

  @Test func aTestWithoutAVolumeIsToldSo() {
    let error = #expect(throws: DatalessError.self) { _ = try DatalessVolume.current }
    #expect(error?.message.contains(".datalessVolume") == true)
  }
}
