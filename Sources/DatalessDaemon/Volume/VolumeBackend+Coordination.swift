import DatalessControl
import DatalessCore

extension VolumeBackend {
  func coordination() async throws -> CoordinationStatus {
    volume.wire(await volume.coordination.snapshot(), limit: CoordinationLoop.listedMax)
  }

  /// nil where nobody has coordinated anything yet.
  func coordinationInStatus() async -> CoordinationStatus? {
    let status = volume.wire(await volume.coordination.snapshot(), limit: 64)
    let isUsed =
      !status.intents.isEmpty || status.presenters > 0 || status.totals.granted > 0 || status.totals.refused > 0
    return isUsed ? status : nil
  }
}

extension Volume {
  func wire(_ snapshot: CoordinationSnapshot, limit: Int) -> CoordinationStatus {
    CoordinationStatus(
      waiting: Int64(snapshot.waiting), granted: Int64(snapshot.granted), preparing: Int64(snapshot.preparing),
      presenters: Int64(snapshot.presenters),
      totals: CoordinationTotals(
        granted: snapshot.totals.granted, refused: snapshot.totals.refused, deadlocks: snapshot.totals.deadlocks,
        takenAway: snapshot.totals.takenAway),
      intents: snapshot.intents.prefix(limit).map { intent in
        CoordinatedIntent(
          number: intent.id, stage: intent.stage, reads: Int64(intent.reads), writes: Int64(intent.writes),
          options: intent.options.isEmpty ? nil : intent.options, within: intent.within, path: intent.path,
          ageNanoseconds: intent.age.rawValue, waitsFor: intent.waitsFor.isEmpty ? nil : intent.waitsFor,
          waitsAt: intent.waitsAt, asks: intent.asks.isEmpty ? nil : intent.asks,
          presenters: intent.presenters.isEmpty
            ? nil
            : intent.presenters.map { AskedPresenter(number: $0.id, path: $0.path, process: wireNow($0.caller)) },
          process: wireNow(intent.caller))
      })
  }

  /// As it is called now: a command that has an intent was `dataless` when that was asked for.
  private func wireNow(_ caller: Caller) -> WireProcess? {
    guard let now = processes.successor(of: caller.process) else { return wire(caller) }
    return WireProcess(
      pid: caller.pid, comm: String(decoding: now.comm, as: UTF8.self), exe: now.executable.bytes)
  }
}
