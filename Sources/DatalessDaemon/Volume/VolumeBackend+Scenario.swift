import DatalessControl
import DatalessCore
import DatalessScenario
import Synchronization
import SystemPackage

/// Gates and the scenario over the engine.
extension VolumeBackend {
  func gates() async throws -> GateList { volume.gateList() }

  func releaseGate(_ order: GateReleaseOrder, by origin: ChangeOrigin) async throws -> GateAnswer {
    let released = try engine.release(gate: order.gate, order.selection, order.release, by: origin.rawValue).get()
    return GateAnswer(gate: order.gate, released: Int64(released))
  }

  func setGate(_ name: String, isOpen: Bool, by origin: ChangeOrigin) async throws -> GateAnswer {
    let before = engine.gates(heldEach: 0).first { $0.name == name }?.isOpen ?? false
    let released = try engine.setGate(name, isOpen: isOpen, by: origin.rawValue).get()
    volume.log.recordConfigurationChanged(
      ConfigurationChange(
        what: .gate, before: ["gate": .string(name), "open": .bool(before)],
        after: ["gate": .string(name), "open": .bool(isOpen)], by: origin))
    return GateAnswer(gate: name, released: Int64(released))
  }

  func waitForGate(_ name: String, callers: Int, timeout: Nanoseconds) async throws -> GateWaitAnswer {
    // Whichever comes first: the engine's answer, or the end of the client.
    let pause = OneShotWait()
    let answer = Mutex<Int??>(nil)
    let engine = engine
    let deadline = volume.timer.now + timeout
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        pause.begin(continuation)
        engine.waitForCallers(callers, at: name, until: deadline) { count in
          answer.withLock { $0 = .some(count) }
          pause.end()
        }
      }
    } onCancel: {
      pause.end()
    }
    try Task.checkCancellation()
    guard let count = answer.withLock({ $0 }) ?? nil else {
      if engine.gates(heldEach: 0).contains(where: { $0.name == name }) { throw CancellationError() }
      throw FSError(.noSuchFileOrDirectory, "there is no gate '\(name)'")
    }
    return GateWaitAnswer(gate: name, isReached: count >= callers, callers: Int64(count))
  }

  func scenario() async throws -> [UInt8] { await volume.scenario.document.json(pretty: false) }

  func changeScenario(_ edit: ScenarioEdit, by origin: ChangeOrigin) async throws -> ScenarioChange {
    try await volume.scenario.change(edit, by: origin)
  }
}
