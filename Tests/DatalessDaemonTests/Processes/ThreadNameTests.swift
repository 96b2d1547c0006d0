import DatalessCore
import Glibc
import TestSupport
import Testing

@testable import DatalessDaemon

@Suite struct ThreadNameTests {
  @Test func aThreadHasItsOwnNameUntilItIsItsProcess() throws {
    let fixture = ProcessFixture()
    let thread = TestSignal<Int32>()
    let release = TestSignal<Void>()
    LaneThread.startOrTrap(name: "thumb\u{1b}nails") {
      thread.send(LaneThread.currentThreadID ?? 0)
      _ = release.wait(seconds: 120)
    }
    defer { release.send() }
    let caller = fixture.caller(try #require(thread.wait()?.first))
    #expect(fixture.table.threadName(of: caller).bytes == Array("thumb\u{1b}nails".utf8))
    #expect(fixture.table.threadName(of: fixture.caller(getpid())).isEmpty)
    let same = TestSignal<Int32>()
    let processName = try #require(fixture.record(fixture.caller(getpid()))?.comm)
    LaneThread.startOrTrap(name: "\(String(decoding: processName, as: UTF8.self))") {
      same.send(LaneThread.currentThreadID ?? 0)
      _ = release.wait(seconds: 120)
    }
    defer { release.send() }
    #expect(fixture.table.threadName(of: fixture.caller(try #require(same.wait()?.first))).isEmpty)
    let gone = Caller(
      process: caller.process, threadID: Int32.max, pid: caller.pid, isMainThread: false, uid: 0, gid: 0)
    #expect(fixture.table.threadName(of: gone).isEmpty)
  }

  @Test func aThreadThatCallsOftenIsCalledWhatItIsCalledNow() throws {
    let fixture = ProcessFixture()
    let (thread, renamed) = (TestSignal<Int32>(), TestSignal<Void>())
    let (rename, release) = (TestSignal<Void>(), TestSignal<Void>())
    LaneThread.startOrTrap(name: "first") {
      thread.send(LaneThread.currentThreadID ?? 0)
      guard rename.wait(seconds: 120) != nil else { return }
      // pthread_setname_np is not visible from Swift.
      let comm = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
      _ = write(comm, "second", 6)
      close(comm)
      renamed.send()
      _ = release.wait(seconds: 120)
    }
    defer { release.send() }
    let id = try #require(thread.wait()?.first)
    // From the third call on it is held by descriptors.
    for _ in 0..<5 { #expect(fixture.table.threadName(of: fixture.caller(id)).bytes == Array("first".utf8)) }
    rename.send()
    #expect(renamed.wait() != nil)
    for _ in 0..<2 { #expect(fixture.table.threadName(of: fixture.caller(id)).bytes == Array("second".utf8)) }
  }

  @Test func namesOfThreadsAreKeptWhole() {
    for name in ["", "a", "12345678", "123456789", "123456789012345", "\u{ff}\u{fe}"] {
      #expect(ThreadName(name.utf8).bytes == Array(name.utf8) && ThreadName(name.utf8).isEmpty == name.isEmpty)
    }
    #expect(ThreadName("1234567890123456".utf8).bytes == Array("123456789012345".utf8))
    #expect(ThreadName([97, 0, 98]).bytes == [97])
  }
}
