import Glibc
import Testing

extension RealMounts {
  /// `dataless top` on a terminal, and on none.
  @Suite struct Tops {
    private static let scenario = """
      rules:
        - {name: hold, match: {path: "p*"}, gate: g}
      """
    private static let (taking, giving) = ("\u{1b}[?1049h", "\u{1b}[?1049l")

    private static func source(_ scratch: Scratch) throws {
      try scratch.file("p\u{1b}[31mred", size: 5000)
    }

    private static func withBlockedReader(_ test: (Volume) async throws -> Void) async throws {
      try await withScenario(scenario, source: source) { volume in
        let reader = try Child(["cat", volume.path("p\u{1b}[31mred")])
        try await volume.waitForCallers(1, at: "g")
        try await test(volume)
        _ = try? await volume.dataless("gate", "open", volume.mountpoint, "g")
        await reader.wait()
      }
    }

    enum End: String, CaseIterable, Sendable {
      case key, interrupt, term, daemonKilled, unmounted
    }

    /// Whatever ends it: the screen, the cursor and the keys are as they were.
    @Test(arguments: End.allCases) func theTerminalIsGivenBack(end: End) async throws {
      try await Self.withBlockedReader { volume in
        let terminal = try Pseudoterminal([Machine.dataless, "top", volume.mountpoint, "--interval", "100ms"])
        let shown = await terminal.read(until: [Self.taking, #"p\x1b[31mred"#, "cat["])
        #expect(
          shown.contains("1 caller blocked") && shown.contains("main") && !shown.contains("[31mr\u{1b}"), "\(shown)")
        #expect(terminal.isRaw == true)
        terminal.type("zt")
        switch end {
        case .key: terminal.type("q")
        case .interrupt: terminal.type("\u{3}")
        case .term:
          let found = try await run(["pgrep", "-f", "dataless top \(volume.mountpoint) --interval"])
          let pids = found.lines.compactMap { Int32($0) }
          try #require(!pids.isEmpty)
          for pid in pids { kill(pid, SIGTERM) }
        case .daemonKilled:
          let pid = try #require(try await volume.status()["pid"]?.int)
          kill(pid_t(pid), SIGKILL)
        case .unmounted: try await volume.done("unmount", volume.mountpoint)
        }
        let rest = await terminal.read(until: [Self.giving])
        #expect(rest.contains(Self.giving), "\(rest.suffix(500))")
        let finished = await terminal.child.wait()
        #expect(terminal.isRaw != true)
        let expected: [End: Int32] = [.key: 0, .interrupt: 130, .term: 143, .daemonKilled: 3, .unmounted: 0]
        #expect(finished.shellStatus == expected[end], "\(end): \(finished.errorText)")
        terminal.hangUp()
      }
    }

    /// Ctrl-C drops the keys before it, also those that are just about to be read.
    @Test func keysBeforeAnInterruptHoldNothingUp() async throws {
      try await Self.withBlockedReader { volume in
        for round in 0..<10 {
          let terminal = try Pseudoterminal([Machine.dataless, "top", volume.mountpoint, "--interval", "100ms"])
          _ = await terminal.read(until: [Self.taking, "cat["])
          terminal.type("z")
          terminal.type("t\u{3}")
          let rest = await terminal.read(until: [Self.giving])
          #expect(rest.contains(Self.giving), "round \(round)")
          #expect(await terminal.child.wait().shellStatus == 130, "round \(round)")
          terminal.hangUp()
        }
      }
    }

    @Test func itEndsWithItsTerminal() async throws {
      try await Self.withBlockedReader { volume in
        let terminal = try Pseudoterminal([Machine.dataless, "top", volume.mountpoint])
        _ = await terminal.read(until: [Self.taking, "cat["])
        terminal.hangUp()
        let finished = await terminal.child.wait()
        #expect(!finished.timedOut)
      }
    }

    @Test func itEndsWithItsReader() async throws {
      try await Self.withBlockedReader { volume in
        let script = #"timeout 20 "$0" top "$1" --interval 1h | head -n 1; echo "${PIPESTATUS[0]}""#
        let finished = try await run(["bash", "-c", script, Machine.dataless, volume.mountpoint])
        #expect(finished.lines.count == 2 && finished.lines.last == "0", "\(finished.text)")
      }
    }

    @Test func withoutATerminalItPrintsLines() async throws {
      try await Self.withBlockedReader { volume in
        let text = try await volume.dataless(
          "top", volume.mountpoint, "--count", "2", "--interval", "100ms", "--stacks")
        #expect(text.succeeded && !text.output.contains(0x1b), "\(text.errorText)")
        #expect(text.lines.count { $0.contains("cat[") && $0.hasSuffix(#"p\x1b[31mred"#) } == 2, "\(text.text)")
        #expect(text.text.contains("a second    0.0 files") && text.lines.count { $0.contains("a second    -") } == 1)
        let line = try await volume.json("top", volume.mountpoint, "--count", "1")
        #expect(line["waiting"]?.int == 1 && line["callers"]?[0]?["outcome"]?.string == "not_taken")
        let none = try await volume.json("top", volume.mountpoint, "--count", "1", "--filter", "nobody")
        #expect(none["waiting"]?.int == 1 && none["callers"]?.array.isEmpty == true)
      }
    }
  }
}
