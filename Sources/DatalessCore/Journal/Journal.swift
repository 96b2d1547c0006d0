/// Takes the changes that are to outlive the daemon.
public protocol JournalSink: Sendable {
  /// Whether it wants any. If not, none is put together.
  var keepsChanges: Bool { get }

  /// Takes the next change. Called under the engine's lock, in the order of the numbers: it must not wait.
  func append(_ change: StateChange, _ number: ChangeNumber)

  /// Calls `completion` once, on any thread, when all changes up to a number are durable: with nil; or with why they
  /// cannot become so: EIO, ENOSPC. Called without the engine's lock.
  func whenDurable(_ number: ChangeNumber, _ completion: @escaping @Sendable (FSError?) -> Void)

  /// Calls `body` once, on any thread, when all changes up to a number are durable, for which nobody waits: it need not
  /// hurry. Not called if they cannot become so. Called without the engine's lock.
  func afterNextCommit(_ number: ChangeNumber, _ body: @escaping @Sendable () -> Void)

  /// Makes all changes durable that were appended before the call, for somebody who needs the room of what was removed:
  /// on the calling thread, which may wait for the disk. Whoever waits for them is called, here or on the thread that
  /// has committed them meanwhile. Called without the engine's lock.
  ///
  /// - Returns: Whether content is on its way out besides, of which nobody but the journal knows.
  /// - Throws: ENOSPC, EDQUOT, EIO: nothing has become durable.
  func makeRoom() throws(FSError) -> Bool

  /// Whether there is room for a change by which what is kept grows by so many bytes, with all that was appended
  /// before. What is appended all the same may find none, and then nothing after it becomes durable: so what programs
  /// ask for is refused. Called under the engine's lock: it must not wait.
  ///
  /// - Parameter removing: Whether something is removed by it: for that some room is left when others find none.
  func hasRoom(for bytes: Int64, removing: Bool) -> Bool
}

extension JournalSink {
  public func makeRoom() throws(FSError) -> Bool { false }

  public func hasRoom(for bytes: Int64, removing: Bool) -> Bool { true }

  public func afterNextCommit(_ number: ChangeNumber, _ body: @escaping @Sendable () -> Void) {
    whenDurable(number) { error in if error == nil { body() } }
  }
}

/// Of a volume that forgets everything when it ends.
public struct NoJournal: JournalSink {
  public init() {}
  public var keepsChanges: Bool { false }
  public func append(_ change: StateChange, _ number: ChangeNumber) {}
  public func whenDurable(_ number: ChangeNumber, _ completion: @escaping @Sendable (FSError?) -> Void) {
    completion(nil)
  }
}

/// Numbers the changes of state that are to outlive the daemon, and hands them on in that order.
///
/// One for a volume, shared by the parts whose state it is and used under the engine's lock alone: so the order of the
/// numbers is the order in which things happened, and whatever is told to a caller afterwards has been numbered before.
final class Journal {
  private let sink: any JournalSink
  /// Asked before a change is put together: nearly every volume keeps none.
  private(set) var keepsChanges: Bool
  /// The number of the last change, and of the last that is known to be durable.
  private(set) var last = ChangeNumber(rawValue: 0)
  private var durable = ChangeNumber(rawValue: 0)
  /// Whether the operation under way was refused something for want of room.
  private(set) var hasRefused = false
  /// What the operation under way has changed so far; nil outside of one.
  private var operation: [StateChange]?

  init(_ sink: any JournalSink) {
    self.sink = sink
    keepsChanges = sink.keepsChanges
  }

  /// Changes from here to `endOperation` are one, and have one number.
  func beginOperation() {
    hasRefused = false
    if keepsChanges { operation = [] }
  }

  func endOperation() {
    guard let changes = operation else { return }
    operation = nil
    guard let first = changes.first else { return }
    append(changes.count == 1 ? first : .together(changes))
  }

  /// From here to `endRestoring` nothing is a change: what is known from an earlier run is put back.
  func beginRestoring() { keepsChanges = false }
  func endRestoring() { keepsChanges = sink.keepsChanges }

  /// All changes up to a number are durable.
  func noteDurable(_ number: ChangeNumber) { durable = max(durable, number) }

  /// Whether what is kept may grow by so many bytes. Asked before anything is changed.
  func hasRoom(for bytes: Int64, removing: Bool = false) -> Bool {
    guard keepsChanges, !sink.hasRoom(for: bytes, removing: removing) else { return true }
    hasRefused = true
    return false
  }

  func isDurable(_ number: ChangeNumber) -> Bool { number <= durable }

  func append(_ change: StateChange) {
    guard operation == nil else {
      operation?.append(change)
      return
    }
    last = ChangeNumber(rawValue: last.rawValue + 1)
    sink.append(change, last)
  }
}
