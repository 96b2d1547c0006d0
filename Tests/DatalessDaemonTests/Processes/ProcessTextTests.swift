import Testing

@testable import DatalessDaemon

@Suite struct ProcessTextTests {
  private func stat(_ text: String) -> ProcessStat? { Array(text.utf8).withUnsafeBufferPointer { ProcessStat($0) } }

  private func status(_ text: String) -> ProcessStatus? {
    Array(text.utf8).withUnsafeBufferPointer { ProcessStatus($0) }
  }

  @Test func statWithAHostileName() throws {
    let name = "a) S 1 (b"
    let text = "77 (\(name)) S 42 77 77 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 987654 99 88 77"
    let parsed = try #require(stat(text))
    #expect(parsed.parent == 42)
    #expect(parsed.startTicks == 987_654)
    #expect(!parsed.isKernelThread && !parsed.isExiting && !parsed.isStopped)
    #expect(stat(text.replacing("4194304", with: "4194308"))?.isExiting == true)
    #expect(stat(text.replacing(") S 42", with: ") Z 42"))?.isExiting == true)
    #expect(stat(text.replacing(") S 42", with: ") t 42"))?.isStopped == true)
    #expect(String(decoding: Array(text.utf8)[parsed.comm], as: UTF8.self) == name)
    #expect(stat("2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 5")?.isKernelThread == true)
  }

  @Test(arguments: ["", "1", "1 (a", "1 (a) S", "1 (a) S x 1 1 1 1 1", "1 (a) S 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1"])
  func noStat(_ text: String) { #expect(stat(text) == nil) }

  @Test func statusFields() throws {
    let text = """
      Name:\ta\\nTgid:\t1
      Tgid:\t77
      Uid:\t1\t2\t3\t4
      Gid:\t5\t6\t7\t8
      SigPnd:\t0000000000000200
      ShdPnd:\t0000000000000000
      SigBlk:\t0000000000000000
      SigIgn:\t0000000000001000
      SigCgt:\t0000000000000200

      """
    let parsed = try #require(status(text))
    #expect(parsed.threadGroup == 77 && parsed.uid == 2 && parsed.gid == 6)
    #expect(!parsed.hasPendingFatalSignal)
    #expect(status(text.replacing("0200", with: "0300"))?.hasPendingFatalSignal == true)
    #expect(
      status(text.replacing("ShdPnd:\t0000000000000000", with: "ShdPnd:\t0000000000000100"))?
        .hasPendingFatalSignal == true)
    // SIGTERM behind a handled SIGUSR1 stays what it is, and is fatal; blocked, ignored or handled it is not.
    let terminated = text.replacing("ShdPnd:\t0000000000000000", with: "ShdPnd:\t0000000000004000")
    #expect(status(terminated)?.hasPendingFatalSignal == true)
    for mask in ["SigBlk:\t0000000000000000", "SigIgn:\t0000000000001000", "SigCgt:\t0000000000000200"] {
      let changed = mask.prefix(8) + "0000000000004200"
      #expect(status(terminated.replacing(mask, with: changed))?.hasPendingFatalSignal == false)
    }
    // SIGCHLD, SIGCONT, SIGWINCH and the stop signals end nobody.
    #expect(
      status(text.replacing("ShdPnd:\t0000000000000000", with: "ShdPnd:\t00000000087f0000"))?
        .hasPendingFatalSignal == false)
    #expect(status(text.replacing("ShdPnd", with: "Other")) == nil)
    #expect(status("") == nil)
  }

  @Test func cgroupPaths() {
    func path(_ text: String) -> String? {
      ProcessTable.cgroup(Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) }
    }
    #expect(path("0::/user.slice/a:b\n") == "/user.slice/a:b")
    #expect(path("12:pids:/x\n0::/y\n") == "/y")
    #expect(path("12:pids:/x\n1:name=systemd:/z\n") == "/x")
    #expect(path("") == nil)
  }
}
