import Glibc

/// Runs of generated cases: a bounded number in `make test`, for a time in `make fuzz`.
///
/// A case takes its bytes from a seed and its number, so that each can be run again alone. The seed is printed first:
/// whoever crashes prints nothing any more.
public enum Fuzz {
  /// For messages: what was tried, and how to try it again.
  public struct Case: CustomStringConvertible, Sendable {
    public let name: String
    public let seed: UInt64
    public let number: Int
    public var description: String { "\(name): DATALESS_TEST_SEED=\(seed):\(number)" }
  }

  public struct Failure: Error, CustomStringConvertible {
    public let description: String
  }

  /// How long each run takes, in seconds; nil: as many cases as it says.
  static let seconds: Double? = getenv("DATALESS_FUZZ_SECONDS").flatMap { Double(String(cString: $0)) }

  /// A case that takes longer than that has no end: the process says which, and aborts.
  static let secondsOfACaseMax = 60
  /// What a run may add to the most memory that the process ever had.
  static let bytesMax = 512 << 20

  /// - Parameters:
  ///   - cases: How many, where no time is given.
  ///   - body: One case.
  /// - Throws: What `body` throws; `Failure` when the run took more memory than it may.
  public static func run(
    _ name: String, seed: UInt64, cases: Int, _ body: (inout TestRandom, Case) throws -> Void
  ) throws {
    let run = Run(name, seed)
    defer { run.end() }
    for number in run.numbers(cases) {
      guard run.begin(number) else { break }
      var random = run.random(number)
      try body(&random, Case(name: name, seed: seed, number: number))
    }
    try run.checkMemory()
  }

  /// As `run`, for what has to be waited for.
  public static func runAsync(
    _ name: String, seed: UInt64, cases: Int, _ body: (inout TestRandom, Case) async throws -> Void
  ) async throws {
    let run = Run(name, seed)
    defer { run.end() }
    for number in run.numbers(cases) {
      guard run.begin(number) else { break }
      var random = run.random(number)
      try await body(&random, Case(name: name, seed: seed, number: number))
    }
    try run.checkMemory()
  }

  private struct Run {
    let name: String
    let seed: UInt64
    private let watchdog: Watchdog
    private let end_: Double?
    private let peak = Self.peakBytes
    /// Where `make fuzz` finds the case that ended the process.
    private let notes: CInt

    init(_ name: String, _ seed: UInt64) {
      self.name = name
      self.seed = seed
      print("fuzz: \(name): DATALESS_TEST_SEED=\(seed)")
      fflush(nil)
      watchdog = Watchdog(name, seed, limit: secondsOfACaseMax)
      end_ = Fuzz.seconds.map { Self.now + $0 }
      notes = getenv("DATALESS_FUZZ_NOTES").map { open($0, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600) } ?? -1
    }

    func numbers(_ cases: Int) -> Range<Int> {
      if let only = TestSeed.givenCase { return only..<only + 1 }
      return 0..<(Fuzz.seconds == nil ? cases : .max)
    }

    /// - Returns: False when the time is over.
    func begin(_ number: Int) -> Bool {
      if let end_, number % 16 == 0, Self.now > end_ { return false }
      watchdog.note(number)
      if notes >= 0 {
        let text =
          Array("\(name): DATALESS_TEST_SEED=\(seed):\(number)".utf8) + Array(repeating: 0x20, count: 20) + [0x0a]
        _ = pwrite(notes, text, text.count, 0)
      }
      return true
    }

    func random(_ number: Int) -> TestRandom {
      TestRandom(seed: TestRandom.mix(seed &+ TestRandom.mix(UInt64(number))))
    }

    func end() {
      watchdog.end()
      if notes >= 0 {
        ftruncate(notes, 0)
        close(notes)
      }
    }

    func checkMemory() throws(Failure) {
      let more = Self.peakBytes - peak
      guard more > Fuzz.bytesMax else { return }
      throw Failure(description: "\(name), seed \(seed): took \(more >> 20) MiB, more than \(Fuzz.bytesMax >> 20)")
    }

    private static var now: Double {
      var time = timespec()
      clock_gettime(CLOCK_MONOTONIC, &time)
      return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private static var peakBytes: Int {
      var usage = rusage()
      getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
      return usage.ru_maxrss << 10
    }
  }
}
