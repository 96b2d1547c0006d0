import CDatalessLinux
import DatalessCore
import Glibc
import Synchronization
import SystemPackage

/// Coordinates accesses of programs on one volume (docs/COORDINATION.md): a socket beside that of the control API,
/// and a thread of its own.
final class CoordinationServer: Sendable {
  let mailbox: CoordinationMailbox?
  private let hasEnded = Monitor<Bool>(true)

  init() { mailbox = CoordinationMailbox() }

  /// Tells of renames what is coordinated has to know. To be put before the sink of the engine's events.
  func watch(_ next: any EventSink) -> CoordinationWatch { CoordinationWatch(mailbox: mailbox, next: next) }

  /// Listens, and begins to serve. Call once.
  ///
  /// - Throws: EMFILE, ENOSPC, or what bind(2) says.
  func start(at path: String, _ surroundings: CoordinationLoop.Surroundings) throws(Errno) {
    guard let mailbox else { throw .tooManyOpenFiles }
    let poll = clinux_poll_create()
    guard poll >= 0 else { throw Errno(rawValue: Int32(truncatingIfNeeded: -poll)) }
    let listener: Int32
    do throws(Errno) {
      listener = try CoordinationSocket.listen(at: path)
    } catch {
      close(Int32(truncatingIfNeeded: poll))
      throw error
    }
    hasEnded.set(false)
    let failure = LaneThread.start(name: "dl-coordinate") { [hasEnded] in
      CoordinationLoop(surroundings, mailbox: mailbox, listener: listener, poll: Int32(truncatingIfNeeded: poll)).run()
      hasEnded.set(true)
    }
    guard failure == 0 else {
      hasEnded.set(true)
      close(listener)
      close(Int32(truncatingIfNeeded: poll))
      throw Errno(rawValue: failure)
    }
  }

  /// Answers everybody that the volume ends, and waits for that as long as it is told to.
  func stop(within limit: Nanoseconds) {
    mailbox?.post(.end)
    let deadline = MonotonicTime.current + limit
    _ = hasEnded.wait { $0 || MonotonicTime.current >= deadline ? .done($0) : .wait(until: deadline) }
  }

  /// Asks those who present what a command is about to evict, and waits until they have answered, 5 s at most.
  ///
  /// - Returns: What to end when that is over; nil: nobody was asked.
  func askBeforeEviction(of paths: [[UInt8]]) async -> UInt64? {
    guard areThere else { return nil }
    return await withCheckedContinuation { continuation in
      ask(ItemQuestion(.evict, paths: paths)) { _, number in continuation.resume(returning: number) }
    }
  }

  /// What presenters were asked about is done, or was refused.
  func endEviction(_ number: UInt64?) { if let number { end(number) } }

  /// Who coordinates now.
  func snapshot() async -> CoordinationSnapshot {
    guard let mailbox else { return CoordinationSnapshot() }
    return await withCheckedContinuation { continuation in
      let isTaken = mailbox.post(.look { continuation.resume(returning: $0) })
      if !isTaken { continuation.resume(returning: CoordinationSnapshot()) }
    }
  }
}

extension CoordinationServer: ItemPresenters {
  var areThere: Bool { mailbox?.hasPresenters.load(ordering: .acquiring) ?? false }

  func look(_ completion: @escaping @Sendable (Presenters) -> Void) {
    guard let mailbox, mailbox.post(.presented(completion)) else { return completion(Presenters()) }
  }

  func ask(_ question: ItemQuestion, goOn: @escaping @Sendable ([Int], UInt64?) -> Void) {
    guard areThere, let mailbox, mailbox.post(.announces(question, goOn)) else {
      return goOn(Array(question.paths.indices), nil)
    }
  }

  func end(_ number: UInt64) { mailbox?.post(.isOver(number)) }
}
