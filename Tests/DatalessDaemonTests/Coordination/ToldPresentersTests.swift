import DatalessCore
import Synchronization
import Testing

@testable import DatalessDaemon

/// What of the engine's events presenters are told.
@Suite struct ToldPresentersTests {
  private struct NoLog: EventSink {
    func record(_ event: Event) {}
  }

  private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  /// `changed a`, `renamed a b`: in the order of the mail.
  private static func told(_ events: Event...) throws -> [String] {
    let mailbox = try #require(CoordinationMailbox())
    mailbox.hasPresenters.store(true, ordering: .releasing)
    let watch = CoordinationWatch(mailbox: mailbox, next: NoLog())
    for event in events { watch.record(event) }
    func text(_ path: [UInt8]) -> String { String(decoding: path, as: UTF8.self) }
    return mailbox.take().compactMap { mail -> String? in
      switch mail {
      case .happened(let news, let path): "\(news.word) \(text(path))"
      case .renamedInSource(let from, let to): "renamed \(text(from)) \(text(to))"
      default: nil
      }
    }
  }

  private static func change(
    _ change: Event.SourceChange.Change, from old: String? = nil, shown: String?
  ) -> Event {
    var event = Event.SourceChange(
      path: bytes("a"), change: change, kind: .file, oldPath: old.map { bytes($0) }, old: nil, new: nil, by: .poll,
      time: SampleRecords.time(1))
    event.shownPath = shown.map { bytes($0) }
    return .sourceChanged(event)
  }

  private static func conflict(_ change: Event.ConflictRecord.Change, _ kind: ConflictKind) -> Event {
    .conflict(
      Event.ConflictRecord(
        change, path: bytes("a"), kind: kind, mine: nil, theirs: nil, time: SampleRecords.time(1)))
  }

  @Test func whatWasTakenOverHasChanged() throws {
    #expect(try Self.told(Self.change(.changed, shown: "a")) == ["changed a"])
    #expect(try Self.told(Self.change(.changed, shown: "m/a")) == ["changed m/a"])
    #expect(try Self.told(Self.change(.renamed, from: "b", shown: "a")) == ["renamed b a", "changed a"])
  }

  @Test func whatWasNotTakenOverHasNot() throws {
    for change in [Event.SourceChange.Change.kept, .changed, .gone, .added] {
      #expect(try Self.told(Self.change(change, shown: nil)) == [])
    }
    #expect(try Self.told(Self.change(.renamed, from: "b", shown: nil)) == [])
    #expect(try Self.told(Self.change(.renamed, from: "b", shown: "b")) == ["changed b"])
  }

  @Test func aConflictIsToldWhenItIsResolvedForSource() throws {
    for kind in ConflictKind.allCases {
      #expect(try Self.told(Self.conflict(.found, kind), Self.conflict(.ended, kind)) == [])
      #expect(try Self.told(Self.conflict(.resolved(.keepMine, copy: nil), kind)) == [])
      #expect(try Self.told(Self.conflict(.resolved(.takeTheirs, copy: nil), kind)) == ["changed a"])
      let both = try Self.told(Self.conflict(.resolved(.keepBoth, copy: nil), kind))
      #expect(both == (kind == .changedHereGoneThere ? [] : ["changed a"]))
    }
  }

  @Test func anEvictionThatBringsAnotherVersionIsBoth() throws {
    var eviction = Event.EvictionRecord(
      path: Self.bytes("a"), kind: .file, bytes: 1, errno: nil, by: "command", time: SampleRecords.time(1))
    #expect(try Self.told(.evictionFinished(eviction)) == ["evicted a"])
    eviction.isSuperseded = true
    #expect(try Self.told(.evictionFinished(eviction)) == ["evicted a", "changed a"])
  }
}
