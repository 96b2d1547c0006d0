import DatalessCore
@testable import DatalessState
import Glibc
import SystemPackage
import TestSupport
import Testing

/// Wherever a crash cuts the catalog, what opens is the state after some number, and never after fewer than were
/// durable.
@Suite struct JournalCrashTests {
  /// The catalog as it lay on the disk after each commit, and what was to be in it.
  private struct Run {
    var database: [UInt8] = []
    var wal: [UInt8] = []
    /// By commit: where the WAL ended, and the model then.
    var commits: [(end: Int, model: StateModel)] = []
  }

  private static func make(in scratch: Scratch) throws(FSError) -> Catalog {
    let catalog = try Catalog(scratch.full("catalog"), .making, home: 77)
    try catalog.write("make") { connection in
      var record = ItemRecord()
      record.version = root.binding?.version
      try ItemRow(id: ItemRow.root, place: nil, inode: root.inode, record: record).save(connection)
    }
    return catalog
  }

  /// - Parameter batch: The most numbers in one commit.
  private static func run(seed: UInt64, commits: Int, batch: Int) throws -> Run {
    let scratch = Scratch()
    let catalog = try make(in: scratch)
    // Then the WAL is never put into the file, and has all that came.
    _ = try catalog.read("checkpoints") { try $0.run("PRAGMA wal_autocheckpoint=0") }
    _ = try catalog.read("checkpoints") { try $0.run("PRAGMA wal_checkpoint(TRUNCATE)") }
    var writer = try catalog.read("begin") { try CatalogWriter($0, epoch: 1) }
    var generator = ChangeGenerator(seed: seed)
    var random = TestRandom(seed: seed &+ 1)
    var run = Run()
    var model = StateModel()
    run.commits.append((0, model))
    for _ in 0..<commits {
      let changes = (0...random.below(batch)).map { _ in generator.next() }
      try catalog.write("commit") { connection in
        for change in changes { try writer.apply(change, connection) }
      }
      writer.commit()
      for change in changes { model.apply(change) }
      #expect(try StateModel(catalog) == model, "seed \(seed)")
      run.commits.append((scratch.read("catalog-wal").count, model))
    }
    run.database = scratch.read("catalog")
    run.wal = scratch.read("catalog-wal")
    return run
  }

  private static func opened(_ database: [UInt8], wal: [UInt8]) throws(FSError) -> StateModel {
    let scratch = Scratch("cut")
    scratch.write("catalog", database)
    scratch.write("catalog-wal", wal)
    return try StateModel(try Catalog(scratch.full("catalog"), .writing, home: 77))
  }

  @Test(arguments: TestSeed.seeds) func aWALThatIsCutOffIsTheStateAfterSomeNumber(seed: UInt64) throws {
    let run = try Self.run(seed: seed, commits: 30, batch: 4)
    var random = TestRandom(seed: seed)
    let pageAndHeader = 4096 + 24
    var cuts = Set(run.commits.map(\.end))
    cuts.formUnion(stride(from: 32, to: run.wal.count, by: pageAndHeader * 5))
    for _ in 0..<15 { cuts.insert(random.below(run.wal.count)) }
    for cut in cuts.sorted() {
      let expected = run.commits.last { $0.end <= cut }?.model
      #expect(try Self.opened(run.database, wal: Array(run.wal[..<cut])) == expected, "cut at \(cut), seed \(seed)")
    }
  }

  @Test(arguments: TestSeed.seeds) func aBitThatTurnedInTheWALEndsItThere(seed: UInt64) throws {
    let run = try Self.run(seed: seed, commits: 30, batch: 4)
    var random = TestRandom(seed: seed)
    for _ in 0..<25 {
      let place = random.below(run.wal.count)
      var wal = run.wal
      wal[place] ^= UInt8(1 << random.below(8))
      let expected = run.commits.last { $0.end <= place }?.model
      #expect(try Self.opened(run.database, wal: wal) == expected, "bit in byte \(place), seed \(seed)")
    }
  }

  @Test(arguments: TestSeed.seeds) func aTransactionThatFailsLeavesNothing(seed: UInt64) throws {
    struct Stop: Error {}
    let scratch = Scratch()
    let catalog = try Self.make(in: scratch)
    var writer = try catalog.read("begin") { try CatalogWriter($0, epoch: 1) }
    var generator = ChangeGenerator(seed: seed)
    var random = TestRandom(seed: seed)
    var model = StateModel()
    for step in 0..<60 {
      let changes = (0...random.below(6)).map { _ in generator.next() }
      // Fails after some of them, and is tried again from the beginning, as the journal does.
      let stop = random.oneIn(2) ? random.below(changes.count + 1) : nil
      if let stop {
        #expect(throws: FSError.self) {
          try catalog.write("commit") { connection in
            for change in changes[..<stop] { try writer.apply(change, connection) }
            throw Stop()
          }
        }
        writer.rollBack()
        #expect(try StateModel(catalog) == model, "step \(step), seed \(seed)")
      }
      try catalog.write("commit") { connection in
        for change in changes { try writer.apply(change, connection) }
      }
      writer.commit()
      for change in changes { model.apply(change) }
      #expect(try StateModel(catalog) == model, "step \(step), seed \(seed)")
    }
  }

  @Test(arguments: TestSeed.seeds) func anItemIsTheSameAfterReopening(seed: UInt64) throws {
    let scratch = Scratch()
    var catalog = try Self.make(in: scratch)
    var writer = try catalog.read("begin") { try CatalogWriter($0, epoch: 1) }
    var generator = ChangeGenerator(seed: seed)
    var model = StateModel()
    for step in 0..<200 {
      let change = generator.next()
      try catalog.write("commit") { try writer.apply(change, $0) }
      writer.commit()
      model.apply(change)
      // A new run knows no node any more.
      if step % 20 == 0 {
        try catalog.close()
        catalog = try Catalog(scratch.full("catalog"), .writing, home: 77)
        writer = try catalog.read("begin") { try CatalogWriter($0, epoch: 1) }
      }
      #expect(try StateModel(catalog) == model, "step \(step), seed \(seed)")
    }
  }
}
