import DatalessCore
import TestSupport
import Testing

@testable import DatalessControl

/// Random logs: what the streaming evaluation says against what a model says that has everything in tables; and logs of
/// which lines are missing, about which nothing may be said that is not so.
@Suite struct ExpectationRandomTests {
  /// What happened, as the model sees it.
  private struct Attempt {
    var path: String
    var kind: String
    var start: Int64
    var end: Int64 = 0
    var bytes = 0
    var isOK = false
    var isFirst = false
    /// Who asked, and when, whether as a main thread.
    var askers: [(process: Int, thread: Int, at: Int64)] = []
  }

  private struct Model {
    var attempts: [Attempt] = []
    var waits: [(process: Int, isMain: Bool, blocked: Int64)] = []
    var refusals = 0

    private func of(_ process: Int?) -> [Attempt] {
      attempts.filter { attempt in process == nil || attempt.askers.contains { $0.process == process } }
    }

    func measured(_ measure: Expected.Measure, process: Int?, forbidden: String) -> Int64 {
      let files = of(process).filter { $0.kind == "file" && ($0.isOK || $0.bytes > 0) }
      let waits = waits.filter { process == nil || $0.process == process }
      switch measure {
      case .maxFiles: return Int64(files.count(where: \.isFirst))
      case .maxBytes: return Int64(files.reduce(0) { $0 + $1.bytes })
      case .maxDirectories: return Int64(of(process).count { $0.kind == "directory" && $0.isOK })
      case .maxWait: return waits.map(\.blocked).max() ?? 0
      case .maxMainThread: return waits.filter(\.isMain).map(\.blocked).max() ?? 0
      case .maxRefusals: return Int64(refusals)
      case .maxRepeated:
        let all = attempts.filter { $0.kind == "file" && $0.isFirst }
        return files.filter(\.isFirst).map { file in
          Int64(all.count { $0.path == file.path && $0.end < file.end })
        }.max() ?? 0
      case .forbid:
        return attempts.filter { $0.path == forbidden }.reduce(0) { sum, attempt in
          sum + Int64(attempt.askers.count { process == nil || $0.process == process })
        }
      case .maxParallel: return 100 * (processes(process).map { peak($0) }.max() ?? 0)
      case .minParallel:
        return processes(process).filter { intervals($0).count > 1 }.map { mean($0) }.min() ?? 0
      case .maxSerialWaits: return processes(process).map { longestList($0) }.max() ?? 0
      case .maxNeedless, .allow, .baseline, .forbidUnneededBlocking, .maxTogether: return 0
      }
    }

    private func processes(_ process: Int?) -> [Int] { process.map { [$0] } ?? [3, 4] }

    private func intervals(_ process: Int) -> [(start: Int64, end: Int64)] {
      attempts.filter { $0.kind == "file" }.compactMap { attempt in
        attempt.askers.filter { $0.process == process }.map(\.at).min().map { ($0, attempt.end) }
      }
    }

    /// Every wait of a process for a file, in the order of their beginnings.
    private func fileWaits(_ process: Int) -> [(path: String, start: Int64, end: Int64)] {
      attempts.filter { $0.kind == "file" }.flatMap { attempt in
        attempt.askers.filter { $0.process == process }.map { (attempt.path, $0.at, attempt.end) }
      }.sorted { $0.start < $1.start }
    }

    /// The most files that stand one after the other, with no wait between that had another file's beside it.
    private func longestList(_ process: Int) -> Int64 {
      let all = fileWaits(process)
      // Waits that overlap, at whatever distance, are together.
      var clusters: [[(path: String, start: Int64, end: Int64)]] = []
      for wait in all {
        if let last = clusters.last, wait.start < (last.map(\.end).max() ?? 0) {
          clusters[clusters.count - 1].append(wait)
        } else {
          clusters.append([wait])
        }
      }
      var (longest, files): (Int, Set<String>) = (0, [])
      for cluster in clusters {
        let paths = Set(cluster.map(\.path))
        files = paths.count == 1 ? files.union(paths) : []
        longest = max(longest, files.count)
      }
      return Int64(longest)
    }

