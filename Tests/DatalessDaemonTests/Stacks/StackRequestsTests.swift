import DatalessCore
import DatalessStacks
import TestSupport
import Testing

@testable import DatalessDaemon

extension StackRequests {
  /// No rule says anything.
  fileprivate mutating func begin(_ wait: Wait, at now: MonotonicTime) -> Done? { begin(wait, wanted: nil, at: now) }

  fileprivate mutating func receive(_ message: StackMessage, at now: MonotonicTime) -> [Done]? {
    receive(message, answer: message.kind == .answer ? CaptureAnswer(message.content) : nil, at: now)
  }
}

/// Which stacks are wanted, one reading at a time, and what becomes of each.
@Suite struct StackRequestsTests {
  private static func wait(_ attempt: UInt64, _ thread: Int32, process: UInt32 = 1) -> StackRequests.Wait {
    StackRequests.Wait(
      cause: .attempt(attempt, .read), caller: caller(thread, process))
  }

  private static func caller(_ thread: Int32, _ process: UInt32) -> Caller {
    Caller(process: ProcessID(rawValue: process), threadID: thread, pid: thread, isMainThread: true, uid: 0, gid: 0)
  }

  private static func at(_ milliseconds: Int64) -> MonotonicTime {
    MonotonicTime(nanoseconds: milliseconds * 1_000_000)
  }

  private static let stack = CaptureAnswer.stack(NamedStack(frames: [], end: .outermost))

  private static func answer(_ number: UInt64, _ answer: CaptureAnswer = stack) -> StackMessage {
    StackMessage(.answer, number: number, content: answer.bytes)
  }

  /// Sends the next one, and has it read.
  private static func read(_ requests: inout StackRequests, at time: MonotonicTime = at(0)) throws -> UInt64 {
    let next = requests.next(at: time)
    let order = try #require(next)
    #expect(requests.receive(StackMessage(.reading, number: order.number), at: time) == [])
    #expect(requests.next(at: time) == nil, "one at a time")
    #expect(requests.receive(StackMessage(.read, number: order.number), at: time) == [])
    return order.number
  }

  @Test func aWaitHasItsStackAlsoWhenItEndsMeanwhile() throws {
    var requests = StackRequests(policy: .all)
    #expect(requests.begin(Self.wait(1, 7), at: Self.at(0)) == nil)
    let number = try Self.read(&requests)
    #expect(requests.end(.attempt(1, .read), threadID: 7) == nil)
    let done = requests.receive(Self.answer(number), at: Self.at(1))
    #expect(done == [StackRequests.Done(subject: .wait(Self.wait(1, 7)), answer: Self.stack)])
    // The volume that ends waits until it is in the log.
    #expect(!requests.isIdle)
    requests.delivered(1)
    #expect(requests.isIdle)
  }

  @Test func whatWasReadWhileTheCallerRanIsDiscarded() throws {
    var requests = StackRequests(policy: .all)
    _ = requests.begin(Self.wait(1, 7), at: Self.at(0))
    let next = requests.next(at: Self.at(0))
    let order = try #require(next)
    _ = requests.receive(StackMessage(.reading, number: order.number), at: Self.at(0))
    #expect(requests.end(.attempt(1, .read), threadID: 7) == nil)
    _ = requests.receive(StackMessage(.read, number: order.number), at: Self.at(0))
    #expect(requests.receive(Self.answer(order.number), at: Self.at(0))?.map(\.answer) == [.failure(.threadRan)])
  }

  @Test func aWaitThatEndsBeforeItsTurnSaysSo() {
    var requests = StackRequests(policy: .all)
    _ = requests.begin(Self.wait(1, 7), at: Self.at(0))
    #expect(requests.end(.attempt(1, .read), threadID: 7)?.answer == .failure(.threadRan))
    #expect(requests.next(at: Self.at(0)) == nil && !requests.isIdle)
    requests.delivered(1)
    #expect(requests.isIdle)
  }

  /// Whose stacks would be taken.
  private static func threads(_ requests: inout StackRequests) -> [Int32] {
    let dropped = requests.dropWaiting()
    requests.delivered(dropped.count)
    return dropped.compactMap { done in
      if case .wait(let wait) = done.subject { wait.caller.threadID } else { nil }
    }
  }

  @Test func aRuleIsStrongerThanTheSetting() {
    for policy in [StackPolicy.off, .first, .over(.seconds(9))] {
      var requests = StackRequests(policy: policy)
      for thread in 7...9 {
        #expect(requests.begin(Self.wait(1, Int32(thread)), wanted: true, at: Self.at(0)) == nil)
      }
      #expect(Self.threads(&requests) == [7, 8, 9], "\(policy)")
    }
    var requests = StackRequests(policy: .all)
    #expect(requests.begin(Self.wait(1, 7), wanted: false, at: Self.at(0)) == nil && requests.isIdle)
  }

