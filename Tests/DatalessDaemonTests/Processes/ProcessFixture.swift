import DatalessCore

@testable import DatalessDaemon

/// A table with a sink that keeps what it is told.
struct ProcessFixture {
  final class Sink: ProcessSink {
    let seen = TestSignal<ProcessRecord>()
    let settled = TestSignal<ProcessID>()
    func processSeen(_ process: ProcessRecord) { seen.send(process) }
    func argumentsResolved(of process: ProcessRecord) { settled.send(process.id) }
  }

  let sink = Sink()
  let capture = CaptureLane()
  let table: ProcessTable
  let look: @Sendable (Int32) -> ProcessSnapshot?

  init(
    capacity: Int = 1024, policy: ArgumentPolicy = .callers,
    look: @escaping @Sendable (Int32) -> ProcessSnapshot? = { ProcessSnapshot($0) }
  ) {
    self.look = look
    table = ProcessTable(capture: capture, sink: sink, policy: policy, capacity: capacity, look: look)
  }

  func caller(_ threadID: Int32) -> Caller { table.caller(threadID: threadID, uid: 11, gid: 12) }

  func record(_ caller: Caller) -> ProcessRecord? { table.info(caller.process) }

  /// The arguments of a process, once the capture lane has read them.
  func arguments(_ id: ProcessID) -> ProcessArguments? {
    var count = 1
    while let settled = sink.settled.wait(count: count) {
      if settled.contains(id) { return table.info(id)?.arguments }
      count = settled.count + 1
    }
    return nil
  }

  /// The arguments of a process that were withheld before, once they are known. Those of others may be read in between.
  func knownArguments(_ id: ProcessID) -> ProcessArguments? {
    while true {
      let count = sink.settled.values.count
      if let arguments = table.info(id)?.arguments, case .known = arguments { return arguments }
      guard sink.settled.wait(count: count + 1) != nil else { return nil }
    }
  }
}
