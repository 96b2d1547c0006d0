import DatalessCore
import Testing

@testable import DatalessControl

/// What was counted of a file is its, whatever it is called by now.
@Suite struct FileHistoryTests {
  private func history(_ paths: String...) -> FileHistory {
    var history = FileHistory(countsTimes: true)
    for path in paths {
      let isFirst = history.arrived(bytes(path), isWhole: true)
      #expect(isFirst)
    }
    return history
  }

  @Test func aRenamedFileTakesItAlong() {
    var history = history("d/a", "d/a", "d/b")
    history.renamed(bytes("d/a"), to: bytes("d/b"), isExchange: false, isDirectory: false)
    #expect(history.times(bytes("d/a")) == 0 && history.times(bytes("d/b")) == 2)
    history.renamed(bytes("x"), to: bytes("d/b"), isExchange: false, isDirectory: false)
    #expect(history.times(bytes("d/b")) == 0)
  }

  @Test func aDirectoryTakesAlongWhatIsBelow() {
    var history = history("d/a", "d/e/b", "da", "n/a")
    history.renamed(bytes("d"), to: bytes("n"), isExchange: false, isDirectory: true)
    #expect(["n/a", "n/e/b", "da"].allSatisfy { history.times(bytes($0)) == 1 })
    #expect(["d/a", "d/e/b"].allSatisfy { history.times(bytes($0)) == 0 })
  }

  @Test(arguments: [false, true]) func anExchangeIsBothWays(isDirectory: Bool) {
    var history = history("a", "a", "a/f", "b/f", "b/f", "b/g")
    history.renamed(bytes("a"), to: bytes("b"), isExchange: true, isDirectory: isDirectory)
    #expect(history.times(bytes("b")) == 2 && history.times(bytes("a")) == 0)
    #expect(history.times(bytes("b/f")) == 1 && history.times(bytes("a/f")) == 2 && history.times(bytes("a/g")) == 1)
  }

  @Test func aPartIsTheFirstOnceUntilItIsEvicted() {
    for countsTimes in [false, true] {
      var history = FileHistory(countsTimes: countsTimes)
      var firsts = [history.arrived(bytes("a"), isWhole: false), history.arrived(bytes("a"), isWhole: true)]
      history.renamed(bytes("a"), to: bytes("b"), isExchange: false, isDirectory: false)
      firsts += [history.arrived(bytes("a"), isWhole: false), history.arrived(bytes("b"), isWhole: false)]
      history.evicted(bytes("b"))
      firsts.append(history.arrived(bytes("b"), isWhole: false))
      history.left(bytes("b"))
      firsts.append(history.arrived(bytes("b"), isWhole: false))
      #expect(firsts == [true, false, true, false, true, true])
    }
  }

  /// Two directories that have changed places in SOURCE are told one after the other.
  @Test func oneRefreshHappensAtOnce() {
    var history = history("a/f", "a/f", "b/f", "b/g", "c/f")
    history.renamedInSource(bytes("a"), to: bytes("b"), isDirectory: true)
    history.renamedInSource(bytes("b"), to: bytes("a"), isDirectory: true)
    history.renamedInSource(bytes("c/f"), to: bytes("c/g"), isDirectory: false)
    history.refreshEnded()
    #expect(history.times(bytes("b/f")) == 2 && history.times(bytes("a/f")) == 1 && history.times(bytes("a/g")) == 1)
    #expect(history.times(bytes("b/g")) == 0 && history.times(bytes("c/f")) == 0 && history.times(bytes("c/g")) == 1)
    // What is not told to be elsewhere is gone.
    history.renamedInSource(bytes("a"), to: bytes("b"), isDirectory: true)
    history.refreshEnded()
    history.renamedInSource(bytes("b"), to: bytes("a"), isDirectory: true)
    #expect(history.times(bytes("a/f")) == 1 && history.times(bytes("b/f")) == 0)
  }

  // MARK: - In a log

  private static func renamed(_ old: String, _ new: String, kind: String = "file", exchange: Bool = false) -> String {
    #""path":"\#(new)","old_path":"\#(old)","kind":"\#(kind)"\#(exchange ? #","exchange":true"# : "")"#
  }

  /// What is done to a file between a read of its beginning and what decides whether that was all.
  @Test(
    arguments: [
      ("d/y", [("item.renamed", renamed("d/a", "d/y"))]),
      ("e/a", [("item.renamed", renamed("d", "e", kind: "directory"))]),
      ("d/b", [("item.renamed", renamed("d/b", "d/a", exchange: true))]),
      (
        "e/a",
        [
          ("source.changed", #""change":"renamed",\#(renamed("d", "e", kind: "directory"))"#),
          ("source.changed", #""change":"renamed",\#(renamed("e", "d", kind: "directory"))"#), ("refresh.finished", ""),
        ]
      ),
      ("d/l", [("item.created", #""path":"d/l","kind":"file""#), ("item.removed", #""path":"d/a","kind":"file""#)]),
    ])
  func needlessFollowsTheFile(path: String, changes: [(type: String, fields: String)]) throws {
    for isRead in [false, true] {
      var log = ExpectationLog()
      log.log.add(
        "configuration.changed", at: 1, #""what":"settings","before":{},"after":{"observe":"reads"},"by":"api""#)
      for name in ["d/a", "d/b"] { log.take(name, { $0.size = 100_000 }) }
      log.log.closed("d/a", by: 3, size: 100_000, covered: 10, at: 3_000)
      log.log.closed("d/b", by: 3, size: 100_000, covered: 100_000, at: 3_000)
      for change in changes { log.log.add(change.type, at: 4_000, change.fields) }
      if isRead, path != "d/l" { log.log.closed(path, by: 3, size: 100_000, covered: 100_000, at: 5_000) }
      log.unmount()
      let verdict = try log.verdict([Expected(.maxNeedless, 0)])
      let isNeedless = !isRead || path == "d/l"
      #expect(verdict.violations.map(\.path) == (isNeedless ? ["d/a"] : []), "\(path), read: \(isRead)")
      #expect(verdict.outcome == (isNeedless ? .violated : .held), "\(path), read: \(isRead)")
    }
  }

  @Test func repeatedFollowsTheFile() throws {
    var log = ExpectationLog()
    log.take("d/a")
    log.log.add("eviction.finished", at: 3_000, #""path":"d/a","kind":"file","bytes":100,"by":"command""#)
    log.log.add("item.renamed", at: 3_500, Self.renamed("d/a", "d/y"))
    log.take("d/y", { ($0.start, $0.end) = (4_000, 5_000) })
    log.log.add("item.renamed", at: 5_500, Self.renamed("d/b", "d/y"))
    log.take("d/y", { ($0.start, $0.end) = (6_000, 7_000) })
    log.unmount()
    #expect(try log.verdict([Expected(.maxRepeated, 0)]).expectations.first?.measured == 1)
  }
}
