import DatalessCore
import DatalessStores
import Glibc
import SystemPackage
import Testing

/// SOURCE changes between listing, opening and the last byte: the reader gets an errno, never short, mixed or foreign
/// bytes.
@Suite struct LocalStoreRaceTests {
  private let scratch = Scratch("race")
  private let store: LocalStore
  private let file: FoundItem

  init() throws {
    scratch.makeDirectory("outside")
    scratch.write("outside/f", "secret!!")
    scratch.makeDirectory("source")
    scratch.makeDirectory("source/d")
    scratch.write("source/d/f", "original")
    store = try LocalStore(source: FilePath(scratch.full("source")))
    file = try #require(try store.item("d/f"))
  }

  @Test func unchangedFileIsServed() throws {
    #expect(try store.content(file) == Array("original".utf8))
  }

  @Test func vanished() {
    scratch.remove("source/d/f")
    #expect(thrown { () throws(FSError) in _ = try store.open(file) }?.errno == .noSuchFileOrDirectory)
  }

  @Test func grownBeforeOpening() {
    scratch.write("source/d/f", "original and more")
    let error = thrown { () throws(FSError) in _ = try store.open(file) }
    #expect(error?.errno == .staleNFSFileHandle)
    #expect(error?.message.contains("8 to 17 bytes") == true)
  }

  @Test func rewrittenAtTheSameSizeBeforeOpening() {
    scratch.write("source/d/f", "ORIGINAL")
    #expect(thrown { () throws(FSError) in _ = try store.open(file) }?.errno == .staleNFSFileHandle)
  }

  @Test func rewrittenWithItsOldModificationTime() {
    let before = scratch.status("source/d/f")
    scratch.write("source/d/f", "ORIGINAL")
    scratch.setTimes("source/d/f", access: 0, modification: before.st_mtim.tv_sec)
    #expect(thrown { () throws(FSError) in _ = try store.open(file) }?.errno == .staleNFSFileHandle)
  }

  @Test func replacedByAnotherFile() {
    scratch.write("source/d/g", "original")
    scratch.move("source/d/g", to: "source/d/f")
    let error = thrown { () throws(FSError) in _ = try store.open(file) }
    #expect(error?.errno == .staleNFSFileHandle)
    #expect(error?.message.contains("replaced") == true)
  }

  @Test func fileTurnedIntoASymlinkToTheOutside() {
    scratch.remove("source/d/f")
    scratch.makeSymlink("source/d/f", to: "../../outside/f")
    #expect(thrown { () throws(FSError) in _ = try store.open(file) }?.errno == .staleNFSFileHandle)
  }

  @Test func fileTurnedIntoAFifoDoesNotHang() {
    scratch.remove("source/d/f")
    #expect(mkfifo(scratch.full("source/d/f"), 0o644) == 0)
    #expect(thrown { () throws(FSError) in _ = try store.open(file) }?.errno == .staleNFSFileHandle)
  }

  @Test func fileTurnedIntoADirectory() {
    scratch.remove("source/d/f")
    scratch.makeDirectory("source/d/f")
    #expect(thrown { () throws(FSError) in _ = try store.open(file) }?.errno == .staleNFSFileHandle)
  }

  @Test func directorySwappedForASymlinkToTheOutside() throws {
    let directory = try #require(try store.item("d"))
    scratch.move("source/d", to: "source/moved")
    scratch.makeSymlink("source/d", to: "../outside")
    #expect(thrown { () throws(FSError) in _ = try store.open(file) }?.errno == .staleNFSFileHandle)
    #expect(thrown { () throws(FSError) in _ = try store.entries(directory) }?.errno == .staleNFSFileHandle)
    #expect(
      thrown { () throws(FSError) in _ = try store.extendedAttributeNames(of: file) }?.errno == .staleNFSFileHandle)
  }

  @Test func directoryReplacedByAnother() throws {
    let directory = try #require(try store.item("d"))
    scratch.move("source/d", to: "source/moved")
    scratch.makeDirectory("source/d")
    #expect(thrown { () throws(FSError) in _ = try store.entries(directory) }?.errno == .staleNFSFileHandle)
    #expect(thrown { () throws(FSError) in _ = try store.open(file) }?.errno == .noSuchFileOrDirectory)
  }

  @Test func directoryTurnedIntoAFile() throws {
    let directory = try #require(try store.item("d"))
    scratch.move("source/d", to: "source/moved")
    scratch.write("source/d", "now a file")
    #expect(thrown { () throws(FSError) in _ = try store.entries(directory) }?.errno == .staleNFSFileHandle)
    #expect(thrown { () throws(FSError) in _ = try store.open(file) }?.errno == .staleNFSFileHandle)
  }

  @Test func directoryWithNewEntriesIsStillListed() throws {
    let directory = try #require(try store.item("d"))
    scratch.write("source/d/new", "x")
    #expect(try store.entries(directory).count == 2)
  }

  @Test func grownWhileReading() throws {
    let content = try store.open(file)
    defer { content.close() }
    scratch.write("source/d/f", "original and more")
    // Not a byte beyond the listed size is handed out, and the whole is refused at the end.
    #expect(try content.bytes(0..<100).count == 8)
    #expect(thrown { () throws(FSError) in try content.verify() }?.errno == .staleNFSFileHandle)
  }

  @Test func shrunkWhileReading() throws {
    let content = try store.open(file)
    defer { content.close() }
    scratch.write("source/d/f", "o")
    #expect(try content.bytes(0..<8).count == 1)
    #expect(try content.bytes(4..<8).isEmpty)
    #expect(thrown { () throws(FSError) in try content.verify() }?.errno == .staleNFSFileHandle)
  }

  @Test func rewrittenWhileReading() throws {
    let content = try store.open(file)
    defer { content.close() }
    scratch.write("source/d/f", "ORIGINAL")
    #expect(thrown { () throws(FSError) in try content.verify() }?.errno == .staleNFSFileHandle)
  }

  @Test func unlinkedWhileReadingIsAnotherVersion() throws {
    let content = try store.open(file)
    defer { content.close() }
    scratch.remove("source/d/f")
    // Unlinking moves ctime: a strict answer, and the same as for a file that vanished before it was opened.
    #expect(thrown { () throws(FSError) in try content.verify() }?.errno == .staleNFSFileHandle)
  }

  /// The directory is swapped for a symbolic link to the outside and back, as fast as possible, during 1,000 fetches.
  @Test func nothingFromOutsideIsEverServedWhileSwapping() throws {
    let scratch = scratch
    scratch.makeSymlink("source/link", to: "../outside")
    let swapper = Repeater {
      // The names trade places through a third one: d is the directory, the link, or missing.
      scratch.move("source/d", to: "source/aside")
      scratch.move("source/link", to: "source/d")
      scratch.move("source/d", to: "source/link")
      scratch.move("source/aside", to: "source/d")
    }
    defer { swapper.stop() }
    var served = 0
    var refusals: [Errno: Int] = [:]
    for _ in 0..<1000 {
      do throws(FSError) {
        let bytes = try store.content(file)
        #expect(bytes == Array("original".utf8))
        served += 1
      } catch {
        refusals[error.errno, default: 0] += 1
      }
    }
    #expect(refusals.keys.allSatisfy { [.staleNFSFileHandle, .noSuchFileOrDirectory].contains($0) })
    #expect(served + refusals.values.reduce(0, +) == 1000)
  }
}
