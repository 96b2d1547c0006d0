import DatalessControl
import DatalessCore
import HummingbirdCore

/// What stays here, and what goes.
extension ControlRequestHandler {
  func conflicts(_ request: Request) async throws -> ConflictAnswer {
    let body = try await Self.decode(ConflictRequest.self, request)
    let paths = try Self.checked(body.paths)
    guard let keep = body.keep else { return try await backend.conflicts(paths, keep: nil) }
    guard let choice = ConflictChoice(rawValue: keep) else {
      let known = ConflictChoice.allCases.map { "`\($0.rawValue)`" }.joined(separator: ", ")
      throw Self.senseless("`keep` must be one of \(known)")
    }
    return try await backend.conflicts(paths, keep: choice)
  }

  func room(_ route: ControlRoute, _ request: Request, current: RunningRequest) async throws -> Response {
    switch route {
    case .capacity: return try Self.json(try await backend.capacity())
    case .inventory:
      let body = try await Self.decode(InventoryRequest.self, request)
      let paths = try Self.checked([body.path])
      return stream(InventoryLine.self, for: current) {
        try await backend.inventory(paths[0], since: body.since, progress: $0)
      }
    case .pressure:
      let bytes = try await Self.decode(PressureRequest.self, request).bytes
      guard bytes > 0 else { throw Self.invalid("`bytes` must be 1 or more") }
      return stream(TransferLine.self, for: current) { try await backend.press(bytes, progress: $0) }
    case .unpin:
      let paths = try await Self.paths(request)
      return stream(TransferLine.self, for: current) { _ in try await backend.unpin(paths) }
    default:
      let body = try await Self.decode(PinRequest.self, request)
      let paths = try Self.checked(body.paths)
      guard let policy = ContentPolicy(rawValue: body.policy ?? ContentPolicy.eager.rawValue) else {
        let known = ContentPolicy.allCases.map { "`\($0.rawValue)`" }.joined(separator: ", ")
        throw Self.senseless("`policy` must be one of \(known)")
      }
      return stream(TransferLine.self, for: current) { _ in try await backend.pin(paths, policy: policy) }
    }
  }
}
