import DatalessCore
@testable import DatalessState
import Glibc
import Testing

/// A file that SOURCE has under several names comes out under all of them, whichever it was written by.
@Suite struct ExportedNamesTests {
  private let source = Scratch("source")
  private let fixture = StateFixture()
  private let target = Scratch("export")

  init() {
    for directory in ["d", "d/deep", "e"] { mkdir(source.full(directory), 0o755) }
    source.write("one", bytes("source"))
    for name in ["two", "d/deep/three", "e/four"] { link(source.full("one"), source.full(name)) }
  }

  private func mounted(_ body: (KeptVolume) throws -> Void) throws {
    let volume = try KeptVolume(fixture, source: source)
    try body(volume)
    try volume.unmount()
  }

  /// - Returns: The names that came out, all of them of one file.
  private func exported() throws -> [String] {
    let descriptor = target.openDirectory()
    defer { close(descriptor) }
    let report = try StateExport.run(try fixture.directory(.look), to: descriptor, scratch: Scratch.base)
    #expect(report.skipped == [] && report.files == 1)
    let names = target.files()
    #expect(report.links == names.count - 1)
    for name in names {
      var status = stat()
      stat(target.full(name), &status)
      #expect(Int(status.st_nlink) == names.count, "\(name)")
      #expect(target.read(name) == bytes("SOURCE"), "\(name)")
    }
    return names
  }

  @Test func namesThatWereListedBeforeTheFileWasWrittenToComeOut() throws {
    try mounted { volume in
      #expect(volume.find("d/deep/three").node == volume.node("one"))
      #expect(volume.write("SOURCE", to: "one") == nil)
    }
    #expect(try exported() == ["d/deep/three", "one", "two"])
  }

  @Test func namesThatWereListedLaterComeOut() throws {
    try mounted { volume in
      #expect(volume.write("SOURCE", to: "d/deep/three") == nil)
      #expect(volume.find("two").node != nil)
    }
    try mounted { volume in
      #expect(volume.read("one") == "SOURCE")
      #expect(volume.find("e/four").node == volume.node("one"))
    }
    #expect(try exported() == ["d/deep/three", "e/four", "one", "two"])
  }

  @Test func namesThatWereRemovedOrMovedHereComeOutAsCallersSeeThem() throws {
    try mounted { volume in
      #expect(volume.find("d/deep/three").node != nil && volume.find("e/four").node != nil)
      #expect(volume.write("SOURCE", to: "one") == nil)
      #expect(volume.unlink("two") == nil)
      #expect(volume.rename("d", to: "moved") == nil)
      #expect(volume.rename("e/four", to: "e/five") == nil)
    }
    #expect(try exported() == ["e/five", "moved/deep/three", "one"])
  }

  /// As the volume shows it: what was written stays under the names that SOURCE still has.
  @Test func namesThatTheStoreHasNoMoreDoNotComeOut() throws {
    try mounted { volume in
      #expect(volume.find("e/four").node != nil)
      #expect(volume.write("SOURCE", to: "one") == nil)
      unlink(source.full("e/four"))
      volume.refresh()
      #expect(volume.find("e/four").node == nil && volume.read("two") == "SOURCE")
    }
    let found = try exported()
    #expect(found == ["one", "two"])
    #expect(try fixture.check().findings == [])
  }

  @Test func namesThatLeadOutAreDamage() throws {
    try mounted { volume in #expect(volume.write("SOURCE", to: "one") == nil) }
    // As somebody could have made it.
    let catalog = try Catalog(damaged: fixture.scratch.full("catalog.sqlite"))
    _ = try catalog.write("edit") { connection in
      var dirty: [Int64] = []
      try connection.forEach("SELECT \(ItemRow.columns) FROM item") { found in
        let row = try ItemRow(found)
        if row.record.isDirty { dirty.append(row.id) }
      }
      for item in dirty { try connection.addStoreName(bytes("../escaped"), of: item) }
    }
    try catalog.close()
    let descriptor = target.openDirectory()
    defer { close(descriptor) }
    let report = try StateExport.run(try fixture.directory(.look), to: descriptor, scratch: Scratch.base)
    #expect(report.skippedCount == 1 && report.files == 1)
    #expect(target.files().allSatisfy { ["one", "two"].contains($0) })
  }
}

/// A file that SOURCE has under several names, one of them in a directory that is the volume's own by now: it comes out
/// where callers find it, and there once.
@Suite struct ExportedOwnDirectoryTests {
  private let source = Scratch("source")
  private let states = StateCopies()

  init() {
    for directory in ["a", "b"] { mkdir(source.full(directory), 0o755) }
    source.write("a/f", bytes("theirs"), mode: 0o644)
    link(source.full("a/f"), source.full("b/g"))
  }

  private func expectExported(_ sourceLocation: SourceLocation = #_sourceLocation) throws {
    let target = Scratch("export")
    let descriptor = target.openDirectory()
    defer { close(descriptor) }
    let report = try StateExport.run(try states.next().directory(.look), to: descriptor, scratch: Scratch.base)
    #expect(report.skipped == [] && report.files == 2 && report.links == 0, sourceLocation: sourceLocation)
    #expect(target.files() == ["a/new", "b/g"], sourceLocation: sourceLocation)
    #expect(target.read("b/g") == bytes("MINErs"), sourceLocation: sourceLocation)
  }

  private func change(_ volume: KeptVolume) {
    #expect(volume.names("a") == ["f"] && volume.names("b") == ["g"])
    #expect(volume.write("MINE", to: "b/g") == nil && volume.write("mine", to: "a/new") == nil)
  }

  private func expectShown(_ volume: KeptVolume, _ sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(volume.names("a") == ["new"] && volume.names("b") == ["g"], sourceLocation: sourceLocation)
    #expect(volume.read("b/g") == "MINErs" && volume.read("a/new") == "mine", sourceLocation: sourceLocation)
    #expect(volume.conflicts == ["a": "gone_in_source"], sourceLocation: sourceLocation)
  }

  @Test func whileMounted() throws {
    var volume = try KeptVolume(states.next(), source: source)
    change(volume)
    Scratch.removeTree(source.full("a"))
    volume.refresh()
    expectShown(volume)
    try volume.unmount()
    try expectExported()
    volume = try KeptVolume(states.next(), source: source)
    expectShown(volume)
    try volume.unmount()
    try expectExported()
    #expect(try states.next().check().findings == [])
  }

  /// - Parameter looked: What somebody looks into before the export.
  @Test(arguments: [["a", "b"], ["b", "a"], []]) func whileUnmounted(looked: [String]) throws {
    var volume = try KeptVolume(states.next(), source: source)
    change(volume)
    try volume.unmount()
    Scratch.removeTree(source.full("a"))
    volume = try KeptVolume(states.next(), source: source)
    for directory in [""] + looked { _ = volume.names(directory) }
    try volume.unmount()
    try expectExported()
    volume = try KeptVolume(states.next(), source: source)
    expectShown(volume)
    try volume.unmount()
    try expectExported()
    #expect(try states.next().check().findings == [])
  }
}
