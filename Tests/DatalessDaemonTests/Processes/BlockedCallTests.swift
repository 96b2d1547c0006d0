import DatalessCore
@testable import DatalessDaemon
import Testing

/// What a line of /proc/TID/syscall says about a caller that waits for a page.
@Suite struct BlockedCallTests {
  private func wait(_ line: String, throughCache: Bool = false) -> PageWait {
    Array(line.utf8).withUnsafeBufferPointer { BlockedCall.pageWait($0, readsThroughCache: throughCache) }
  }

  @Test func aFaultOutsideOfAnyCall() {
    #expect(wait("-1 0x7ffd0 0x55\n") == .fault)
    #expect(wait("running\n") == .fault)
    #expect(wait("") == .fault)
  }

  #if arch(x86_64)
    @Test func callsByWhatTheyDoWithTheFile() {
      #expect(wait("1 0x3 0x7f0000000000 0x1000\n") == .faultInCall, "write")
      #expect(wait("44 0x3\n") == .faultInCall, "sendto")
      #expect(wait("40 0x3 0x4 0x0 0x1000\n") == .call, "sendfile")
      #expect(wait("275 0x3\n") == .call, "splice")
      #expect(wait("257 0xffffff9c 0x7f0000000000\n") == .faultInPath, "openat")
      #expect(wait("0 0x3\n") == .faultInCall, "read, of another file into a mapping")
      #expect(wait("0 0x3\n", throughCache: true) == .call, "read")
      #expect(wait("99999999999999999999 0x3\n") == .faultInCall)
    }
  #endif

  /// What the kernel fetches for it ahead it does not wait for.
  @Test func aThreadThatRunsOrSleepsIsElsewhere() {
    func isElsewhere(_ line: String) -> Bool {
      Array(line.utf8).withUnsafeBufferPointer { BlockedCall.isElsewhere($0) }
    }
    #expect(isElsewhere("running\n"))
    #expect(!isElsewhere("-1 0x7ffd0 0x55\n") && !isElsewhere("") && !isElsewhere("99999999999999999999 0x3\n"))
    #if arch(x86_64)
      #expect(isElsewhere("230 0x0 0x0 0x7ffc 0x0 0x0 0x0 0x7ffc 0x7f\n"), "clock_nanosleep")
      #expect(isElsewhere("202 0x5 0x80\n") && isElsewhere("232 0x4\n"), "futex, epoll_wait")
      #expect(!isElsewhere("0 0x3\n") && !isElsewhere("221 0x3\n") && !isElsewhere("426 0x3\n"), "read, fadvise64")
    #endif
    #expect(!BlockedCall.isElsewhere(threadID: 0))
  }

  @Test func aThreadOfAnotherNamespaceIsTakenToTouchAPage() {
    #expect(BlockedCall.pageWait(threadID: 0, readsThroughCache: false) == .fault)
  }
}
