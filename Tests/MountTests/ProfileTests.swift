import Testing

extension RealMounts {
  /// What materializes, and with which errno it fails, by the profile.
  @Suite struct Profiles {
    struct Triggers: Sendable, CustomTestStringConvertible {
      let profile: String
      /// By path: the operation that is named for it, and what the log calls it.
      let expected: [String: String]
      var testDescription: String { profile }
    }

    static let triggers = [
      Triggers(profile: "macos", expected: [:]), Triggers(profile: "windows", expected: [:]),
      // A seek is done on an open file.
      Triggers(profile: "open", expected: ["open": "open", "seek": "open"]),
      Triggers(profile: "openvfs", expected: ["open": "open", "seek": "open"]),
      Triggers(
        profile: "{files: [read, xattr, seek], directories: [readdir, lookup, xattr, open]}",
        expected: ["getxattr": "xattr", "listxattr": "xattr", "seek": "seek", "opendir": "open", "d-xattr": "xattr"]),
    ]

    @Test(arguments: triggers)
    func eachProfileMaterializesOnItsOwnOperationsOnly(triggers: Triggers) async throws {
      let files = ["open", "path", "getxattr", "listxattr", "acl", "seek", "read"]
      try await withScenario(
        "profile: \(triggers.profile)",
        source: { scratch in
          for name in files { try scratch.file(name, size: 5000) }
          for name in ["opendir", "d-xattr"] { scratch.directory(name) }
        }
      ) { volume in
        _ = try await run(["ls", "-l", volume.mountpoint])
        func act(_ operation: String, _ path: String, _ name: String = "", _ outcome: String = "ok") async throws {
          let answer = try #require(try await volume.probe("act", operation, volume.path(path), name).first)
          #expect(answer.outcome == outcome, "\(operation) \(path)")
        }
        for name in files { try await act("stat", name) }
        try await act("path", "path")
        try await act("open", "open")
        try await act("getxattr", "getxattr", "user.absent", "ENODATA")
        try await act("getxattr", "path", "user.dataless.state")
        try await act("getxattr", "acl", "system.posix_acl_access", "ENODATA")
        try await act("listxattr", "listxattr")
        try await act("data", "seek", "100")
        try await act("opendir", "opendir")
        try await act("getxattr", "d-xattr", "user.absent", "ENODATA")
        let started = try await volume.records(ofType: "materialization.started").filter { $0["path"]?.string != "" }
        var found: [String: String] = [:]
        for record in started { found[record["path"]?.string ?? "?"] = record["trigger"]?.string }
        #expect(found == triggers.expected)
        #expect(started.count == found.count, "each once")
        #expect(try await volume.read("read").hash == (try await volume.sourceHash("read")))
        let read = try await volume.fileAttempts().last { $0["path"]?.string == "read" }
        #expect(read?["trigger"]?.string == (triggers.profile.hasPrefix("open") ? "open" : "read"))
      }
    }

    @Test func anOpenThatMaterializesWaitsAndIsThenAnOpenOfAResidentFile() async throws {
      try await withVolume(
        ["--profile", "open", "--latency", "300ms"],
        source: { scratch in
          try scratch.file("file", size: 300_000)
          try await scratch.shell("printf '#!/bin/sh\\necho ran\\n' > script; chmod +x script")
        }
      ) { volume in
        let opened = try #require(try await volume.probe("act", "open", volume.path("file")).first)
        #expect(opened.outcome == "ok" && opened.duration >= .milliseconds(300))
        let stat = try #require(try await volume.probe("act", "stat", volume.path("file")).first)
        #expect(try #require(stat.int("blocks")) * 512 >= 300_000)
        let hash = try await volume.sourceHash("file")
        #expect(try await volume.read("file").hash == hash)
        #expect(try await run([volume.path("script")]).text == "ran\n")
        let attempts = try await volume.fileAttempts()
        #expect(attempts.map { $0["trigger"]?.string } == ["open", "open"])
        #expect(attempts[0]["open_flags"]?.int != nil && attempts[0]["offset"] == nil)
        let wait = try #require(try await volume.records(ofType: "wait.finished").last)
        #expect(wait["trigger"]?.string == "open" && wait["outcome"]?.string == "ok")
        let opens = try await volume.status()["opens"]?["since_mount"]
        #expect(opens?["direct"]?.int == 0, "no open of a dataless file was answered")
      }
    }

