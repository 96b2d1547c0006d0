import AsyncHTTPClient
import DatalessCore
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import SystemPackage

/// Talks to the daemon of one volume over its control socket.
///
/// A task that is cancelled during `materialize`, `evict` or `refresh` interrupts the request, whose result then says
/// how far it came.
///
/// Every call throws `ControlError`: `.daemonNotRunning` when nobody listens, `.timedOut`, or `.remote` with the
/// daemon's own code and errno. End with `shutdown()`.
public final class ControlClient: Sendable {
  /// Time limit of every request that the daemon answers at once.
  public static let defaultTimeout: Duration = .seconds(10)

  private let http: HTTPClient
  private let group: MultiThreadedEventLoopGroup
  private let baseURL: String
  let mountPoint: [UInt8]
  private let timeout: Duration
  /// Held because `baseURL` leads through its descriptor.
  private let runtime: VolumeRuntime?

  /// - Parameters:
  ///   - socketPath: `control.sock` of the volume; at most 107 bytes.
  ///   - mountPoint: For messages.
  ///   - timeout: For the whole of a short request, and for the first byte of a streamed one. Default: 10 s.
  public convenience init(socketPath: String, mountPoint: [UInt8], timeout: Duration = defaultTimeout) {
    self.init(socketPath: socketPath, mountPoint: mountPoint, timeout: timeout, owner: geteuid(), runtime: nil)
  }

  /// A client for a mounted volume, whose runtime directory is checked and held.
  ///
  /// - Throws: as `VolumeRuntime.open`.
  public convenience init(volume: MountEntry, timeout: Duration = defaultTimeout) throws(ControlError) {
    let runtime = try VolumeRuntime.open(volume)
    self.init(
      socketPath: runtime.socketPath, mountPoint: volume.mountPoint, timeout: timeout, owner: runtime.directory.owner,
      runtime: runtime)
  }

  /// - Parameter owner: Who may answer, beside root: the kernel says who listens, before anything is sent.
  private init(socketPath: String, mountPoint: [UInt8], timeout: Duration, owner: UInt32, runtime: VolumeRuntime?) {
    self.runtime = runtime
    group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    var configuration = HTTPClient.Configuration()
    configuration.connectionPool.retryConnectionEstablishment = false
    configuration.timeout.connect = .nanoseconds(timeout.nanoseconds)
    configuration.http1_1ConnectionDebugInitializer = { PeerCredentials.check($0, allowed: [0, owner]) }
    http = HTTPClient(eventLoopGroupProvider: .shared(group), configuration: configuration)
    baseURL = "http+unix://" + PercentEncoding.encode(Array(socketPath.utf8))
    self.mountPoint = mountPoint
    self.timeout = timeout
  }

  /// Closes the connections and ends the client's thread. No call may be under way.
  public func shutdown() async {
    try? await http.shutdown()
    try? await group.shutdownGracefully()
  }

  /// Runs `body` with a client for a mounted volume and shuts it down, whatever happens.
  public static func with<Result: Sendable>(
    volume: MountEntry, timeout: Duration = defaultTimeout,
    _ body: (ControlClient) async throws -> Result
  ) async throws -> Result {
    let client = try ControlClient(volume: volume, timeout: timeout)
    do {
      let result = try await body(client)
      await client.shutdown()
      return result
    } catch {
      await client.shutdown()
      throw error
    }
  }

  public func status() async throws -> VolumeStatus { try await call(.status) }

  public func items(_ query: ItemQuery) async throws -> ItemPage {
    var text = "?path_b64=\(PercentEncoding.encode(Base64.encode(query.path)))"
    text += "&recursive=\(query.recursive ? 1 : 0)&limit=\(query.limit)"
    if let after = query.after { text += "&after=\(PercentEncoding.encode(Array(after.utf8)))" }
    return try await call(.items, query: text)
  }

  /// Materializes files, and directories with all that is below them.
  ///
  /// - Parameters:
  ///   - paths: Relative to the volume's root.
  ///   - progress: Called from time to time while the work goes on, however long it takes.
  public func materialize(
    _ paths: [[UInt8]], progress: @escaping @Sendable (TransferProgress) -> Void = { _ in }
  ) async throws -> TransferResult {
    let request = PathsRequest(paths: paths.map { WirePath($0) })
    return try await follow(TransferLine.self, route: .materialize, request: request, progress: progress)
  }

  /// Evicts files, and directories with all that is below them.
  ///
  /// - Parameter stops: Whether to stop at the first refusal. Default: false.
  public func evict(
    _ paths: [[UInt8]], stops: Bool = false, progress: @escaping @Sendable (TransferProgress) -> Void = { _ in }
  ) async throws -> TransferResult {
    let request = EvictRequest(paths: paths.map { WirePath($0) }, stop: stops ? true : nil)
    return try await follow(TransferLine.self, route: .evict, request: request, progress: progress)
  }

  /// Lists known directories of the store again: those that hold the paths, and what is listed below them.
  public func refresh(
    _ paths: [[UInt8]], progress: @escaping @Sendable (RefreshProgress) -> Void = { _ in }
  ) async throws -> RefreshResult {
    let request = PathsRequest(paths: paths.map { WirePath($0) })
    return try await follow(RefreshLine.self, route: .refresh, request: request, progress: progress)
  }

  public func mark(_ label: String) async throws -> SequenceAnswer {
    try await call(.mark, body: try WireCoding.encode(MarkRequest(label: label)))
  }

  /// Waits until all that was recorded so far is in the log file.
  public func flushLog() async throws -> FlushAnswer { try await call(.flushLog) }

