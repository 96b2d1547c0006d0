import DatalessCore
@testable import DatalessState
import Glibc
import SystemPackage
import Testing

/// What nobody reaches any more goes when the volume ends: a check finds nothing to say, and no room is left in use.
@Suite struct KeptEndTests {
  private let source = Scratch("source")
  private let states = StateCopies()

  init() {
    for directory in ["d", "d/sub"] { mkdir(source.full(directory), 0o755) }
    for file in ["a", "d/f", "d/sub/deep"] { source.write(file, bytes("source \(file)")) }
  }

  private func mount() throws -> KeptVolume {
    let volume = try KeptVolume(states.next(), source: source)
    _ = try volume.state.reconcile()
    return volume
  }

  private func expectNothingWrong() throws {
    for isDryRun in [true, false] {
      let report = try states.next().check(isDryRun: isDryRun)
      #expect(report.findings.isEmpty, "\(report.findings)")
    }
  }

  @Test(arguments: [false, true]) func aRemovedTreeOfTheStore(empties: Bool) throws {
    let volume = try mount()
    #expect(volume.write("WRITTEN", to: "d/f") == nil)
    #expect(volume.write("new", to: "d/sub/new") == nil)
    #expect(volume.rename("d/sub/deep", to: "kept") == nil)
    #expect(volume.remove("d", empties: empties) == nil)
    try volume.unmount()
    try expectNothingWrong()
    let again = try mount()
    #expect(again.names("") == ["a", "kept"])
    #expect(again.read("kept") == "source d/sub/deep")
    #expect(again.contents == 1)
    try again.unmount()
    try expectNothingWrong()
  }

  @Test func whatIsOpenWhenItLosesItsName() throws {
    let volume = try mount()
    #expect(volume.write("MINE", to: "new", closes: false) == nil)
    #expect(volume.unlink("new") == nil)
    try volume.unmount()
    try expectNothingWrong()
    let again = try mount()
    #expect(again.names("") == ["a", "d"])
    #expect(again.contents == 0)
    try again.unmount()
  }

  /// More rows than an end goes through: the next run goes on.
  @Test func aTreeThatIsLargerThanAnEndGoesThrough() throws {
    let first = try mount()
    #expect(first.makeDirectory("many") == nil)
    for number in 0..<5000 { #expect(first.makeLink("many/\(number)", to: "x") == nil) }
    try first.unmount()
    let second = try mount()
    #expect(second.remove("many", empties: false) == nil)
    second.engine.end(FSError(.timedOut, "the volume is being unmounted"))
    try second.state.journal.commit()
    try second.state.close()
    let report = try states.next().check(isDryRun: true)
    #expect(report.damages == 0)
    let third = try mount()
    #expect(third.names("") == ["a", "d"])
    third.state.emptyTrash()
    third.run()
    try third.unmount()
    try expectNothingWrong()
  }
}
