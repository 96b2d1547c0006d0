import Glibc
import Testing

/// The harness itself: what it says about a child must be true.
@Suite(.timeLimit(.minutes(1))) struct HarnessTests {
  @Test func exitStatusSignalAndStreamsOfAChildAreTold() async throws {
    let finished = try await run(["sh", "-c", "echo out; echo err >&2; exit 3"])
    #expect(finished.status == 3)
    #expect(finished.text == "out\n")
    #expect(finished.errorText == "err\n")
    let killed = try await run(["sh", "-c", "kill -9 $$"])
    #expect(killed.signal == SIGKILL && killed.status == nil && !killed.timedOut)
    #expect(killed.shellStatus == 137)
  }

  @Test func aChildThatHangsIsKilledWithItsGroupWhenItsTimeIsUp() async throws {
    let finished = try await run(
      ["sh", "-c", "echo before; cat /dev/zero > /dev/null & wait"], timeLimit: .seconds(5))
    #expect(finished.timedOut && !finished.stuck)
    #expect(finished.text == "before\n")
    #expect(finished.duration < .seconds(30))
  }

  @Test func aDaemonThatKeepsThePipesOpenDoesNotKeepTheTest() async throws {
    let child = try Child(["sh", "-c", "cat /dev/zero > /dev/null 2>&1 3>&1 & exec 1>&-; echo $! >&2; exit 0"])
    let finished = await child.wait()
    #expect(finished.status == 0)
    #expect(finished.duration < .seconds(30))
    kill(-child.pid, SIGKILL)
  }

  @Test func linesComeWhileTheChildRunsAndInputEndsWhenAsked() async throws {
    let child = try Child(["sh", "-c", "echo one; read line; echo two"])
    #expect(await child.line() == "one")
    #expect(!child.hasFinished)
    child.closeInput()
    #expect(await child.line() == "two")
    #expect(await child.line() == nil)
    #expect(await child.wait().status == 0)
  }

  @Test func largeOutputArrivesWhole() async throws {
    let finished = try await run(["sh", "-c", "head -c 3000000 /dev/zero; head -c 100000 /dev/zero >&2"])
    #expect(finished.output.count == 3_000_000)
    #expect(finished.errors.count == 100_000)
  }

  @Test func manyChildrenAtOnceEachGetTheirOwnAnswer() async throws {
    let children = try (0..<50).map { try Child(["sh", "-c", "echo \($0)"]) }
    for (index, child) in children.enumerated() { #expect(await child.wait().text == "\(index)\n") }
  }

  @Test func aLogIsWaitedForWithoutAClock() async throws {
    try await withScratch { scratch in
      let log = scratch.log
      let writer = try Child(
        ["sh", "-c", #"read go; printf '{"type":"mark","label":"a"}\n{"type":"mark","la' > "$0"; echo"#, log.path])
      async let waited = log.wait("a mark") { !$0.isEmpty }
      writer.closeInput()
      let records = try await waited
      #expect(records.count == 1, "a line that is not finished is not yet there")
      #expect(records[0]["label"]?.string == "a")
      await writer.wait()
      await #expect(throws: HarnessError.self) { try await log.wait("b", timeLimit: .milliseconds(50)) { _ in false } }
    }
  }
}
