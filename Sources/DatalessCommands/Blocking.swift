import Glibc
import Synchronization

/// Waits on the main thread for asynchronous work. A command is a plain function on the main thread: an asynchronous
/// `main` would start the runtime's threads before signals are set up for `mount` and `run`.
public enum Blocking {
  private final class Box<Value: Sendable>: Sendable {
    let result = Mutex<Result<Value, any Error>?>(nil)
  }

  /// Runs `work` on the cooperative pool and blocks the caller until it ends. Never call it from a task.
  ///
  /// - Parameter onStart: Called with the work's task, for whoever may cancel it.
  /// - Throws: What `work` throws.
  public static func run<Value: Sendable>(
    onStart: (Task<Void, Never>) -> Void = { _ in }, _ work: @escaping @Sendable () async throws -> Value
  ) throws -> Value {
    let box = Box<Value>()
    let done = Semaphore()
    let task = Task {
      let result: Result<Value, any Error>
      do {
        result = .success(try await work())
      } catch {
        result = .failure(error)
      }
      box.result.withLock { $0 = result }
      done.signal()
    }
    onStart(task)
    done.wait()
    return try box.result.withLock { $0! }.get()
  }
}
