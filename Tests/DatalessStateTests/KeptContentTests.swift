import DatalessCore
@testable import DatalessState
import Glibc
import Synchronization
import Testing

/// Content that an earlier run has kept takes room, and can go, before anybody has looked into its directory.
@Suite struct KeptContentTests {
  private let source = Scratch("source")
  private let states = StateCopies()

  init() {
    for directory in ["d", "d/e", "other", "empty"] { mkdir(source.full(directory), 0o755) }
    for path in ["d/a", "d/e/b", "other/c", "other/untouched", "empty/nothing"] {
      source.write(path, [UInt8](repeating: 7, count: 4096))
    }
  }

  private func mount(quota: Int64? = nil) throws -> KeptVolume {
    try KeptVolume(states.next(), source: source) { $0.simulation.quota = quota }
  }

  private func visit(_ volume: KeptVolume, _ path: String = "") {
    let ended = Mutex(false)
    volume.engine.visitSavedContent(of: bytes(path)) { ended.withLock { $0 = true } }
    volume.run()
    #expect(ended.withLock { $0 })
  }

  /// Without listing anything.
  private func isKnown(_ volume: KeptVolume, _ path: String) -> Bool {
    if case .found = volume.engine.resolve(bytes(path)) { true } else { false }
  }

  private func state(_ volume: KeptVolume, _ path: String) -> String? {
    volume.engine.describe(volume.node(path))?.state
  }

  @Test func whatIsKeptIsFoundAndNothingElse() throws {
    var volume = try mount()
    for path in ["d/a", "d/e/b", "other/c"] { _ = volume.read(path) }
    #expect(volume.rename("other/c", to: "empty/moved") == nil)
    try volume.unmount()
    volume = try mount()
    #expect(!isKnown(volume, "d/a"))
    visit(volume)
    for path in ["d/a", "d/e/b", "empty/moved"] { #expect(isKnown(volume, path), "\(path)") }
    #expect(volume.fetched == (0, 4), "the root, d, d/e and empty are listed")
    #expect(!isKnown(volume, "other/untouched"))
    visit(volume)
    #expect(volume.fetched == (0, 4), "it is done once")
    try volume.unmount()
  }

  @Test(arguments: [("d", ["d/a", "d/e/b"], 3), ("d/e", ["d/e/b", "d/a"], 3), ("other/c", ["other/c"], 2)])
  func onlyWhatIsAskedForIsLookedInto(path: String, found: [String], listed: Int64) throws {
    var volume = try mount()
    for path in ["d/a", "d/e/b", "other/c"] { _ = volume.read(path) }
    try volume.unmount()
    volume = try mount()
    visit(volume, path)
    #expect(["d/a", "d/e/b", "other/c"].filter { isKnown(volume, $0) }.sorted() == found.sorted())
    #expect(volume.fetched == (0, listed))
    visit(volume)
    #expect(["d/a", "d/e/b", "other/c"].allSatisfy { isKnown(volume, $0) })
    try volume.unmount()
  }

  /// What was used least recently goes first, also if that was before the mount.
  @Test func theQuotaTakesWhatWasUsedBeforeTheMount() throws {
    var volume = try mount(quota: 3 * 4096)
    for path in ["d/a", "d/e/b"] { _ = volume.read(path) }
    try volume.unmount()
    volume = try mount(quota: 3 * 4096)
    // What goes gives its room back when that is durable: nobody waits for the second after which changes are kept.
    for path in ["other/c", "other/untouched"] { #expect(volume.read(path).utf8.count == 4096) }
    #expect(state(volume, "other/c") == "resident" && state(volume, "other/untouched") == "resident")
    #expect(state(volume, "d/a") == "dataless" && state(volume, "d/e/b") == "resident")
    try volume.unmount()
  }

  @Test func pressureTakesWhatIsKept() throws {
    var volume = try mount()
    for path in ["d/e/b", "d/a", "other/c"] { _ = volume.read(path) }
    try volume.unmount()
    volume = try mount()
    let result = Mutex<PressureResult?>(nil)
    volume.engine.relieve(PressureSweep(2 * 4096)) { pressure in result.withLock { $0 = pressure } }
    volume.run()
    #expect(result.withLock { $0?.files } == 2)
    #expect(state(volume, "d/e/b") == "dataless" && state(volume, "d/a") == "dataless")
    #expect(state(volume, "other/c") == "resident")
    try volume.unmount()
    #expect(try states.next().check().findings == [])
  }

  /// A place that was told, and lies elsewhere by the time that it is looked for, is asked for anew.
  @Test func whatWasMovedMeanwhileIsFound() throws {
    var volume = try mount()
    for path in ["d/e/b", "other/c"] { _ = volume.read(path) }
    try volume.unmount()
    volume = try mount()
    visit(volume, "other")
    #expect(isKnown(volume, "other/c") && !isKnown(volume, "d/e/b"))
    #expect(volume.rename("d", to: "renamed") == nil)
    volume.passSecond()
    visit(volume)
    visit(volume)
    #expect(isKnown(volume, "renamed/e/b"))
    try volume.unmount()
  }
}
