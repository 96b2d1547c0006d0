import DatalessControl
import DatalessCore
import DatalessStacks

extension VolumeBackend {
  // LIMIT: callers whose stacks are taken for one answer, the first ones.
  private static let callersMax = 512

  func stacks(pid: Int32?) async throws -> StackList {
    let callers = (blockedCallers + delayedCallers).filter { pid == nil || $0.waiter.pid == pid }
      .prefix(Self.callersMax)
    let lane = volume.stacks
    return StackList(
      callers: await withTaskGroup(of: (Int, CaptureAnswer).self) { group in
        for (index, caller) in callers.enumerated() where caller.outcome == "ok" {
          group.addTask {
            (index, await lane.stack(processID: caller.waiter.pid, threadID: caller.waiter.tid))
          }
        }
        var answered = Array(callers)
        for await (index, answer) in group {
          switch answer {
          case .stack(let stack): answered[index].stack = CallerStack(stack)
          case .failure(let failure): answered[index].outcome = failure.rawValue
          }
        }
        return answered
      })
  }

  private var blockedCallers: [BlockedCaller] {
    engine.attemptsInFlight().flatMap { attempt in
      attempt.waiters.map {
        // What an intent waits for no thread does.
        BlockedCaller(
          attempt: attempt.attempt, path: attempt.path, kind: attempt.kind.rawValue, waiter: volume.wire($0),
          outcome: $0.trigger == .coordinate ? "not_blocked" : "ok")
      }
    }
  }

  private var delayedCallers: [BlockedCaller] {
    engine.accessesUnderWay().some.map { call in
      let call = volume.wire(call)
      return BlockedCaller(attempt: nil, path: call.pathBytes, kind: call.kind, waiter: call.waiter)
    }
  }
}