  public func runFinished(_ request: RunFinishedRequest) async throws -> RunFinishedAnswer {
    try await call(.runFinished, body: try WireCoding.encode(request))
  }

  /// Asks the daemon to end. It answers before it does so; wait for its pid to be gone.
  public func unmount() async throws -> AcceptedAnswer { try await call(.unmount) }

  /// Calls `body` with each line of the event log from now on, without its newline, until it returns false or the
  /// volume is unmounted.
  ///
  /// - Parameter onOpen: Called once when nothing that is recorded from now on will be missed.
  public func events(onOpen: () throws -> Void = {}, _ body: ([UInt8]) throws -> Bool) async throws {
    let response = try await send(.events, deadline: nil)
    try onOpen()
    var lines = LineSplitter()
    do {
      for try await chunk in response.body {
        try lines.append(chunk.readableBytesView)
        while let line = lines.next() {
          guard line.starts(with: "data:".utf8) else { continue }
          let data = line.dropFirst("data:".utf8.count)
          guard try body(Array(data.first == UInt8(ascii: " ") ? data.dropFirst() : data)) else { return }
        }
      }
    } catch let error as HTTPParserError where error == .invalidEOFState {
      // The daemon ended in the middle of the stream, which is how such a stream ends.
      return
    } catch let error as HTTPClientError where error == .remoteConnectionClosed {
      return
    }
  }

  // MARK: - Requests

  /// - Parameter patience: How long the daemon may take by order of the caller, beside the time limit.
  func call<Answer: Decodable>(
    _ route: ControlRoute, query: String = "", body: [UInt8]? = nil, patience: Duration = .zero
  ) async throws -> Answer {
    let bytes = try await bytes(route, query: query, body: body, patience: patience)
    do {
      return try WireCoding.decode(Answer.self, from: bytes, named: "the daemon's answer to \(route.rawValue)")
    } catch {
      // Another version is the likely reason; of the same one, the answer is what is wrong.
      guard route != .version, let daemon = try? await version().version, daemon != Version.current else { throw error }
      throw Self.otherVersion(route, nil, problem: error.message, daemon: daemon, mountPoint: mountPoint)
    }
  }

  /// The body of the answer as it is.
  func bytes(
    _ route: ControlRoute, query: String = "", body: [UInt8]? = nil, patience: Duration = .zero
  ) async throws -> [UInt8] {
    let response = try await send(route, query: query, body: body, deadline: timeout + patience)
    return try await collect(response, limit: 256 << 20, within: timeout + patience)
  }

  /// Sends a request and checks the status; `deadline` nil means that the body may take as long as it takes.
  func send(
    _ route: ControlRoute, query: String = "", body: [UInt8]? = nil, deadline: Duration?
  ) async throws -> HTTPClientResponse {
    var request = HTTPClientRequest(url: baseURL + route.path + query)
    request.method = HTTPMethod(rawValue: route.method)
    request.headers.add(name: "host", value: "dataless")
    request.headers.add(name: ControlRoute.originHeader, value: "command")
    if let body {
      request.headers.add(name: "content-type", value: "application/json")
      request.body = .bytes(ByteBuffer(bytes: body))
    }
    do {
      let limit = deadline.map { TimeAmount.nanoseconds($0.nanoseconds) }
      let response = try await http.execute(request, deadline: limit.map { .now() + $0 } ?? .distantFuture)
      guard (200..<300).contains(response.status.code) else {
        let bytes = try await collect(response, limit: 1 << 20, within: timeout)
        if let answer = try? WireCoding.decode(ErrorAnswer.self, from: bytes, named: "an error") {
          if Self.isOfAnotherVersion(answer.error, status: response.status.code) {
            throw await otherVersion(route, answer.error, problem: answer.error.message)
          }
          throw Self.remote(answer.error, to: route)
        }
        let status = TerminalText.escaped("\(response.status)")
        throw ControlError(code: .remote, message: "cannot \(route.rawValue): the daemon answered \(status).")
      }
      return response
    } catch {
      throw translated(error)
    }
  }

  /// The whole body. The library's deadline ends with the head: who answers may send that, and then nothing for ever.
  private func collect(_ response: HTTPClientResponse, limit: Int, within time: Duration) async throws -> [UInt8] {
    do {
      return try await withThrowingTaskGroup(of: [UInt8]?.self) { group in
        group.addTask { Array((try await response.body.collect(upTo: limit)).readableBytesView) }
        group.addTask {
          try await Task.sleep(for: time)
          return nil
        }
        defer { group.cancelAll() }
        guard let bytes = try await group.next() ?? nil else { throw HTTPClientError.readTimeout }
        return bytes
      }
    } catch {
      throw translated(error)
    }
  }

  /// What the daemon says is shown to people, and it may be another user's program: its words are made harmless here,
  /// once.
  static func remote(_ error: WireError, to route: ControlRoute) -> ControlError {
    let isScenario = error.problems != nil && route.takesScenario
    // A line for each problem; everywhere else a line is the command's own.
    let lines = isScenario ? error.message.split(separator: "\n") : [error.message[...]]
    return ControlError(
      code: isScenario ? .invalidScenario : .remote, errno: error.errno.flatMap { Errno(name: $0) },
      message: lines.map { TerminalText.harmless(String($0)) }.joined(separator: "\n"), answer: error)
  }

  func translated(_ error: any Error) -> any Error {
    ClientErrorTranslation.translate(error, mountPoint: mountPoint, timeout: timeout)
  }
}
