import DatalessControl
import DatalessCore
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

/// sem_t: what one thread posts, another waits for. `@unchecked Sendable`: the memory is allocated once, freed when
/// nobody refers to it any more, and only touched through sem_post(3) and sem_wait(3), which are thread-safe.
final class Semaphore: @unchecked Sendable {
  private let semaphore: UnsafeMutablePointer<sem_t>

  init() {
    semaphore = .allocate(capacity: 1)
    semaphore.initialize(to: sem_t())
    sem_init(semaphore, 0, 0)
  }

  deinit {
    sem_destroy(semaphore)
    semaphore.deallocate()
  }

  func signal() { sem_post(semaphore) }

  func wait() {
    while sem_wait(semaphore) != 0, errno == EINTR {}
  }
}

/// One call to the daemon of a volume, whose refusals become a sentence.
enum RemoteCall {
  /// - Parameter what: `cannot release gate 'x' of /mnt`: what stands before the daemon's own words.
  /// - Throws: `CommandFailure`; `ControlError` where nobody answered.
  static func run<Answer: Sendable>(
    _ mountpoint: PathArgument, failure what: String, timeout: Duration = ControlClient.defaultTimeout,
    _ body: @escaping @Sendable (ControlClient) async throws -> Answer
  ) throws -> Answer {
    try run(try VolumeLocator.volume(mountpoint.bytes), failure: what, timeout: timeout, body)
  }

  static func run<Answer: Sendable>(
    _ volume: MountEntry, failure what: String, timeout: Duration = ControlClient.defaultTimeout,
    onStart: (Task<Void, Never>) -> Void = { _ in },
    _ body: @escaping @Sendable (ControlClient) async throws -> Answer
  ) throws -> Answer {
    do {
      return try Blocking.run(onStart: onStart) {
        try await ControlClient.with(volume: volume, timeout: timeout, body)
      }
    } catch let error as ControlError where error.code == .remote {
      let errno = error.errno.map { error.message.contains($0.name) ? "" : " (\($0.name))" } ?? ""
      throw CommandFailure(
        "\(what): \(error.message)\(errno).", code: CommandFailure.code(of: error),
        errno: error.errno)
    }
  }
}
