import Testing

/// `dataless exec`. What a command asked for is looked at as the daemon does: in its limit of locks.
@Suite struct ExecTests {
  static let off = "4918304907494511361"
  static let on = "4918304907494511362"
  static let look = ["prlimit", "--locks", "--noheadings", "--raw", "--output=SOFT"]

  static func exec(_ policy: String, _ command: [String], prefix: [String] = []) async throws -> Finished {
    try await run(prefix + [Machine.dataless, "exec", "--materialize", policy, "--"] + command)
  }

  @Test(arguments: [("off", off), ("on", on), ("default", "unlimited")])
  func theCommandHasThePolicy(policy: String, limit: String) async throws {
    let finished = try await Self.exec(policy, Self.look)
    #expect(finished.lines == [limit], "\(finished.errorText)")
  }

  @Test func whatTheCommandStartsHasThePolicyUntilItSaysOtherwise() async throws {
    let look = Self.look.joined(separator: " ")
    let inner = "'\(Machine.dataless)' exec --materialize"
    let script = "sh -c '\(look)'; \(inner) on -- \(look); \(inner) default -- \(look); \(look)"
    let finished = try await Self.exec("off", ["sh", "-c", script])
    #expect(finished.lines == [Self.off, Self.on, "unlimited", Self.off], "\(finished.errorText)")
  }

  @Test(arguments: [("exit 3", 3), ("kill -TERM $$", 143), ("exit 0", 0)] as [(String, Int32)])
  func exitStatusIsTheCommands(script: String, status: Int32) async throws {
    #expect(try await Self.exec("off", ["sh", "-c", script]).shellStatus == status)
  }

  @Test func argumentsArriveAsTheyAre() async throws {
    let finished = try await Self.exec("off", ["printf", "%s|", "a b", "--materialize", "", "--", "$HOME"])
    #expect(finished.text == "a b|--materialize||--|$HOME|")
  }

  @Test func aCommandThatCannotBeStartedIs127Or126() async throws {
    let absent = try await Self.exec("off", ["no-such-command-anywhere"])
    #expect(absent.status == 127)
    #expect(absent.errorText.contains("no-such-command-anywhere") && absent.errorText.contains("ENOENT"))
    let plain = try await Self.exec("off", ["/etc/passwd"])
    #expect(plain.status == 126)
    #expect(plain.errorText.contains("EACCES"))
  }

  @Test func aLoweredHardLimitIs125AndSaysWhatToDo() async throws {
    let finished = try await Self.exec("off", ["true"], prefix: ["prlimit", "--locks=1000:1000"])
    #expect(finished.status == 125)
    #expect(finished.errorText.contains("EPERM") && finished.errorText.contains("ulimit -x"))
    #expect(finished.errorLines.count == 1)
  }
}
