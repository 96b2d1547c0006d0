import CDatalessLinux
import DatalessCore
import Glibc
import Synchronization

/// What other threads tell the one that coordinates.
enum CoordinationMail: Sendable {
  /// On the volume.
  case renamed([UInt8], to: [UInt8])
  case exchanged([UInt8], [UInt8])
  /// In SOURCE: one of those that a refresh finds, which end with `refreshed`.
  case renamedInSource([UInt8], to: [UInt8])
  case refreshed
  case happened(CoordinationAnswer.News, [UInt8])
  case read(UInt64, Result<CoordinationRequest, CoordinationRefusal>)
  case prepared(UInt64, Result<Int64, CoordinationRefusal>)
  /// Something is about to be done to items, and waits for the call, as `ItemPresenters.ask` has it.
  case announces(ItemQuestion, @Sendable ([Int], UInt64?) -> Void)
  /// That is over.
  case isOver(UInt64)
  case presented(@Sendable (Presenters) -> Void)
  case look(@Sendable (CoordinationSnapshot) -> Void)
  case end

  /// Nobody reads it any more: who waits for an answer has one.
  func giveUp() {
    switch self {
    case .announces(let question, let goOn): goOn(Array(question.paths.indices), nil)
    case .presented(let tell): tell(Presenters())
    case .look(let tell): tell(CoordinationSnapshot())
    case .renamed, .exchanged, .renamedInSource, .refreshed, .happened, .read, .prepared, .isOver, .end: break
    }
  }
}

/// Takes what they tell, in its order, and wakes the thread.
final class CoordinationMailbox: Sendable {
  private struct State {
    var mail: [CoordinationMail] = []
    var isClosed = false
  }

  /// LIMIT: renames, and news for presenters, that wait to be looked at. What comes faster than that is not told.
  private static let newsMax = 65_536

  /// Readable when there is mail.
  let descriptor: Int32
  /// Whether anything is held: a rename is of interest only then.
  let hasIntents = Atomic<Bool>(false)
  let hasPresenters = Atomic<Bool>(false)
  private let state = Mutex(State())

  /// nil when there are no descriptors left.
  init?() {
    let descriptor = clinux_event_create()
    guard descriptor >= 0 else { return nil }
    self.descriptor = Int32(truncatingIfNeeded: descriptor)
  }

  deinit { _ = Glibc.close(descriptor) }

  /// - Returns: False when nobody reads it any more.
  @discardableResult
  func post(_ mail: CoordinationMail) -> Bool {
    let (isOpen, wakes) = state.withLock { state -> (Bool, Bool) in
      guard !state.isClosed else { return (false, false) }
      switch mail {
      case .renamed, .exchanged, .renamedInSource, .happened:
        if state.mail.count > Self.newsMax { return (true, false) }
      default: break
      }
      state.mail.append(mail)
      return (true, state.mail.count == 1)
    }
    if wakes {
      var one: UInt64 = 1
      _ = write(descriptor, &one, 8)
    }
    return isOpen
  }

  func take() -> [CoordinationMail] {
    state.withLock { state in
      defer { state.mail = [] }
      return state.mail
    }
  }

  /// As `take`; nothing is accepted any more.
  func end() -> [CoordinationMail] {
    state.withLock { state in
      state.isClosed = true
      defer { state.mail = [] }
      return state.mail
    }
  }

  /// So that the next mail wakes again.
  func acknowledge() {
    var count: UInt64 = 0
    _ = read(descriptor, &count, 8)
  }
}

/// Sees renames, and what presenters are told, among the engine's events on their way to the log. Costs two loads where
/// nothing is coordinated.
final class CoordinationWatch: EventSink {
  private let next: any EventSink
  private let mailbox: CoordinationMailbox?

  init(mailbox: CoordinationMailbox?, next: any EventSink) {
    self.mailbox = mailbox
    self.next = next
  }

  func record(_ event: Event) {
    next.record(event)
    guard let mailbox else { return }
    let hasPresenters = mailbox.hasPresenters.load(ordering: .acquiring)
    guard hasPresenters || mailbox.hasIntents.load(ordering: .acquiring) else { return }
    switch event {
    case .changed(let change):
      guard case .renamed(let from, let isExchange, _) = change.change else { return }
      mailbox.post(isExchange ? .exchanged(from, change.path) : .renamed(from, to: change.path))
    case .sourceChanged(let change):
      // What got its name on the volume keeps that.
      if let from = change.oldPath, change.shownPath == change.path {
        mailbox.post(.renamedInSource(from, to: change.path))
      }
      if hasPresenters, let path = change.shownPath { mailbox.post(.happened(.changed, path)) }
    case .conflict(let conflict):
      if hasPresenters, conflict.takesOver { mailbox.post(.happened(.changed, conflict.path)) }
    case .refreshFinished: mailbox.post(.refreshed)
    case .evictionFinished(let eviction):
      guard hasPresenters else { return }
      mailbox.post(.happened(.evicted, eviction.path))
      if eviction.isSuperseded { mailbox.post(.happened(.changed, eviction.path)) }
    default: break
    }
  }
}