    @Test func aKilledOpenerEndsAtOnce() async throws {
      try await withVolume(["--profile", "open", "--latency", "1h"], source: { try $0.file("file", size: 1000) }) {
        volume in
        let opener = try await volume.scratch.startProbe("act", "open", volume.path("file"))
        try await volume.log.waitForWaiters(1, trigger: "open")
        opener.signal(9)
        let finished = await opener.wait()
        #expect(finished.signal == 9 && finished.duration < .seconds(20))
        let end = try #require(try await volume.records(ofType: "materialization.finished").last)
        #expect(end["outcome"]?.string == "cancelled")
      }
    }

    struct Errnos: Sendable, CustomTestStringConvertible {
      let profile: String
      /// Refused, offline, given up, superseded, gone.
      let file: [String]
      /// Refused, offline, given up.
      let directory: [String]
      var testDescription: String { profile }
    }

    static let errnos = [
      Errnos(
        profile: "macos", file: ["EDEADLK", "ETIMEDOUT", "ETIMEDOUT", "ESTALE", "ESTALE"],
        directory: ["EDEADLK", "ETIMEDOUT", "ETIMEDOUT"]),
      Errnos(
        profile: "open", file: ["EDEADLK", "EREMOTEIO", "EREMOTEIO", "EREMOTEIO", "EREMOTEIO"],
        directory: ["EDEADLK", "EREMOTEIO", "EREMOTEIO"]),
      Errnos(
        profile: "windows", file: ["EACCES", "ENETUNREACH", "ETIMEDOUT", "EIO", "EIO"],
        directory: ["EACCES", "ENETUNREACH", "ETIMEDOUT"]),
      Errnos(
        profile: "openvfs", file: ["EPERM", "ENOENT", "ENOENT", "ENOENT", "ENOENT"],
        directory: ["EPERM", "ETIMEDOUT", "ETIMEDOUT"]),
      Errnos(
        profile: "{files: [read, open], errnos: {refused: EACCES, offline: ENOENT, timeout: EAGAIN}}",
        file: ["EACCES", "ENOENT", "EAGAIN", "ESTALE", "ESTALE"], directory: ["EACCES", "ENOENT", "EAGAIN"]),
    ]

    @Test(arguments: errnos)
    func eachProfileFailsWithItsOwnErrnos(errnos: Errnos) async throws {
      try await withScenario(
        "profile: \(errnos.profile)\nrules: [{match: {path: other}, fault: superseded}]",
        source: { scratch in
          for name in ["file", "other", "gone"] { try scratch.file(name, size: 5000) }
          scratch.directory("d")
          try scratch.file("d/x", size: 10)
        }
      ) { volume in
        _ = try await run(["ls", "-l", volume.mountpoint])
        let mountpoint = volume.mountpoint
        func outcomes(_ path: String) async throws -> [String?] {
          try await volume.done("policy", mountpoint, "off")
          let refused = try await volume.read(path).outcome
          try await volume.done("policy", mountpoint, "on")
          try await volume.done("offline", mountpoint)
          let offline = try await volume.read(path).outcome
          try await volume.done("online", mountpoint)
          try await volume.done("set", mountpoint, "latency=1h", "directory_latency=1h", "give_up_after=200ms")
          let timeout = try await volume.read(path).outcome
          try await volume.done("set", mountpoint, "latency=0", "directory_latency=0", "give_up_after=none")
          return [refused, offline, timeout]
        }
        #expect(try await outcomes("d/x") == errnos.directory, "a lookup in a dataless directory")
        var found = try await outcomes("file")
        found.append(try await volume.read("other").outcome)
        try await volume.scratch.shell("rm gone")
        found.append(try await volume.read("gone").outcome)
        #expect(found == errnos.file)
        // Nothing of it lasts.
        #expect(try await volume.read("file").outcome == "ok")
        #expect(try await volume.read("d/x").outcome == "ok")
        let refusals = try await volume.records(ofType: "materialization.refused")
        #expect(refusals.compactMap { $0["errno"]?.string } == [errnos.directory[0], errnos.file[0]])
        // The kernel walks a path once more after ESTALE: one open is one attempt all the same.
        let attempts = try await volume.fileAttempts()
        for path in ["other", "gone"] {
          #expect(attempts.count { $0["path"]?.string == path } == 1, "\(path)")
        }
      }
    }