  @Test func ofDelayedCallsTheFirstOnAnItem() {
    var requests = StackRequests(policy: .first)
    for (number, path, process) in [(1, "a", 1), (2, "a", 1), (3, "b", 1), (4, "a", 2)] {
      let call = StackRequests.Wait(
        cause: .access(UInt64(number), .read), caller: Self.caller(Int32(number), UInt32(process)),
        path: Array(path.utf8))
      #expect(requests.begin(call, at: Self.at(0)) == nil)
    }
    // A call is no attempt of the same number.
    #expect(requests.end(.attempt(1, .read), threadID: 1) == nil)
    #expect(requests.end(.access(3, .read), threadID: 3)?.answer == .failure(.threadRan))
    #expect(Self.threads(&requests) == [1, 4])
  }

  @Test func firstIsOneForEachProcessAndAttempt() {
    var requests = StackRequests(policy: .first)
    for (attempt, thread, process) in [(1, 7, 1), (1, 8, 1), (1, 9, 2), (2, 7, 1)] {
      _ = requests.begin(Self.wait(UInt64(attempt), Int32(thread), process: UInt32(process)), at: Self.at(0))
    }
    #expect(Self.threads(&requests) == [7, 9, 7])
    requests.endAttempt(1)
    #expect(requests.isIdle)
  }

  @Test func overIsForWaitsThatLast() {
    var requests = StackRequests(policy: .over(.milliseconds(100)))
    _ = requests.begin(Self.wait(1, 7), at: Self.at(0))
    _ = requests.begin(Self.wait(2, 8), at: Self.at(50))
    #expect(requests.next(at: Self.at(99)) == nil)
    #expect(requests.deadline == Self.at(100))
    // Who sleeps without end, or for longer, is woken; who will look in time is not.
    #expect(requests.isLookWanted(before: nil) && requests.isLookWanted(before: Self.at(101)))
    #expect(!requests.isLookWanted(before: Self.at(100)))
    #expect(requests.end(.attempt(1, .read), threadID: 7) == nil, "never wanted")
    #expect(requests.deadline == Self.at(150))
    #expect(requests.next(at: Self.at(150))?.threadID == 8)
  }

  @Test func offAndForeignNamespaces() {
    var requests = StackRequests(policy: .off)
    #expect(requests.begin(Self.wait(1, 7), at: Self.at(0)) == nil && requests.isIdle)
    requests.setPolicy(.all)
    #expect(requests.begin(Self.wait(1, 0), at: Self.at(0))?.answer == .failure(.unknownThread))
    requests.delivered(1)
    #expect(requests.isIdle)
  }

  @Test func readingThatHangsIsLeftBehind() throws {
    var requests = StackRequests(policy: .all)
    for thread in 1...3 { _ = requests.begin(Self.wait(UInt64(thread), Int32(thread)), at: Self.at(0)) }
    _ = try Self.read(&requests)
    let next = requests.next(at: Self.at(0))
    let order = try #require(next)
    _ = requests.receive(StackMessage(.reading, number: order.number), at: Self.at(0))
    #expect(!requests.isExpired(at: Self.at(249)))
    #expect(requests.deadline == Self.at(250))
    #expect(requests.isExpired(at: Self.at(250)))
    // What the process had read goes with it; what it had not begun goes to the next one.
    #expect(requests.lose().map(\.answer) == [.failure(.symbolsUnavailable), .failure(.abandoned)])
    #expect(requests.next(at: Self.at(250))?.threadID == 3)
  }

  @Test func whoeverSaysWhatItMustNotHasGoneWrong() throws {
    var requests = StackRequests(policy: .all)
    _ = requests.begin(Self.wait(1, 7), at: Self.at(0))
    #expect(requests.receive(Self.answer(1), at: Self.at(0)) == nil, "not sent yet")
    let next = requests.next(at: Self.at(0))
    let order = try #require(next)
    for kind in StackMessage.Kind.allCases where kind != .reading && kind != .answer {
      #expect(requests.receive(StackMessage(kind, number: order.number), at: Self.at(0)) == nil)
    }
    #expect(requests.receive(StackMessage(.reading, number: 99), at: Self.at(0)) == nil)
    #expect(requests.receive(StackMessage(.answer, number: order.number, content: [7]), at: Self.at(0)) == nil)
    #expect(requests.lose().map(\.answer) == [.failure(.abandoned)])
  }

  @Test func tooManyAreDroppedAndSaySo() {
    var requests = StackRequests(policy: .all)
    for number in 0..<StackRequests.countMax {
      #expect(requests.begin(Self.wait(UInt64(number), 7), at: Self.at(0)) == nil)
    }
    #expect(requests.begin(Self.wait(1 << 40, 7), at: Self.at(0))?.answer == .failure(.dropped))
    #expect(requests.ask(1, processID: 7, threadID: 7)?.answer == .failure(.dropped))
    #expect(requests.dropWaiting().count == StackRequests.countMax)
  }

