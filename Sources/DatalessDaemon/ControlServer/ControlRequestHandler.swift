import DatalessControl
import DatalessCore
import Glibc
import HTTPTypes
import HummingbirdCore
import NIOCore
import SystemPackage

/// Answers the requests of one server: checks who asks, finds the route, decodes, calls the backend, encodes.
struct ControlRequestHandler: Sendable {
  let backend: any ControlBackend
  let allowedUserIDs: Set<UInt32>
  let lane: ControlLane
  let running = RunningRequests()

  func respond(to request: Request, writer: consuming ResponseWriter, channel: any Channel) async throws {
    let current = running.begin(channel)
    defer { running.end(current, channel) }
    var response: Response
    do {
      let peer = try await checkPeer(of: channel)
      response = try await current.run(on: lane) { try await route(request, current, peer: peer) }
    } catch {
      let failure = ControlFailure(error)
      response = try Self.json(ErrorAnswer(error: failure.wire), status: failure.status)
      // RFC 9110, section 15.5.6.
      if !failure.allowedMethods.isEmpty { response.headers[.allow] = failure.allowedMethods.joined(separator: ", ") }
    }
    try await writer.write(response: response.head, body: response.body)
  }

  // MARK: - Who asks

  private func checkPeer(of channel: any Channel) async throws -> ControlPeer {
    guard let peer = try await PeerCredentials.of(channel)?.get() else {
      throw ControlFailure(status: 403, code: "forbidden", errno: "EPERM", message: "cannot tell who is calling")
    }
    guard allowedUserIDs.contains(peer.uid) else {
      throw ControlFailure(
        status: 403, code: "forbidden", errno: "EPERM",
        message: "user \(peer.uid) may not control this volume; only its own user and root may")
    }
    // Where the kernel does not tell them, nothing is allowed because of them.
    let groups = try? await PeerCredentials.groups(of: channel)?.get()
    return ControlPeer(pid: peer.pid, uid: peer.uid, gid: peer.gid, groups: groups ?? [])
  }

  // MARK: - Routes

  private func route(_ request: Request, _ current: RunningRequest, peer: ControlPeer) async throws -> Response {
    let path = request.uri.path
    guard let route = ControlRoute(rawValue: "\(request.method.rawValue) \(path)") else {
      guard ControlRoute.allCases.contains(where: { $0.path == path }) else {
        // Clients of other versions know this answer by its first words, and by its having no errno.
        throw ControlFailure(
          status: 404, code: "not_found",
          message: "there is no \(TerminalText.escaped(path)) in version \(Version.current) of the daemon; "
            + "GET /v1/version says what it can")
      }
      let methods = ControlRoute.allCases.filter { $0.path == path }.map(\.method).sorted()
      throw ControlFailure(
        status: 405, code: "method_not_allowed",
        message: "\(request.method.rawValue) is not a method of \(path), only \(methods.joined(separator: " and "))",
        allowedMethods: methods)
    }
    let query = try RequestQuery(request.uri.query.map { String($0) }, of: route)
    switch route {
    case .version: return try Self.json(VersionAnswer.current)
    case .status: return try Self.json(try await backend.status())
    case .items: return try Self.json(try await backend.items(Self.itemQuery(query)))
    case .materialize:
      let paths = try await Self.paths(request)
      return stream(TransferLine.self, for: current) { try await backend.materialize(paths, progress: $0) }
    case .evict:
      let body = try await Self.decode(EvictRequest.self, request)
      let paths = try Self.checked(body.paths)
      return stream(TransferLine.self, for: current) {
        try await backend.evict(paths, stops: body.stop ?? false, progress: $0)
      }
    case .pin, .unpin, .pressure, .capacity, .inventory: return try await room(route, request, current: current)
    case .remove: return try Self.json(try await backend.remove(try await Self.paths(request), by: peer))
    case .refresh:
      let paths = try await Self.paths(request)
      let origin = Self.origin(request)
      return stream(RefreshLine.self, for: current) { try await backend.refresh(paths, by: origin, progress: $0) }
    case .conflicts: return try Self.json(try await conflicts(request))
    case .mark:
      let label = try await Self.decode(MarkRequest.self, request).label
      guard (1...1_024).contains(label.unicodeScalars.count) else {
        throw Self.invalid("`label` must have 1 to 1024 bytes")
      }
      guard label.utf8.count <= 1_024 else { throw Self.senseless("`label` must have 1 to 1024 bytes of UTF-8") }
      return try Self.json(try await backend.mark(label))
    case .interrupt:
      let id = try await Self.decode(InterruptRequest.self, request).request
      guard running.interrupt(id) else {
        throw FSError(.noSuchProcess, "there is no request \(id) under way: it has ended")
      }
      return try Self.json(InterruptRequest(request: id))
    case .reset: return try Self.json(try await backend.reset(by: Self.origin(request)))
    case .flushLog: return try Self.json(try await backend.flushLog())
    case .stacks: return try Self.json(try await backend.stacks(pid: try Self.pid(query)))
    case .coordination: return try Self.json(try await backend.coordination())
    case .gates, .releaseGate, .openGate, .closeGate, .waitForGate: return try await gate(route, request)
    case .scenario, .replaceScenario, .changeSettings, .addRule, .removeRule, .explain:
      return try await scenario(route, request, parameters: query)
    case .events: return events(try await backend.events())
    case .runFinished:
      let body = try await Self.decode(RunFinishedRequest.self, request)
      guard (0...255).contains(body.exitStatus ?? 0) else { throw Self.invalid("`exit_status` must be 0 to 255") }
      return try Self.json(try await backend.runFinished(body))
    case .unmount: return try unmount(try await backend.changesAtEnd())
    }
  }

