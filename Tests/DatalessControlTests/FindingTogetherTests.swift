import Testing

@testable import DatalessControl

/// The finding *together*: files that were written while others had them open.
@Suite struct FindingTogetherTests {
  private static func finding(_ edit: (inout FindingLog) -> Void) throws -> Finding {
    var log = FindingLog(mounted: #""read_only":false,"together":true"#)
    edit(&log)
    log.unmount()
    return try log.finding(.together)
  }

  @Test func aWriteWithoutALockBesideAnotherProcessIsFound() throws {
    var log = FindingLog(mounted: #""read_only":false,"together":true"#)
    log.wrote("notes.txt")
    // Another open of the same file by the same process, and another file.
    log.wrote("notes.txt", at: 200)
    log.wrote("d/other", at: 300)
    log.unmount()
    let found = try log.finding(.together)
    #expect(found.outcome == .found && found.count == 2 && found.unknownCount == 0 && found.reasons.isEmpty)
    #expect(found.blockedNanoseconds == 0 && found.sparedNanoseconds == nil && found.placeCount == 1)
    let place = try #require(found.places.first)
    #expect(place.process?.name == "viewer" && place.other?.name == "cat" && place.count == 2)
    #expect(place.paths.map(\.path) == ["notes.txt", "d/other"] && place.stack == nil)
    let text = SummaryText.lines(try log.summary(), width: 400)
    #expect(
      text.contains {
        $0.contains(
          "2 files written to without a lock while another process had it open: viewer[10] (beside cat[20]) at"
            + " notes.txt, d/other. Lock a file, or coordinate, before it is written to while others have it open.")
      }, "\(text)")
  }

  @Test func whoHoldsALockIsNotFound() throws {
    let found = try Self.finding { $0.wrote("notes.txt", locked: "true") }
    #expect(found.outcome == .none && found.count == 0 && found.unknownCount == 0)
  }

  @Test func whereNobodyKnowsNobodyIsFound() throws {
    let found = try Self.finding { log in
      log.wrote("a", beside: "null", locked: #"null,"reason":"unseen""#)
      log.wrote("b", beside: "null", locked: #"null,"reason":"other_unknown""#)
      log.wrote("c", locked: #"null,"reason":"elsewhere""#)
      log.wrote("d", beside: "null", locked: #"null,"reason":"mapped""#)
    }
    #expect(found.outcome == .unknown && found.count == 0 && found.unknownCount == 4 && found.reasons.count == 3)
    for words in ["1 file (a) written to by the kernel", "1 file (d) stored to by mappings", "2 files (b, c) written"] {
      #expect(found.reasons.contains { $0.hasPrefix(words) }, "\(found.reasons)")
    }
  }

  /// What is named are files, however many processes write to each.
  @Test func aFileOfWhichNobodyKnowsIsOneFile() throws {
    let unseen = #"null,"reason":"unseen""#
    let found = try Self.finding { log in
      for process in 1...3 { log.wrote("a", by: process, beside: "null", locked: unseen) }
    }
    #expect(found.unknownCount == 1 && found.reasons.first?.hasPrefix("1 file (a) written to by") == true)
    let several = try Self.finding { log in
      for path in ["a", "b", "c", "a", "c"] {
        for process in 1...2 { log.wrote(path, by: process, beside: "null", locked: unseen) }
      }
    }
    #expect(several.reasons.first?.hasPrefix("3 files (a, b, c) written to by") == true, "\(several.reasons)")
    let more = try Self.finding { log in
      for path in ["a", "b", "c", "d", "a"] { log.wrote(path, beside: "null", locked: unseen) }
    }
    #expect(more.reasons.first?.hasPrefix("4 files (a, b, c, ...) written to by") == true, "\(more.reasons)")
  }

  /// SQLite's index of its log is a mapping, and is stored to under the locks that are held while the log is written.
  @Test func whoLocksWhatItWritesLocksWhatItMaps() throws {
    let found = try Self.finding { log in
      log.wrote("base-wal", locked: "true")
      log.wrote("base-shm", beside: "null", locked: #"null,"reason":"mapped""#, at: 200)
      log.wrote("base-shm", by: 2, beside: "null", locked: #"null,"reason":"mapped""#, at: 300)
    }
    #expect(found.outcome == .unknown && found.unknownCount == 1, "the other one has shown no lock")
  }

  /// Fields of an intent of process 2, or of another one.
  private static func intent(_ paths: [String], by process: Int = 2, writes: Int? = nil) -> String {
    let names = paths.count > 1 ? #","names":["\#(paths.joined(separator: #"",""#))"]"# : ""
    return #""path":"\#(paths[0])","reads":0,"writes":\#(writes ?? paths.count),"process":\#(process)"# + names
  }

  /// Of the writer, of the other one, or of who has started one of them.
  @Test(arguments: [(1, true), (2, true), (7, true), (8, false)]) func anIntentIsWhoseItIs(
    process: Int, covers: Bool
  ) throws {
    let found = try Self.finding { log in
      log.log.process(7, pid: 70, "dataless", exe: "/usr/bin/dataless")
      log.log.process(8, pid: 80, "editor", exe: "/usr/bin/editor")
      log.log.process(1, pid: 10, "viewer", exe: "/usr/bin/viewer", parents: [7])
      log.coordination("granted", 1, at: 50, Self.intent(["notes.txt"], by: process))
      log.wrote("notes.txt")
    }
    #expect(found.outcome == (covers ? .none : .found) && found.count == (covers ? 0 : 1))
  }

  @Test(arguments: [
    (["notes.txt"], true), (["d", "notes.txt"], true), ([""], true), (["d"], false), (["notes.tx"], false),
    (["notes.txt2"], false), (["notes.txt/x"], false),
  ]) func anIntentIsOnItsNamesAndWhatIsBelow(paths: [String], covers: Bool) throws {
    let found = try Self.finding { log in
      log.coordination("granted", 1, at: 50, Self.intent(paths))
      log.wrote("notes.txt")
    }
    #expect(found.count == (covers ? 0 : 1), "\(paths)")
    let below = try Self.finding { log in
      log.coordination("granted", 1, at: 50, Self.intent(["d/e"]))
      log.wrote("d/e/f")
    }
    #expect(below.count == 0)
  }

  @Test func anIntentHoldsForAsLongAsItIsGranted() throws {
    let early = try Self.finding { log in
      log.coordination("started", 1, at: 50, Self.intent(["notes.txt"]))
      log.wrote("notes.txt")
      log.coordination("granted", 1, at: 150, Self.intent(["notes.txt"]))
    }
    #expect(early.count == 1)
    let late = try Self.finding { log in
      log.coordination("granted", 1, at: 50, Self.intent(["notes.txt"]))
      log.coordination("finished", 1, at: 60, Self.intent(["notes.txt"]) + #","outcome":"ok""#)
      log.wrote("notes.txt")
    }
    #expect(late.count == 1)
  }

  @Test func anIntentFollowsARenameAndMayHaveMoreNamesThanAreTold() throws {
    let renamed = try Self.finding { log in
      log.coordination("granted", 1, at: 50, Self.intent(["notes.txt"]))
      log.log.add("item.renamed", at: 60, #""path":"old.txt","old_path":"notes.txt","kind":"file""#)
      log.wrote("old.txt")
      log.wrote("notes.txt", at: 200)
    }
    #expect(renamed.count == 0)
    let more = try Self.finding { log in
      log.coordination("granted", 1, at: 50, Self.intent(["a", "b"], writes: 9))
      log.wrote("notes.txt")
    }
    #expect(more.count == 0)
  }

  /// Who holds something in a directory holds that directory under its new name, and a rename in SOURCE is one, too.
  @Test func whatIsHeldIsFollowedWhoeverRenames() throws {
    let folder = try Self.finding { log in
      log.coordination("granted", 1, at: 50, Self.intent(["d/notes.txt"]))
      log.log.add("item.renamed", at: 60, #""path":"e","old_path":"d","kind":"directory""#)
      log.wrote("e/notes.txt")
    }
    #expect(folder.count == 0)
    let source = try Self.finding { log in
      log.coordination("granted", 1, at: 50, Self.intent(["notes.txt"]))
      log.log.add(
        "source.changed", at: 60, #""path":"old.txt","old_path":"notes.txt","kind":"file","change":"renamed""#)
      log.wrote("old.txt")
      log.wrote("other.txt", at: 200)
    }
    #expect(source.count == 1)
    let exchanged = try Self.finding { log in
      log.coordination("granted", 1, at: 50, Self.intent(["b"]))
      log.log.add("item.renamed", at: 60, #""path":"b","old_path":"a","kind":"file","exchange":true"#)
      log.wrote("a")
    }
    #expect(exchanged.count == 0)
  }

  @Test func aLogOfAnOlderVersionSaysNothing() throws {
    var log = FindingLog(mounted: #""read_only":false"#)
    log.log.add("item.written", at: 100, #""path":"notes.txt","process":1,"bytes":5"#)
    log.unmount()
    let found = try log.finding(.together)
    #expect(found.outcome == .unknown && found.count == 0 && found.reasons.count == 1)
    #expect(!SummaryText.lines(try log.summary(), width: 400).contains { $0.hasPrefix("together") })
    var readOnly = FindingLog()
    readOnly.unmount()
    #expect(try readOnly.finding(.together).outcome == .none)
  }

  @Test func withMissingRecordsWhatIsFoundIsNotKnown() throws {
    let found = try Self.finding { log in
      log.wrote("notes.txt")
      log.log.add("log.dropped", at: 200, #""count":1"#)
    }
    #expect(found.outcome == .unknown && found.count == 1)
  }
}
