import Glibc
import HummingbirdCore
public import Logging
import NIOCore
import NIOPosix
import Synchronization
import SystemPackage

/// The control API of one volume: HTTP/1.1 with JSON on a Unix domain socket, for root and the daemon's own user.
///
/// One thread of its own does all I/O. Handlers await the backend and never block.
public final class ControlServer: Sendable {
  private struct Running {
    var group: MultiThreadedEventLoopGroup
    var task: Task<Void, Never>
  }

  private let backend: any ControlBackend
  private let socketPath: String
  private let allowedUserIDs: Set<UInt32>
  private let logger: Logger
  private let lane: ControlLane
  private let running = Mutex<Running?>(nil)

  /// - Parameters:
  ///   - backend: The volume.
  ///   - socketPath: Where to listen; at most 107 bytes, in a directory that only the daemon's user may enter. A socket
  ///     that is there already is replaced.
  ///   - allowedUserIDs: Who may connect, by SO_PEERCRED. Default: root and the effective user of this process.
  ///   - lane: Runs the server's tasks and the backend's answers. Default: one of its own.
  ///   - logger: For the server's own trouble. Default: none.
  public init(
    backend: any ControlBackend, socketPath: String, allowedUserIDs: Set<UInt32>? = nil,
    lane: ControlLane = ControlLane(),
    logger: Logger = Logger(label: "dataless.control", factory: { _ in SwiftLogNoOpLogHandler() })
  ) {
    self.lane = lane
    self.backend = backend
    self.socketPath = socketPath
    self.allowedUserIDs = allowedUserIDs ?? [0, geteuid()]
    self.logger = logger
  }

  /// Listens, and returns when clients can connect. Call once.
  ///
  /// - Throws: NIO's `IOError` (EACCES, ENOENT, ENOSPC, ...) or its error for a path that is too long.
  public func start() async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let (states, state) = AsyncThrowingStream.makeStream(of: Void.self)
    let handler = ControlRequestHandler(backend: backend, allowedUserIDs: allowedUserIDs, lane: lane)
    let server = Server(
      childChannelSetup: HTTP1Channel(
        responder: { request, writer, channel in
          try await handler.respond(to: request, writer: writer, channel: channel)
        }),
      configuration: ServerConfiguration(address: .unixDomainSocket(path: socketPath)),
      onServerRunning: { _ in state.yield() },
      eventLoopGroup: group, logger: logger)
    let task = Task(executorPreference: lane) {
      do {
        try await server.run()
        state.finish()
      } catch {
        state.finish(throwing: error)
      }
    }
    do {
      for try await _ in states { break }
      chmod(socketPath, 0o600)
    } catch {
      try? await group.shutdownGracefully()
      throw error
    }
    running.withLock { $0 = Running(group: group, task: task) }
  }

  /// Stops listening, cuts every open connection and removes the socket. Does not wait for calls of the backend that
  /// are under way; their tasks are cancelled. Calling it again does nothing.
  public func stop() async {
    let taken = running.withLock { state in
      defer { state = nil }
      return state
    }
    guard let taken else { return }
    unlink(socketPath)
    taken.task.cancel()
    await ended(taken)
    try? await taken.group.shutdownGracefully()
  }

  /// Waits for the connections to end, which they do at once unless a call of the backend does not: an event loop that
  /// is shut down under a connection says so on stderr.
  private func ended(_ taken: Running) async {
    let pause = OneShotWait()
    await withCheckedContinuation { continuation in
      pause.begin(continuation)
      Task(executorPreference: lane) {
        await taken.task.value
        pause.end()
      }
      taken.group.next().scheduleTask(in: .milliseconds(100)) { pause.end() }
    }
  }
}
