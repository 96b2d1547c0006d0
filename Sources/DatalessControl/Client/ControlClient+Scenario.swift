import DatalessCore

/// Gates, the scenario, and what it would decide.
extension ControlClient {
  /// The stacks of everybody who waits right now.
  ///
  /// - Parameter pid: Only of this process.
  public func stacks(pid: Int32? = nil) async throws -> StackList {
    try await call(.stacks, query: pid.map { "?pid=\($0)" } ?? "", patience: .seconds(30))
  }

  public func gates() async throws -> GateList { try await call(.gates) }

  public func releaseGate(_ request: GateReleaseRequest) async throws -> GateAnswer {
    try await call(.releaseGate, body: try WireCoding.encode(request))
  }

  /// Opens a gate, or closes it again.
  public func setGate(_ name: String, isOpen: Bool) async throws -> GateAnswer {
    try await call(isOpen ? .openGate : .closeGate, body: try WireCoding.encode(GateRequest(gate: name)))
  }

  /// Waits until so many callers are blocked, or the request's time is over.
  public func waitForGate(_ request: GateWaitRequest) async throws -> GateWaitAnswer {
    let milliseconds = request.timeoutMilliseconds ?? GateWaitRequest.defaultTimeoutMilliseconds
    return try await call(
      .waitForGate, body: try WireCoding.encode(request), patience: .milliseconds(max(0, milliseconds)))
  }

  /// The scenario in force, as JSON; with a newline at its end.
  public func scenario() async throws -> [UInt8] { try await bytes(.scenario) }

  /// - Parameters:
  ///   - scenario: YAML or JSON, at most 16 MiB.
  ///   - name: What messages call it.
  public func replaceScenario(_ scenario: [UInt8], name: String) async throws -> ScenarioChange {
    try await call(
      .replaceScenario, query: "?name=\(PercentEncoding.encode(Array(name.utf8)))", body: scenario,
      patience: .seconds(60))
  }

  public func changeSettings(_ settings: [String: JSONValue]) async throws -> ScenarioChange {
    try await call(.changeSettings, body: try WireCoding.encode(SettingsRequest(settings: settings)))
  }

  public func addRule(_ rule: JSONValue, first: Bool = true) async throws -> ScenarioChange {
    let request = RuleRequest(rule: rule, position: first ? "first" : "last")
    return try await call(.addRule, body: try WireCoding.encode(request))
  }

  public func removeRule(_ name: String) async throws -> ScenarioChange {
    try await call(.removeRule, query: "?name=\(PercentEncoding.encode(Array(name.utf8)))")
  }

  /// - Parameters:
  ///   - path: Relative to the volume's root.
  ///   - trigger: Default: `read` for a file, `readdir` for a directory.
  ///   - pid: The process that would ask; nil for one of which nothing is known.
  public func explain(_ path: [UInt8], trigger: String? = nil, pid: Int32? = nil) async throws -> ExplainAnswer {
    var query = "?path_b64=\(PercentEncoding.encode(Base64.encode(path)))"
    if let trigger { query += "&trigger=\(PercentEncoding.encode(Array(trigger.utf8)))" }
    if let pid { query += "&pid=\(pid)" }
    return try await call(.explain, query: query)
  }
}
