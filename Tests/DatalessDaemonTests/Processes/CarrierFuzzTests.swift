import CDataless
import DatalessCore
import Glibc
import TestSupport
import Testing

@testable import DatalessDaemon

/// The numbers by which a process hands over its policy: any process may set any of them.
@Suite struct CarrierFuzzTests {
  /// Ids and times that differ have places that do not overlap; each lies among those of its thread.
  @Test(arguments: TestSeed.seeds) func placesOfThreadsDoNotOverlap(seed: UInt64) throws {
    try Fuzz.run("carrier: places", seed: seed, cases: 3_000) { random, note in
      func thread() -> Int32 {
        random.oneIn(4) ? Int32(truncatingIfNeeded: random.next()) : Int32(1 + random.below(1 << 22))
      }
      let (first, second) = (thread(), thread())
      let ticks = random.oneIn(2) ? random.next() : UInt64(random.below(1 << 30))
      let place = cdataless_thread_place(first, ticks)
      let start = cdataless_thread_start(first)
      #expect(place >= start && place &- start <= CDATALESS_THREAD_LENGTH - CDATALESS_PLACE_LENGTH, "\(note)")
      #expect((place &- start) % CDATALESS_PLACE_LENGTH == 0, "\(note)")
      let other = cdataless_thread_place(second, ticks)
      #expect(
        first == second || abs(place.subtractingReportingOverflow(other).partialValue) >= CDATALESS_PLACE_LENGTH,
        "\(note)")
      let later = cdataless_thread_place(first, ticks &+ 1)
      #expect(later != place, "\(note)")
    }
  }

  /// The kernel's lock on a byte means a policy only where the library would have put it.
  @Test(arguments: TestSeed.seeds) func locksAnywhereMeanNothingOrAPolicy(seed: UInt64) throws {
    let descriptor = open(CDATALESS_NAMESPACE_FILE, O_RDONLY | O_CLOEXEC)
    try #require(descriptor >= 0)
    // Never closed: that would release all locks of this process on the file. Locks are of the process, whichever
    // thread asks.
    let thread = getpid()
    let ticks = try #require(ProcessSnapshot(thread)?.startTicks)
    let place = cdataless_thread_place(thread, ticks)
    func lock(_ type: Int32, _ start: Int64, _ length: Int64) -> Bool {
      var lock = flock()
      lock.l_type = Int16(type)
      lock.l_whence = Int16(SEEK_SET)
      lock.l_start = Int(start)
      lock.l_len = Int(length)
      return fcntl(descriptor, F_SETLK, &lock) == 0
    }
    let start = cdataless_thread_start(thread)
    var seen: Set<Bool?> = []
    try Fuzz.run("carrier: locks", seed: seed, cases: 300) { random, note in
      let offset = random.oneIn(2) ? Int64(random.below(8)) - 2 : Int64(random.below(1 << 39))
      let length = random.oneIn(2) ? 1 : Int64(1 + random.below(1 << 20))
      guard place + offset >= start, lock(F_RDLCK, place + offset, length) else { return }
      defer { _ = lock(F_UNLCK, start, CDATALESS_THREAD_LENGTH) }
      let policy = PolicyProbe.policy(threadID: thread, startTicks: ticks)
      // One byte says it, whatever follows; a lock that begins elsewhere says nothing.
      let expected: Bool? =
        switch offset {
        case Int64(IOPOL_MATERIALIZE_DATALESS_FILES_OFF): false
        case Int64(IOPOL_MATERIALIZE_DATALESS_FILES_ON): true
        default: nil
        }
      #expect(policy.thread == expected, "\(note): \(offset), \(length) bytes")
      seen.insert(policy.thread)
    }
    #expect(TestSeed.givenCase != nil || seen == [nil, false, true])
  }
}
