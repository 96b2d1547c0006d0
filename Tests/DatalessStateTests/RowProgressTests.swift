import DatalessCore
@testable import DatalessState
import DatalessStores
import Glibc
import SystemPackage
import Testing

/// How far a check and a copy are, of how much.
@Suite struct RowProgressTests {
  private static let files: UInt64 = 9000

  private static func make(_ fixture: StateFixture) throws {
    try fixture.run { volume in
      let made = (1...files).flatMap { number -> [StateChange] in
        let file = own(node: 100 + number, number)
        return [
          .made(file, attributes(inode: file.inode), target: []), .named(file, name: bytes("\(number)"), in: root),
        ]
      }
      try fixture.keep(.together(made), in: volume)
    }
  }

  @Test func aCheckTellsHowManyRowsItHasLookedAt() throws {
    let fixture = StateFixture()
    try Self.make(fixture)
    var told: [StateCheck.Progress] = []
    let report = try StateCheck.run(try fixture.directory(.look), isDryRun: true, scratch: Scratch.base) {
      told.append($0)
    }
    #expect(report.findings.isEmpty)
    let all = told.filter { $0.totalRows != nil }
    #expect(Set(all.map(\.totalRows)) == [Int64(report.items + report.names)])
    #expect(all.map(\.rows) == [4096, 8192, 12288, 16384])
    #expect(told.filter { $0.totalRows == nil }.map(\.step) == [.content, .catalog, .rows, .leftovers])
  }

  @Test func aCheckIsEndedBetweenRows() throws {
    let fixture = StateFixture()
    try Self.make(fixture)
    let error = #expect(throws: FSError.self) {
      _ = try StateCheck.run(
        try fixture.directory(.repair), isDryRun: false, scratch: Scratch.base
      ) { (progress) throws(FSError) in
        if progress.rows > 4096 { throw FSError(.interrupted, "stopped") }
      }
    }
    #expect(error?.errno == .interrupted)
    #expect(try fixture.check().findings.isEmpty)
  }
}