  @Test func aQuestionIsAnswered() throws {
    var requests = StackRequests(policy: .off)
    #expect(requests.ask(5, processID: 7, threadID: 8) == nil)
    let number = try Self.read(&requests)
    #expect(requests.receive(Self.answer(number), at: Self.at(0))?.map(\.subject) == [.question(5)])
    #expect(requests.ask(6, processID: 0, threadID: 0)?.answer == .failure(.unknownThread))
  }

  /// Random waits, most of which end before their stacks are wanted: whoever is sent for is told of once, nobody else
  /// is, one is read at a time, and nothing of the others stays.
  @Test(arguments: TestSeed.seeds) func eachThatIsSentForIsToldOfOnce(seed: UInt64) throws {
    var random = TestRandom(seed: seed)
    var requests = StackRequests(policy: .over(.milliseconds(50)))
    var begun: [(attempt: UInt64, since: Int64)] = []
    var (sent, told): (Set<UInt64>, [UInt64]) = ([], [])
    var reader: UInt64?
    var naming: [UInt64] = []
    func tell(_ done: [StackRequests.Done]) {
      requests.delivered(done.count)
      for case .wait(let wait) in done.map(\.subject) {
        if case .attempt(let attempt, _) = wait.cause { told.append(attempt) }
      }
    }
    for now in Int64(0)..<4_000 {
      if random.oneIn(2), begun.count < 60 {
        let attempt = UInt64(now) + 1
        begun.append((attempt, now))
        #expect(requests.begin(Self.wait(attempt, Int32(attempt)), at: Self.at(now)) == nil)
      }
      if random.oneIn(3), !begun.isEmpty {
        let (attempt, _) = begun.remove(at: random.below(begun.count))
        tell([requests.end(.attempt(attempt, .read), threadID: Int32(attempt))].compactMap(\.self))
      }
      if let order = requests.next(at: Self.at(now)) {
        #expect(reader == nil, "seed \(seed): two at a time")
        let wait = try #require(begun.first { Int32($0.attempt) == order.threadID }, "seed \(seed): it has ended")
        #expect(wait.since + 50 <= now, "seed \(seed): too early")
        reader = order.number
        #expect(sent.insert(wait.attempt).inserted, "seed \(seed)")
        _ = requests.receive(StackMessage(.reading, number: order.number), at: Self.at(now))
      } else if let number = reader, random.oneIn(2) {
        _ = requests.receive(StackMessage(.read, number: number), at: Self.at(now))
        naming.append(number)
        reader = nil
      } else if !naming.isEmpty, random.oneIn(2) {
        tell(requests.receive(Self.answer(naming.removeFirst()), at: Self.at(now)) ?? [])
      }
      #expect(!requests.isExpired(at: Self.at(now)))
    }
    for wait in begun where !sent.contains(wait.attempt) {
      _ = requests.end(.attempt(wait.attempt, .read), threadID: Int32(wait.attempt))
    }
    tell(requests.lose())
    #expect(told.sorted() == sent.sorted() && !sent.isEmpty, "seed \(seed)")
    #expect(requests.isIdle && requests.deadline == nil, "seed \(seed)")
  }

  /// An interpreter is looked at first, and for that nobody's memory is read.
  @Test func whatIsIdentifiedHasAllItsTimeAndIsReadAgain() throws {
    var requests = StackRequests(policy: .all)
    for thread in 1...2 { _ = requests.begin(Self.wait(UInt64(thread), Int32(thread)), at: Self.at(0)) }
    let next = requests.next(at: Self.at(0))
    let order = try #require(next)
    #expect(requests.receive(StackMessage(.identifying, number: order.number), at: Self.at(0)) == nil, "not read yet")
    _ = requests.receive(StackMessage(.reading, number: order.number), at: Self.at(0))
    #expect(requests.receive(StackMessage(.identifying, number: order.number), at: Self.at(1)) == [])
    #expect(!requests.isExpired(at: Self.at(5_000)) && requests.next(at: Self.at(5_000)) == nil)
    #expect(requests.receive(StackMessage(.reading, number: order.number), at: Self.at(5_000)) == [])
    #expect(requests.isExpired(at: Self.at(5_250)))
  }

  @Test func aStackIsWrittenOnce() {
    var known = KnownStacks()
    let prints = [[1, 2], [1], [2]].map { KnownStacks.Print($0) }
    for (index, print) in prints.enumerated() {
      #expect(known.number(of: print) == nil)
      #expect(known.add(print) == UInt64(index + 1))
    }
    #expect(prints.map { known.number(of: $0) } == [1, 2, 3])
  }
}
