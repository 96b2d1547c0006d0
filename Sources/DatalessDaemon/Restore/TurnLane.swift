import DatalessCore
import Synchronization

/// A lane whose work is done by whoever asks for it, in its order: an engine on one thread.
final class TurnLane: BlockingLane {
  private let waiting = Mutex<[@Sendable () -> Void]>([])

  func submit(_ work: @escaping @Sendable () -> Void) { waiting.withLock { $0.append(work) } }

  /// Until nothing is left, what comes meanwhile included.
  func runAll() {
    while case let work = waiting.withLock({ waiting in
      defer { waiting = [] }
      return waiting
    }), !work.isEmpty {
      for step in work { step() }
    }
  }
}

/// What a completion has said.
final class Answer<Value: Sendable>: Sendable {
  private let state = Mutex<Value?>(nil)
  func set(_ value: Value) { state.withLock { $0 = value } }
  var value: Value? { state.withLock { $0 } }
}

/// There is no kernel that remembers anything.
struct NoKernel: KernelCache {
  func invalidateAttributes(of node: NodeID) -> Bool { true }
  func expireNames() {}
  func invalidateContent(of node: NodeID, completion: @escaping @Sendable (_ isKnown: Bool) -> Void) {
    completion(true)
  }
  func invalidateDirectory(
    _ node: NodeID, names: @escaping @Sendable () -> [[UInt8]], completion: @escaping @Sendable () -> Void
  ) { completion() }
}

/// Nothing is recorded.
struct NoEvents: EventSink {
  func record(_ event: Event) {}
}

/// Nobody is interrupted.
struct NoSignals: SignalProbe {
  func hasPendingFatalSignal(threadID: Int32) -> Bool? { nil }
}

/// Nobody calls.
struct NoProcesses: ProcessDirectory {
  func lineage(of process: ProcessID) -> [ProcessFacts] { [] }
  func running() -> [ProcessFacts] { [] }
}
