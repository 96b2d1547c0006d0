import DatalessControl
import Synchronization
import Testing

@testable import DatalessCommands

/// How far long commands have come, what there is in all, and how long it may still take.
@Suite struct ProgressTests {
  @Test func theTimeLeftIsToldFromWhatTheRestTook() {
    var left = TimeLeft()
    let begin = ContinuousClock.now
    #expect(left.note(0.1, at: begin) == nil)
    #expect(left.note(0.2, at: begin + .seconds(1)) == nil, "too early to tell")
    #expect(left.note(0.3, at: begin + .seconds(2)) == .seconds(7))
    #expect(left.note(1, at: begin + .seconds(9)) == .zero)
    #expect(left.note(0.5, at: begin + .seconds(10)) == nil, "another one has begun")
  }

  @Test func nothingIsToldOfWhatDoesNotGoOn() {
    var left = TimeLeft()
    let begin = ContinuousClock.now
    _ = left.note(0.5, at: begin)
    #expect(left.note(0.5, at: begin + .seconds(60)) == nil)
  }

  @Test(
    arguments: [
      (0.2, "about 1 s left"), (12, "about 12 s left"), (150, "about 2 min left"), (7300, "about 2 h left"),
    ])
  func timesAreRoughOnes(seconds: Double, text: String) {
    #expect(TimeLeft.text(.seconds(seconds)) == text)
  }

  @Test func transfersSayHowMuchThereIs() {
    var progress = TransferProgress(files: 0, directories: 12, bytes: 0)
    #expect(Transfer.text(progress, "materialized") == "listed 12 directories")
    #expect(progress.share == nil)
    (progress.files, progress.bytes, progress.totalFiles, progress.totalBytes) = (3, 4096, 4, 16384)
    #expect(Transfer.text(progress, "materialized") == "materialized 3 of 4 files, 4.0 KiB of 16.0 KiB")
    #expect(progress.share == 0.25, "of what is less")
    progress.totalBytes = 0
    #expect(progress.share == 0.75)
  }

  @Test func whoReadsALogSeesHowFarItIs() throws {
    let file = try TemporaryFile(Array(String(repeating: "{\"v\":1}\n", count: 100_000).utf8))
    let seen = Mutex<[(position: Int64, size: Int64)]>([])
    let note: LogProgress.Watcher = { _, position, size in seen.withLock { $0.append((position, size)) } }
    try LogProgress.watch(note) {
      let log = try LogFile(path: file.path)
      while try log.next() != nil {}
    }
    let told = seen.withLock { $0 }
    #expect(told.count > 2 && told.last?.position == 800_000)
    #expect(told.allSatisfy { $0.size == 800_000 })
  }
}