    private func peak(_ process: Int) -> Int64 {
      let all = intervals(process)
      return all.map { one in Int64(all.count { $0.start <= one.start && one.start < $0.end }) }.max() ?? 0
    }

    private func mean(_ process: Int) -> Int64 {
      let all = intervals(process)
      let times = Set(all.flatMap { [$0.start, $0.end] }).sorted()
      var (busy, sum) = (0.0, 0.0)
      for (from, to) in zip(times, times.dropFirst()) {
        let count = all.count { $0.start <= from && to <= $0.end }
        if count > 0 { (busy, sum) = (busy + Double(to - from), sum + Double(to - from) * Double(count)) }
      }
      return Int64((sum * 100 / busy).rounded())
    }
  }

  /// A volume with some files that two programs read in several threads; every moment is another.
  private static func generate(_ random: inout TestRandom) -> (log: ExpectationLog, model: Model) {
    var log = ExpectationLog()
    var model = Model()
    var running: [(number: Int, model: Int)] = []
    var local: [String: Int] = [:]
    var time: Int64 = 1_000
    func step(_ process: Int, _ thread: Int, _ kind: String) -> ExpectationLog.Step {
      ExpectationLog.step { step in
        (step.process, step.thread, step.kind, step.start) = (process, thread, kind, time)
        step.isMain = thread % 10 == 1
        step.trigger = kind == "file" ? "read" : "readdir"
      }
    }
    for _ in 0..<(20 + random.below(150)) {
      time += 1 + Int64(random.below(1_000))
      let (process, thread) = (random.oneIn(2) ? 3 : 4, 10 + random.below(4))
      let path = "d/\(random.below(8))"
      switch random.below(10) {
      case 0..<4:
        let kind = path == "d/0" ? "directory" : "file"
        guard !running.contains(where: { model.attempts[$0.model].path == path }), local[path] != 100 else { continue }
        let number = log.start(path, step(process, thread, kind))
        running.append((number, model.attempts.count))
        model.attempts.append(Attempt(path: path, kind: kind, start: time, askers: [(process, thread, time)]))
      case 4:
        guard let (number, index) = running.isEmpty ? nil : random.element(of: running),
          !model.attempts[index].askers.contains(where: { $0.process == process && $0.thread == thread })
        else { continue }
        log.log.add(
          "wait.started", at: time,
          #""attempt":\#(number),"trigger":"read","process":\#(process),"tid":\#(thread),"main_thread":\#(thread == 11)"#
        )
        model.attempts[index].askers.append((process, thread, time))
      case 5..<8:
        guard !running.isEmpty else { continue }
        let (number, index) = running.remove(at: random.below(running.count))
        end(number, index, &random)
      case 8:
        // What is under way is not evicted.
        guard !running.contains(where: { model.attempts[$0.model].path == path }) else { continue }
        log.evict(path)
        local[path] = nil
      default:
        log.log.add(
          "materialization.refused", at: time,
          #""path":"x","kind":"file","size":1,"trigger":"read","process":\#(process),"tid":\#(thread),"errno":"EDEADLK""#
        )
        model.refusals += process == 3 ? 1 : 0
      }
    }
    func end(_ number: Int, _ index: Int, _ random: inout TestRandom) {
      let attempt = model.attempts[index]
      let isOK = !random.oneIn(4)
      let bytes = attempt.kind == "directory" ? 0 : isOK ? 100 : random.oneIn(2) ? 40 : 0
      model.attempts[index].end = time
      (model.attempts[index].isOK, model.attempts[index].bytes) = (isOK, bytes)
      if attempt.kind == "file", isOK || bytes > 0 {
        model.attempts[index].isFirst = local[attempt.path] == nil
        local[attempt.path] = isOK ? 100 : 40
      }
      if attempt.kind == "directory", isOK { local[attempt.path] = 100 }
      let waiters = attempt.askers.map {
        #"{"process":\#($0.process),"tid":\#($0.thread),"main_thread":\#($0.thread == 11),"trigger":"read"}"#
      }
      log.log.add(
        "materialization.finished", at: time,
        #""attempt":\#(number),"path":"\#(attempt.path)","kind":"\#(attempt.kind)","bytes":\#(bytes),"#
          + #""outcome":"\#(isOK ? "ok" : "EIO")","waiters":[\#(waiters.joined(separator: ","))]"#)
      for asker in attempt.askers {
        log.log.add(
          "wait.finished", at: time,
          #""attempt":\#(number),"process":\#(asker.process),"tid":\#(asker.thread),"main_thread":\#(asker.thread == 11),"#
            + #""trigger":"read","blocked_ns":\#(time - asker.at),"outcome":"ok""#)
        model.waits.append((asker.process, asker.thread == 11, time - asker.at))
      }
    }
    for (number, index) in running {
      time += 1
      end(number, index, &random)
    }
    log.unmount()
    return (log, model)
  }

  private static let measures: [Expected.Measure] = [
    .maxFiles, .maxBytes, .maxDirectories, .maxWait, .maxMainThread, .maxRefusals, .maxRepeated, .forbid, .maxParallel,
    .minParallel, .maxSerialWaits,
  ]

  /// Each measure for one program and for all, with a bound that often is near to what will be measured.
  private static func expectations(
    _ model: Model, _ random: inout TestRandom
  ) throws -> [(expectation: Expected, truth: Int64)] {
    try measures.flatMap { measure in
      try [nil, 3].compactMap { process -> (Expected, Int64)? in
        // Refusals are counted for one program.
        if measure == .maxRefusals, process == nil { return nil }
        let truth = model.measured(measure, process: process, forbidden: "d/3")
        var expected = Expected(
          name: "\(measure.rawValue)-\(process ?? 0)", measure: measure,
          match: process == nil ? RuleMatch() : try .of("python3"))
        expected.paths = measure == .forbid ? [try glob("d/3")] : []
        expected.bound =
          measure == .forbid ? 0 : max(0, truth + Int64(random.below(5)) - 2)
        return (expected, truth)
      }
    }
  }

  private static func isViolated(_ expectation: Expected, _ truth: Int64) -> Bool {
    expectation.measure == .minParallel
      ? truth > 0 && truth < expectation.bound : truth > expectation.bound
  }

  @Test(arguments: TestSeed.seeds) func aWholeLogIsJudgedAsTheModelDoes(seed: UInt64) throws {
    var random = TestRandom(seed: seed)
    for round in 0..<25 {
      let (log, model) = Self.generate(&random)
      let expected = try Self.expectations(model, &random)
      let verdict = try log.verdict(expected.map(\.expectation))
      #expect(verdict.gaps == [])
      for (result, (expectation, truth)) in zip(verdict.expectations, expected) {
        let place: Comment = "seed \(seed), round \(round), \(expectation.name), bound \(expectation.bound)"
        #expect(result.measured == truth, place)
        #expect(result.outcome == (Self.isViolated(expectation, truth) ? .violated : .held), place)
        let violations = verdict.violations.filter { $0.expectation == expectation.name }
        #expect(violations.reduce(0) { $0 + $1.count } == result.violationCount, place)
      }
    }
  }

  @Test(arguments: TestSeed.seeds) func ofWhatIsMissingNothingIsClaimed(seed: UInt64) throws {
    var random = TestRandom(seed: seed)
    for round in 0..<25 {
      let (log, model) = Self.generate(&random)
      let expected = try Self.expectations(model, &random)
      var lines = log.log.lines
      // The first and the last stay: without the one there is no session, without the other no end, which is a gap too.
      for _ in 0...random.below(5) where lines.count > 3 { lines.remove(at: 1 + random.below(lines.count - 2)) }
      var checked = Expectations(expected.map(\.expectation))
      for line in lines { checked.add(try #require(LogRecord(line: bytes(line)))) }
      let verdict = checked.finish(log: [])
      #expect(verdict.gaps.count == 1)
      for (result, (expectation, truth)) in zip(verdict.expectations, expected) {
        let place: Comment =
          "seed \(seed), round \(round), \(expectation.name), bound \(expectation.bound), truth \(truth)"
        #expect(result.outcome != .held, place)
        if result.outcome == .violated { #expect(Self.isViolated(expectation, truth), place) }
      }
    }
  }
}