  private func unmount(_ changes: (dropped: ChangeCounts?, kept: ChangeCounts?)) throws -> Response {
    let answer = try Self.buffer(AcceptedAnswer(pid: getpid(), dropped: changes.dropped, kept: changes.kept))
    // The answer is written first: afterwards there may be nobody left to write it.
    let body = ResponseBody(contentLength: answer.readableBytes) { writer in
      try await writer.write(answer)
      try await writer.finish(nil)
      await backend.unmount()
    }
    return Response(
      status: .accepted, headers: [.contentType: "application/json", .contentLength: "\(answer.readableBytes)"],
      body: body)
  }

  // MARK: - Streams

  /// Progress lines, then one line with the result or an error. The work ends early when it is interrupted, the peer
  /// has gone, or the server stops.
  func stream<Line: AnswerLine>(
    _ type: Line.Type, for current: RunningRequest,
    _ work:
      @escaping @Sendable (
        @escaping @Sendable (Line.Progress) async throws -> Void
      ) async throws -> Line.Result
  ) -> Response {
    let lines = AsyncThrowingStream<ByteBuffer, any Error>.makeStream(bufferingPolicy: .bufferingNewest(16))
    let body = ResponseBody { writer in
      // The work runs beside the writing, so that a client that reads slowly only loses progress lines.
      let task = current.start(on: lane) {
        defer { lines.continuation.finish() }
        let last: Line
        do {
          let result = try await work {
            lines.continuation.yield(try Self.buffer(Line(progress: $0, result: nil, error: nil)))
          }
          last = Line(progress: nil, result: result, error: nil)
        } catch {
          last = Line(progress: nil, result: nil, error: ControlFailure(error).wire)
        }
        lines.continuation.yield((try? Self.buffer(last)) ?? ByteBuffer())
      }
      // Nobody reads on: whatever stopped the writing.
      defer { task.cancel() }
      try await withTaskCancellationHandler {
        for try await line in lines.stream { try await writer.write(line) }
        try await writer.finish(nil)
      } onCancel: {
        task.cancel()
      }
    }
    var headers: HTTPFields = [.contentType: "application/x-ndjson"]
    if let name = HTTPField.Name(ControlRoute.requestHeader) { headers[name] = "\(current.id)" }
    return Response(status: .ok, headers: headers, body: body)
  }