    /// The kernel takes ENOSYS for "never ask again".
    @Test func ENOSYSDoesNotEndARequestForGood() async throws {
      try await withScenario(
        """
        profile: {files: [read, xattr, seek]}
        rules: [{match: {kind: file, attempt: {first: 3}}, fault: ENOSYS}]
        """,
        source: { scratch in for name in ["open", "xattr", "seek"] { try scratch.file(name, size: 5000) } }
      ) { volume in
        _ = try await run(["ls", "-l", volume.mountpoint])
        for attempt in 1...4 {
          let isLast = attempt == 4
          let seek = try #require(try await volume.probe("act", "data", volume.path("seek"), "0").first)
          #expect(seek.outcome == (isLast ? "ok" : "EOPNOTSUPP"), "seek \(attempt)")
          let xattr = try #require(try await volume.probe("act", "getxattr", volume.path("xattr"), "user.x").first)
          #expect(xattr.outcome == (isLast ? "ENODATA" : "EOPNOTSUPP"), "xattr \(attempt)")
        }
        try await volume.done("set", volume.mountpoint, "profile=open")
        for attempt in 1...4 {
          let open = try #require(try await volume.probe("act", "open", volume.path("open")).first)
          #expect(open.outcome == (attempt == 4 ? "ok" : "EOPNOTSUPP"), "open \(attempt)")
        }
        #expect(try await volume.fileAttempts().count == 12, "each call has reached the volume")
      }
    }

    @Test func theProfileIsChangedLiveAndSaid() async throws {
      try await withVolume(
        source: { scratch in for name in ["a", "b"] { try scratch.file(name, size: 5000) } }
      ) { volume in
        _ = try await run(["ls", "-l", volume.mountpoint])
        func opens(_ name: String) async throws -> Int {
          _ = try await volume.probe("act", "open", volume.path(name))
          return try await volume.fileAttempts().count { $0["path"]?.string == name }
        }
        #expect(try await opens("a") == 0)
        let before = try await volume.json("explain", volume.path("a"), "--trigger", "open")
        #expect(before["materializes"]?.bool == false && before["profile"]?.string == "macos")
        let told = try await volume.done("explain", volume.path("a"), "--trigger", "open").text
        #expect(told.contains("the profile 'macos' does not materialize a file on open: nothing happens"))
        try await volume.done("set", volume.mountpoint, "profile=openvfs")
        #expect(try await opens("b") == 1)
        let after = try await volume.json("explain", volume.path("a"), "--trigger", "open")
        #expect(after["materializes"]?.bool == true && after["errnos"]?["refused"]?.string == "EPERM")
        let status = try await volume.status()
        #expect(status["profile"]?["name"]?.string == "openvfs" && status["options"]?["profile"]?.string == "openvfs")
        #expect(status["profile"]?["files"]?.array.compactMap(\.string) == ["read", "open"])
        #expect(status["profile"]?["directory_errnos"]?["offline"]?.string == "ETIMEDOUT")
        let text = try await volume.done("status", volume.mountpoint).text
        #expect(text.contains("openvfs: files by read, open; directories by readdir, lookup; refused EPERM"))
        #expect(try await volume.done("scenario", "show", volume.mountpoint).text.contains("\"profile\": \"openvfs\""))
        let wrong = try await volume.dataless("set", volume.mountpoint, "profile=open-vfs")
        #expect(wrong.status == 2 && wrong.errorText.contains("Did you mean 'openvfs'?"))
        let changes = try await volume.records(ofType: "configuration.changed")
        #expect(changes.count == 1 && changes[0]["after"]?["profile"]?.string == "openvfs")
        let mounted = try #require(try await volume.records(ofType: "volume.mounted").first)
        #expect(mounted["options"]?["profile"]?.string == "macos")
      }
    }
  }
}
