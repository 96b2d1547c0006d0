import DatalessControl
import DatalessCore
import HTTPTypes
import HummingbirdCore
import NIOCore
import SystemPackage

/// Gates and the scenario: what is asked for is checked here, so that the backend gets sense.
extension ControlRequestHandler {
  func gate(_ route: ControlRoute, _ request: Request) async throws -> Response {
    let by = Self.origin(request)
    switch route {
    case .releaseGate:
      let order = try Self.release(try await Self.decode(GateReleaseRequest.self, request))
      return try Self.json(try await backend.releaseGate(order, by: by))
    case .openGate, .closeGate:
      let name = try await Self.decode(GateRequest.self, request).gate
      return try Self.json(try await backend.setGate(name, isOpen: route == .openGate, by: by))
    case .waitForGate:
      let wait = try await Self.decode(GateWaitRequest.self, request)
      let timeout = wait.timeoutMilliseconds ?? GateWaitRequest.defaultTimeoutMilliseconds
      guard (0...GateWaitRequest.timeoutMillisecondsMax).contains(timeout) else {
        throw Self.invalid("`timeout_ms` must be a number from 0 to \(GateWaitRequest.timeoutMillisecondsMax)")
      }
      let callers = wait.callers ?? 1
      guard callers >= 0 else { throw Self.invalid("`callers` must be 0 or more") }
      return try Self.json(
        try await backend.waitForGate(
          wait.gate, callers: Int(clamping: callers), timeout: .milliseconds(timeout)))
    default: return try Self.json(try await backend.gates())
    }
  }

  func scenario(_ route: ControlRoute, _ request: Request, parameters: RequestQuery) async throws -> Response {
    let by = Self.origin(request)
    switch route {
    case .replaceScenario:
      let name = parameters["name"] ?? "scenario"
      return try Self.json(
        try await backend.changeScenario(.replace(try await Self.body(request), name: name), by: by))
    case .changeSettings:
      let settings = try await Self.decode(SettingsRequest.self, request).settings
      guard !settings.isEmpty else { throw Self.invalid("`settings` is empty") }
      let texts = try settings.sorted { $0.key < $1.key }.map { (key: $0.key, value: try Self.yaml($0.value)) }
      return try Self.json(try await backend.changeScenario(.settings(texts), by: by))
    case .addRule:
      let body = try await Self.decode(RuleRequest.self, request)
      let position = body.position ?? "first"
      guard position == "first" || position == "last" else { throw Self.invalid("`position` must be first or last") }
      let edit = ScenarioEdit.addRule(Array(try Self.yaml(body.rule).utf8), first: position == "first")
      return try Self.json(try await backend.changeScenario(edit, by: by))
    case .removeRule:
      guard let name = parameters["name"], !name.isEmpty else { throw Self.invalid("`name` is missing: which rule?") }
      return try Self.json(try await backend.changeScenario(.removeRule(name: name), by: by))
    case .explain: return try Self.json(try await backend.explain(try Self.explainQuery(parameters)))
    default:
      let body = ByteBuffer(bytes: try await backend.scenario() + [UInt8(ascii: "\n")])
      return Response(
        status: .ok, headers: [.contentType: "application/json"], body: ResponseBody(byteBuffer: body))
    }
  }

  // MARK: - Decoding

  static func origin(_ request: Request) -> ChangeOrigin {
    guard let name = HTTPField.Name(ControlRoute.originHeader), request.headers[name] == "command" else { return .api }
    return .command
  }

  /// JSON is YAML; a string is taken for YAML itself, so that the API reads what the command line reads.
  private static func yaml(_ value: JSONValue) throws -> String {
    if case .string(let text) = value { return text }
    return String(decoding: try WireCoding.encode(value), as: UTF8.self)
  }

  private static func release(_ request: GateReleaseRequest) throws -> GateReleaseOrder {
    let given = [request.count != nil, request.attempt != nil, request.path != nil].count { $0 }
    guard given <= 1 else { throw invalid("only one of `count`, `attempt` and `path` says what is released") }
    var selection = GateSelection.all
    if let count = request.count {
      guard count >= 1 else { throw invalid("`count` must be 1 or more") }
      selection = .first(Int(clamping: count))
    } else if let attempt = request.attempt {
      selection = .attempt(attempt)
    } else if let path = request.pathBytes {
      do throws(PathPatternFlaw) {
        selection = .path(try PathPattern(parsing: path))
      } catch {
        throw senseless("`path` is no glob: '\(TerminalText.escaped(path))': \(error.words)")
      }
    }
    guard let name = request.errno else {
      return GateReleaseOrder(gate: request.gate, selection: selection, release: .proceed)
    }
    guard let errno = Errno(name: name) else {
      throw senseless("`errno` must be the name of an errno, such as EIO; '\(TerminalText.escaped(name))' is none")
    }
    return GateReleaseOrder(
      gate: request.gate, selection: selection,
      release: .fail(FSError(errno, "released by the gate '\(request.gate)' to fail")))
  }

  private static func explainQuery(_ parameters: RequestQuery) throws -> ExplainQuery {
    var query = ExplainQuery(path: try parameters.path())
    if let name = parameters["trigger"] {
      guard let trigger = Trigger(rawValue: name) else {
        let known = Trigger.allCases.map(\.rawValue).joined(separator: ", ")
        throw invalid("`trigger` must be one of \(known)")
      }
      query.trigger = trigger
    }
    if let pid = try pid(parameters) {
      query.pid = pid
    }
    return query
  }
}