  /// One server-sent event per line of the log. A comment every 15 s is not sent: a peer on the same machine cannot
  /// vanish without the socket being closed, and a daemon at rest does not wake up.
  private func events(_ events: AsyncStream<[UInt8]>) -> Response {
    let body = ResponseBody { writer in
      try await writer.write(ByteBuffer(string: ": dataless events\n\n"))
      for await event in events {
        var buffer = ByteBuffer()
        buffer.reserveCapacity(event.count + 8)
        buffer.writeString("data: ")
        buffer.writeBytes(event)
        buffer.writeString("\n\n")
        try await writer.write(buffer)
      }
      try await writer.finish(nil)
    }
    return Response(
      status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"], body: body)
  }

  // MARK: - Decoding and encoding

  static func paths(_ request: Request) async throws -> [[UInt8]] {
    try checked(try await decode(PathsRequest.self, request).paths)
  }

  static func checked(_ paths: [WirePath]) throws -> [[UInt8]] {
    let paths = paths.map(\.bytes)
    guard !paths.isEmpty else { throw invalid("`paths` is empty; an empty path means the whole volume") }
    return try paths.map(relative)
  }

  /// nil when none is given.
  static func pid(_ parameters: RequestQuery) throws -> Int32? {
    guard let text = parameters["pid"] else { return nil }
    guard let pid = Int32(text), pid > 0 else { throw invalid("`pid` must be a process id") }
    return pid
  }

  private static func itemQuery(_ parameters: RequestQuery) throws -> ItemQuery {
    let path = try parameters.path()
    let limit = parameters["limit"].map { Int($0) } ?? ItemQuery.defaultLimit
    guard let limit, (1...ItemQuery.limitMax).contains(limit) else {
      throw invalid("`limit` must be a number from 1 to \(ItemQuery.limitMax)")
    }
    let recursive = parameters["recursive"] ?? "0"
    guard recursive == "0" || recursive == "1" else { throw invalid("`recursive` must be 0 or 1") }
    return ItemQuery(
      path: path, recursive: recursive == "1", after: parameters["after"], limit: limit
    )
  }

  /// A path below the root: components of 1 to 255 bytes, none of them `.` or `..`.
  static func relative(_ path: [UInt8]) throws -> [UInt8] {
    if path.isEmpty { return path }
    for component in path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
      guard (1...255).contains(component.count), !component.elementsEqual(".".utf8),
        !component.elementsEqual("..".utf8), !component.contains(0)
      else { throw senseless("`\(TerminalText.escaped(path))` is not a path relative to the volume's root") }
    }
    return path
  }

  // Neither of the two is inlined: in several handlers at once they crash the optimizer of Swift 6.3 ("While splitting
  // coroutine", signal 11).
  @inline(never)
  static func decode<Value: WireRequest>(_ type: Value.Type, _ request: Request) async throws -> Value {
    try WireCoding.decode(StrictRequest<Value>.self, from: try await body(request), named: "the request").body
  }

  @inline(never)
  static func body(_ request: Request) async throws -> [UInt8] {
    let limit = ControlRoute.requestBodyBytesMax
    do {
      return Array(try await request.body.collect(upTo: limit).readableBytesView)
    } catch is NIOTooManyBytesError {
      throw ControlFailure(
        status: 413, code: "too_large", errno: "EFBIG", message: "the request's body is larger than \(limit) bytes")
    }
  }

  static func invalid(_ message: String) -> ControlFailure {
    ControlFailure(status: 400, code: "invalid_request", errno: "EINVAL", message: message)
  }

  /// A request that has the form it should have, and a value that nothing can be done with.
  static func senseless(_ message: String) -> ControlFailure {
    ControlFailure(status: 422, code: "invalid_request", errno: "EINVAL", message: message)
  }

  static func buffer(_ value: some Encodable) throws -> ByteBuffer {
    ByteBuffer(bytes: try WireCoding.encode(value) + [UInt8(ascii: "\n")])
  }

  static func json(_ value: some Encodable, status: Int = 200) throws -> Response {
    Response(
      status: .init(code: status), headers: [.contentType: "application/json"],
      body: ResponseBody(byteBuffer: try buffer(value)))
  }
}
