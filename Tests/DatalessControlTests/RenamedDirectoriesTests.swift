import DatalessCore
import TestSupport
import Testing

@testable import DatalessControl

/// What is below a directory is found by what that is called now, whatever it was called before.
@Suite struct RenamedDirectoriesTests {
  /// Files by what they are called, each with the path that it is kept under.
  private struct Model {
    var names = RenamedDirectories(keepsNames: true)
    var files: [String: [UInt8]] = [:]
    /// What was below directories that others have replaced.
    var lost: [[UInt8]] = []

    mutating func make(_ path: String) {
      if files[path] == nil { files[path] = names.place(of: bytes(path)) }
    }

    private mutating func take(_ directory: String) -> [(name: String, place: [UInt8])] {
      let below = files.filter { $0.key.hasPrefix(directory + "/") }
      for path in below.keys { files[path] = nil }
      return below.map { (name: String($0.key.dropFirst(directory.count)), place: $0.value) }
    }

    mutating func rename(_ old: String, _ new: String, isExchange: Bool) {
      let (moved, other) = (take(old), take(new))
      for (name, place) in moved { files[new + name] = place }
      if isExchange { for (name, place) in other { files[old + name] = place } } else { lost += other.map(\.place) }
      names.rename(bytes(old), to: bytes(new), isExchange: isExchange)
    }
  }

  private static func directory(_ random: inout TestRandom) -> String {
    let names = ["a", "b", "c"]
    return (0...random.below(3)).map { _ in random.element(of: names) }.joined(separator: "/")
  }

  @Test(arguments: TestSeed.first(200)) func everyFileIsFoundByItsName(seed: UInt64) {
    var random = TestRandom(seed: seed)
    var model = Model()
    for _ in 0..<60 {
      let (old, new) = (Self.directory(&random), Self.directory(&random))
      if random.oneIn(2) {
        model.make("\(old)/f\(random.below(3))")
      } else if old != new, !old.hasPrefix(new + "/"), !new.hasPrefix(old + "/") {
        model.rename(old, new, isExchange: random.oneIn(4))
      }
      #expect(Set(model.files.values).count == model.files.count, "seed \(seed)")
      for (path, place) in model.files { #expect(model.names.place(of: bytes(path)) == place, "seed \(seed): \(path)") }
    }
    var paths = PathStore()
    let kept = model.files.map { (path: bytes($0.key), place: paths.add($0.value)) }
    let lost = model.lost.map { paths.add($0) }
    let replaced = paths.callDirectories(model.names.names)
    for (path, place) in kept {
      #expect(paths.path(place) == path && !replaced.contains(place.directory), "seed \(seed)")
    }
    #expect(lost.allSatisfy { replaced.contains($0.directory) }, "seed \(seed)")
  }

  /// Two directories that have changed names in SOURCE are told one after the other.
  @Test func oneRefreshHappensAtOnce() {
    var names = RenamedDirectories()
    let places = ["a/f", "b/f", "b/c/f"].map { names.place(of: bytes($0)) }
    names.renameInSource(bytes("a"), to: bytes("b"))
    names.renameInSource(bytes("b"), to: bytes("a"))
    names.refreshEnded()
    #expect(["b/f", "a/f", "a/c/f"].map { names.place(of: bytes($0)) } == places)
    names.rename(bytes("a"), to: bytes("x"), isExchange: false)
    #expect(names.place(of: bytes("x/c/f")) == places[2] && names.place(of: bytes("a/f")) != places[1])
  }

  /// The same with and without paths: a file that was read below a directory that was renamed meanwhile is one file.
  @Test(arguments: [false, true], [false, true]) func aFileBelowARenamedDirectoryIsOne(
    keepsFiles: Bool, isInSource: Bool
  ) throws {
    var log = LogText()
    log.mounted()
    log.process(1, pid: 10, "head", exe: "/bin/head")
    for (attempt, path) in [(1, "d/f"), (2, "e/f")] {
      log.started(attempt, path, size: 1_000_000, by: 1, at: 1_000)
      log.finished(attempt, path, bytes: 1_000_000, by: 1, at: 2_000)
      guard attempt == 1 else { break }
      if isInSource {
        log.add(
          "source.changed", at: 3_000,
          #""path":"e","old_path":"d","kind":"directory","change":"renamed","metadata_only":false"#)
        log.add("refresh.finished", at: 3_000)
      } else {
        log.add("item.renamed", at: 3_000, #""path":"e","old_path":"d","kind":"directory","process":1"#)
      }
      log.add("eviction.finished", at: 4_000, #""path":"e/f","kind":"file","bytes":1000000,"outcome":"ok""#)
    }
    log.closed("e/f", by: 1, size: 1_000_000, covered: 1_000_000, at: 5_000)
    var builder = SummaryBuilder(files: keepsFiles ? .bytes : nil)
    for line in log.lines { builder.add(try #require(LogRecord(line: bytes(line)))) }
    let report = builder.finish(log: bytes("/x.jsonl"))
    #expect(report.repeated.items == 1 && report.repeated.attemptsMax == 2)
    #expect(report.materialized.distinctBytes == 1_000_000)
    #expect(report.use.whole == 1 && report.use.openedNotRead == 0 && report.use.needlessFiles == 0)
    if keepsFiles { #expect(report.files?.map(\.path) == ["e/f"]) }
  }
}
